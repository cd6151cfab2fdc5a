package schema

// SourceType is what a producer's metric is on the wire.
type SourceType uint8

// AnyType stands in a source that does not say; a histogram source also takes exponential histograms.
const (
	AnyType SourceType = iota
	Gauge
	Counter
	UpDownCounter
	Histogram
	Summary
)

func (t SourceType) String() string {
	switch t {
	case Gauge:
		return "gauge"
	case Counter:
		return "counter"
	case UpDownCounter:
		return "updowncounter"
	case Histogram:
		return "histogram"
	case Summary:
		return "summary"
	case AnyType:
	}
	return ""
}
