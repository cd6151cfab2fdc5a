package simulation

import "time"

// Process is who reports. Host metrics have only a host.
type Process struct {
	Run     string
	Attempt int64
	Role    string // empty: the host itself
	Rank    int64
	Local   int64
	Host    string
	Replica int64 // of an engine; -1 otherwise
	// Server and Port are where an engine serves; empty otherwise.
	Server string
	Port   int64
}

// Attribute is a key with a string, int64, float64 or bool.
type Attribute struct {
	Key   string
	Value any
}

// Kind is how a metric's points add up.
type Kind int

// The kinds of the registry's instruments that are used.
const (
	Gauge Kind = iota
	Counter
	UpDownCounter
)

// Point is one value of a metric by its canonical name.
type Point struct {
	By         *Process
	Time       time.Time
	Metric     string
	Unit       string
	Kind       Kind
	Since      time.Time // of a Counter: when it was 0
	Value      float64
	Step       int64 // 0: none
	Attributes []Attribute
}

// Histogram is what was observed since the reading before: counts by upper bound, the last above all of them.
type Histogram struct {
	By         *Process
	Since      time.Time
	Time       time.Time
	Metric     string
	Unit       string
	Bounds     []float64
	Counts     []uint64
	Sum        float64
	Attributes []Attribute
}

// State is an interval of a lane; an End of zero is a state that nobody left.
type State struct {
	By       *Process
	ID       [8]byte
	Parent   [8]byte // zero: none
	Trace    [16]byte
	Phase    string // rl.phase; the span's name is rl.<phase>
	Name     string // the framework's word
	Bucket   string
	Lane     string
	Depth    int64
	Step     int64
	Begin    time.Time
	End      time.Time
	Expected float64 // seconds
	Umbrella bool    // the whole step: a span rl.loop, no state of a lane
}

// Event is a log record with a name.
type Event struct {
	By         *Process
	Time       time.Time
	Name       string
	Error      bool
	Trace      [16]byte // zero: none
	Attributes []Attribute
}

// Chunk is what happened in a part of the run.
type Chunk struct {
	Begin, End time.Time
	Attempt    int64
	Step       int64 // 0: no step
	Tokens     int64 // trained on up to the end
	Points     []Point
	Histograms []Histogram
	States     []State
	Events     []Event
}

// Collection is what a receiver says of having read one of its targets.
type Collection struct {
	Component, Target string
	Seconds           float64
	Metrics           int // 0: nothing came
	Families          int // expected and there, of targets that have families
}

// Collected adds the points of a collection.
func (c *Chunk) Collected(by *Process, at time.Time, one Collection) {
	with := []Attribute{{"pitwall.component", one.Component}, {"pitwall.target", one.Target}}
	up := float64(min(one.Metrics, 1))
	for _, p := range []struct {
		metric, unit string
		value        float64
	}{
		{"pitwall.scrape.up", "1", up},
		{"pitwall.scrape.failed", "1", 1 - up},
		{"pitwall.scrape.errors", "{error}", 1 - up},
		{"pitwall.scrape.duration", "s", one.Seconds},
		{"pitwall.scrape.metrics", "{metric}", float64(one.Metrics)},
		{"pitwall.scrape.last_success_time", "s", float64(at.UnixMilli()) / 1000},
	} {
		if up == 0 && (p.metric == "pitwall.scrape.metrics" || p.metric == "pitwall.scrape.last_success_time") {
			continue
		}
		c.Points = append(c.Points, Point{By: by, Time: at, Metric: p.metric, Unit: p.unit, Value: p.value, Attributes: with})
	}
	if one.Families == 0 || up == 0 {
		return
	}
	for what, count := range map[string]int{"expected": one.Families, "present": one.Families, "unknown": 0} {
		c.Points = append(c.Points, Point{
			By: by, Time: at, Metric: "pitwall.scrape.families." + what, Unit: "{family}", Value: float64(count), Attributes: with,
		})
	}
}
