package mapping

import (
	"strconv"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/pitwall-otel/pitwall/schema/names"
)

// kind is what a metric is in OTLP.
type kind uint8

const (
	gauge kind = iota
	counter
	histogram
	summary
)

type metricKey struct {
	name     string
	original bool
	// fallback has the points that count only while the instance has none of the metric otherwise.
	fallback bool
	kind     kind
}

// metric has the points of one name of one instance.
type metric struct {
	metricKey
	unit string
	// unknown says that the registry does not know the name.
	unknown bool
	points  []*point
}

// point is one point per scrape: a metric, an instance and attributes.
type point struct {
	metric     *metric
	attributes pcommon.Map
	identity   string
	// total is the same without a priority class, which wins; it is looked for by its identity.
	total         *point
	totalIdentity string
	// unknown says that it counts towards MaxUnknown.
	unknown bool
	removed bool
	// again says that there was this count before: it was forgotten, or may have had no room.
	again bool

	// scrape is the one that what follows is of; touched the last that had any series of it.
	scrape, touched uint64
	rank            rank
	source          string
	lines, counted  int     // counted are those that the report counts as this point's
	value, raw      float64 // raw is a counter's value before settle
	held            bool    // the value before is kept for now
	parts           []part
	rate            *rate
	hist            *buckets

	// created is when the count began, as the engine says, known what it said at the point before.
	created, known time.Time
	// start and last are the start time and the time of the last point that went out, with the value and rank that it had;
	// prior is last before this scrape.
	start, last time.Time
	prior       time.Time
	lastValue   float64
	lastRank    rank
	// growth is how much a count grew since the scrape before, or since it began where that is known.
	growth float64
}

// rank orders the series that say the same; the lowest counts. From the top: how old the name is, pipeline stage, tensor
// rank, expert rank.
type rank uint64

func (r rank) age() uint64 { return uint64(r >> 48) }

// claim makes the point ready for a line. It reports false when the line is not for the point; why says so of it or, where
// the line is better than those before, of the over lines that are counted already.
func (p *point) claim(scrape uint64, r rank, source string) (taken bool, why Reason, over int) {
	p.touched = scrape
	switch {
	case p.scrape != scrape:
	case r == p.rank && source == p.source:
		p.lines++
		return true, kept, 0
	case r < p.rank || r == p.rank && source < p.source:
		why, over = p.loser(p.rank, r), p.counted
	default:
		return false, p.loser(r, p.rank), 0
	}
	p.scrape, p.rank, p.source, p.lines, p.counted = scrape, r, source, 1, 0
	p.value = 0
	if p.hist != nil {
		p.hist.clear()
	}
	return true, why, over
}

func (p *point) loser(loser, winner rank) Reason {
	if loser.age() == winner.age() && loser != winner {
		return DropRank
	}
	return DropRepeated
}

// combine says what becomes of several series of one point.
type combine uint8

const (
	last combine = iota
	largest
	sum
)

// maxParts bounds the series that are summed up in one point; there are as many as modes, or backends of a cache.
const maxParts = 64

// part returns the index of one of several series that are summed up. It reports false when there are too many.
func (p *point) part(name string) (int32, bool) {
	for i := range p.parts {
		if p.parts[i].name == name {
			return int32(i), true
		}
	}
	if len(p.parts) == maxParts {
		return 0, false
	}
	p.parts = append(p.parts, part{name: name})
	return int32(len(p.parts) - 1), true
}

// take adds a value that claim let through. It reports false when the value replaces another of this scrape.
func (p *point) take(v float64, o *output) bool {
	switch {
	case o.how == sum:
		one := &p.parts[o.slot]
		again := one.scrape == p.scrape
		if again {
			p.value -= one.value
		}
		one.scrape, one.value = p.scrape, v
		p.value += v
		return !again
	case p.lines == 1:
		p.value = v
	case o.how == largest:
		p.value = max(p.value, v)
	default:
		p.value = v
		return false
	}
	return true
}

// part is one of several series that are summed up.
type part struct {
	name   string
	scrape uint64
	value  float64
}

// point returns the instance's point of that metric with these attributes, making it.
func (i *instance) point(key metricKey, unit string, a attributes) *point {
	identity := key.identity(a)
	if p := i.points[identity]; p != nil {
		return p
	}
	m := i.named[key]
	if m == nil {
		m = &metric{metricKey: key, unit: unit}
		i.named[key] = m
		i.metrics = append(i.metrics, m)
	}
	p := &point{metric: m, attributes: a.pcommon(), identity: identity}
	if key.kind == histogram || key.kind == summary {
		p.hist = &buckets{}
	}
	if !key.original && a.index(names.AttributeInferenceRequestPriority) >= 0 {
		p.totalIdentity = key.identity(a.without(names.AttributeInferenceRequestPriority))
	}
	p.again = i.recall(p.identity)
	m.points = append(m.points, p)
	i.points[p.identity] = p
	return p
}

func (i *instance) find(key metricKey, a attributes) *point { return i.points[key.identity(a)] }

// identity is text that only points of one metric with equal attributes have in common.
func (k metricKey) identity(a attributes) string {
	b := make([]byte, 0, 256)
	b = append(b, k.name...)
	b = append(b, 0, byte(k.kind))
	b = strconv.AppendBool(b, k.original)
	b = strconv.AppendBool(b, k.fallback)
	return string(a.sorted().appendIdentity(b))
}
