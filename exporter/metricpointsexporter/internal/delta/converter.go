package delta

import (
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/collector/pdata/pmetric"
)

// Options of a Converter.
type Options struct {
	// Schema is the version of the names and units that series come in. What was kept under another one is forgotten:
	// a series may have another name or unit since.
	Schema string
	// MaxBytes bounds what is remembered; the series that were silent for longest go first.
	MaxBytes int
	// MaxStaleness is how long a silent series is remembered at least.
	MaxStaleness time.Duration
	Now          func() time.Time
	// Elapsed is the time since some moment before New, by a clock that is never set.
	Elapsed func() time.Duration
}

// Converter remembers the last value of each series. Convert may be called concurrently with everything; Keep, Snapshot,
// Restore and Forget not with each other.
type Converter struct {
	opts Options
	// turns has a lock for each group of resources.
	turns [64]sync.Mutex

	mu     sync.Mutex
	series map[Key]remembered
	bytes  int
	// Nanoseconds. Every series that began after since and is not in series was never seen. Of one that is not in series, a
	// value no newer than forgotten may be older than one that was counted.
	since, forgotten uint64
}

type remembered struct {
	value []byte
	seen  time.Duration
}

// New returns a Converter that knows no series.
func New(opts Options) *Converter {
	return &Converter{opts: opts, series: map[Key]remembered{}, since: uint64(opts.Now().UnixNano())}
}

// Conversion is what became of the histograms of one request.
type Conversion struct {
	// States are for Keep once the request is on disk.
	States []byte
	// StartUnknown are points that only say from where on to count, Repeated those that are no newer than the one before.
	StartUnknown, Repeated int

	converter *Converter
	turns     []int
	identity  identity
	ahead     map[Key][]byte // the series of this request
}

// Convert makes deltas of the cumulative histograms in metrics, in place. Release must be called once the fate of the
// request is known.
func (c *Converter) Convert(metrics pmetric.Metrics) *Conversion {
	conversion := &Conversion{converter: c}
	for _, rm := range metrics.ResourceMetrics().All() {
		if !hasCumulative(rm) {
			continue
		}
		resource := conversion.identity.resource(rm.Resource())
		conversion.turns = append(conversion.turns, int(resource[0])%len(c.turns))
	}
	if len(conversion.turns) == 0 {
		return conversion
	}
	conversion.ahead = map[Key][]byte{}
	// In one order, or two requests could wait for each other.
	slices.Sort(conversion.turns)
	conversion.turns = slices.Compact(conversion.turns)
	for _, turn := range conversion.turns {
		c.turns[turn].Lock()
	}
	for _, rm := range metrics.ResourceMetrics().All() {
		if hasCumulative(rm) {
			conversion.convert(rm)
		}
	}
	return conversion
}

// Release lets other requests of the same resources go on.
func (c *Conversion) Release() {
	for _, turn := range c.turns {
		c.converter.turns[turn].Unlock()
	}
}

func hasCumulative(rm pmetric.ResourceMetrics) bool {
	for _, sm := range rm.ScopeMetrics().All() {
		for _, m := range sm.Metrics().All() {
			if cumulative(m) {
				return true
			}
		}
	}
	return false
}

func cumulative(m pmetric.Metric) bool {
	switch m.Type() {
	case pmetric.MetricTypeHistogram:
		return m.Histogram().AggregationTemporality() == pmetric.AggregationTemporalityCumulative
	case pmetric.MetricTypeExponentialHistogram:
		return m.ExponentialHistogram().AggregationTemporality() == pmetric.AggregationTemporalityCumulative
	default:
		return false
	}
}
