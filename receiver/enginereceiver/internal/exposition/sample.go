package exposition

// Type is what the TYPE line of a sample's family says.
type Type uint8

// Unknown is a sample without a TYPE line, or with one that says untyped or unknown.
const (
	Unknown Type = iota
	Counter
	Gauge
	Histogram
	Summary
	Info
	StateSet
	GaugeHistogram
)

// Part is what a sample is within its family. It follows from the TYPE, not from the name alone: iteration_tokens_total
// is a histogram's name and request_age_count a gauge's.
type Part uint8

// Value is a sample that is its family's own value: a counter, a gauge, a quantile of a summary.
const (
	Value Part = iota
	Bucket
	Sum
	Count
	// Created is the family's start time in seconds since 1970, in OpenMetrics and in the text format, where
	// client_python writes it as a gauge of its own.
	Created
)

// Sample is one sample line.
type Sample struct {
	// Family is the name without the suffix of its part, in the spelling of the sample line. Counters have one form in
	// both formats: with their _total, where the samples have one; OpenMetrics writes TYPE lines without it. A counter's
	// Created has the Family of the counter.
	Family []byte
	Type   Type
	Part   Part
	// Name is the sample's own name.
	Name []byte
	// Series is the name with the labels, the bytes as they stand in the body: a key for what was made of the labels.
	Series []byte
	Value  float64
	// Timestamp is in milliseconds since 1970. Engines write none.
	Timestamp    int64
	HasTimestamp bool
}

// Label is a label with its escapes resolved. textparse rewrites le and quantile ("1" and "1.0") only where it knows
// the TYPE, so they are to be compared as numbers.
type Label struct{ Name, Value string }
