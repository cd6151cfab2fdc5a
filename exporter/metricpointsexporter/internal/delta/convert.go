package delta

import (
	"encoding/binary"
	"slices"
	"time"

	"go.opentelemetry.io/collector/pdata/pmetric"
)

func (c *Conversion) convert(rm pmetric.ResourceMetrics) {
	resource := c.identity.resource(rm.Resource())
	for _, sm := range rm.ScopeMetrics().All() {
		scope := c.identity.scope(resource, sm.Scope())
		for _, m := range sm.Metrics().All() {
			if !cumulative(m) {
				continue
			}
			metric := c.identity.metric(scope, m)
			if m.Type() == pmetric.MetricTypeHistogram {
				c.explicit(metric, m.Histogram())
			} else {
				c.exponential(metric, m.ExponentialHistogram())
			}
		}
	}
}

func (c *Conversion) explicit(metric digest, h pmetric.Histogram) {
	h.SetAggregationTemporality(pmetric.AggregationTemporalityDelta)
	h.DataPoints().RemoveIf(func(dp pmetric.HistogramDataPoint) bool {
		if dp.Flags().NoRecordedValue() {
			return false
		}
		v := ofExplicit(dp)
		grown, outcome := c.next(c.identity.point(metric, dp.Attributes()), &v)
		if outcome == grew {
			grown.toExplicit(dp)
		}
		return outcome == dropped
	})
}

func (c *Conversion) exponential(metric digest, h pmetric.ExponentialHistogram) {
	h.SetAggregationTemporality(pmetric.AggregationTemporalityDelta)
	h.DataPoints().RemoveIf(func(dp pmetric.ExponentialHistogramDataPoint) bool {
		if dp.Flags().NoRecordedValue() {
			return false
		}
		v := ofExponential(dp)
		grown, outcome := c.next(c.identity.point(metric, dp.Attributes()), &v)
		if outcome == grew {
			grown.toExponential(dp)
		}
		return outcome == dropped
	})
}

const (
	// mostAhead is by how much a producer's clock may be ahead of ours, in nanoseconds; one that is further says nothing
	// about when a series began.
	mostAhead = uint64(5 * time.Minute)
	// startWavers is by how much the start of one life may differ from value to value: some compute it from the time since
	// boot each time, in whole seconds.
	startWavers = uint64(2 * time.Second)
	// hugeShare: a series with more buckets than this share of MaxBytes is not remembered; each takes up to 10 bytes.
	hugeShare = 160
)

// outcome is what becomes of a point.
type outcome int

const (
	whole   outcome = iota // all it holds is new
	grew                   // some of it is
	dropped                // nothing of it can be said to be
)

// next decides what of v is new, and makes v what the series' next value is compared with.
func (c *Conversion) next(key Key, v *value) (grown value, o outcome) {
	options := &c.converter.opts
	if len(v.positive.counts)+len(v.negative.counts) > options.MaxBytes/hugeShare {
		c.StartUnknown++
		return value{}, dropped
	}
	now := uint64(options.Now().UnixNano())
	timed := v.at != 0
	if !timed {
		v.at = now
	}
	before := c.before(key)
	// OpenTelemetry's data model: without a start, or with one at the point's own time, it is not known when v began.
	startKnown := v.start != 0 && v.start < v.at
	switch {
	case !before.known:
		since, forgotten := c.converter.limits()
		if v.at <= forgotten {
			c.StartUnknown++
			return value{}, dropped
		}
		o = dropped
		if startKnown && v.start >= since && v.at <= now+mostAhead {
			o = whole
		}
	case before.refused && v.at == before.at:
		o = dropped // it comes again, and is still the first
	case v.at <= before.at:
		if grown, o = v.outgrown(&before.value); o == dropped {
			c.Repeated++
			return value{}, dropped
		}
		v.at = before.at // what comes late is compared with the latest
	case startKnown && v.start != before.start && v.start >= before.at:
		o = whole // another life of the producer
	case !v.comparable(&before.value) || startKnown && v.overlaps(&before.value):
		o = dropped
	default:
		var monotonic bool
		if grown, monotonic = v.since(&before.value); monotonic {
			o = grew
		} else if !timed {
			c.Repeated++ // late, as far as one can say
			return value{}, dropped
		} else if startKnown && v.start != before.start {
			// A new life would begin after the last value: this is another producer's, started at almost the same time.
			c.StartUnknown++
			return value{}, dropped
		}
	}
	if o == dropped || before.refused && o == grew { // then what the value before held is in no row
		c.StartUnknown++
	}
	if !before.ahead { // else, if the request is refused, it comes again with the points before this one
		c.evenRefused(key, *v, &before, o, startKnown)
	}
	c.remember(key, v)
	return grown, o
}

// overlaps reports whether v began at another time, and before the life that before is of had ended: two producers share
// what identifies them, or a clock was set back.
func (v *value) overlaps(before *value) bool {
	apart := max(v.start, before.start) - min(v.start, before.start)
	return before.start != 0 && apart > startWavers
}

// outgrown is for a v that is no newer than before by its time. Counts of one life only grow: if v's have, the producer's
// clock was set back.
func (v *value) outgrown(before *value) (value, outcome) {
	if v.start == 0 || v.start != before.start || v.count <= before.count || !v.comparable(before) {
		return value{}, dropped
	}
	grown, monotonic := v.since(before)
	if !monotonic {
		return value{}, dropped
	}
	return grown, grew
}

// previous is a series' value as of the points before this one.
type previous struct {
	value
	known bool
	ahead bool // it is of this request
}

func (c *Conversion) before(key Key) (p previous) {
	state, ahead := c.ahead[key]
	p.known, p.ahead = ahead, ahead
	if !ahead {
		state, p.known = c.converter.state(key)
	}
	if p.known {
		var err error
		p.value, err = parseValue(state)
		p.known = err == nil
	}
	return p
}

// evenRefused makes known at once what holds even if the request is refused.
func (c *Conversion) evenRefused(key Key, v value, before *previous, o outcome, startKnown bool) {
	switch {
	case o == dropped:
		// Nothing of it goes to the table. If its start is its own time, it has to be known: the next point has the same
		// start, and would then look like one that began while we were watching.
		v.refused = true
	case before.known && !startKnown && v.start != 0:
		start := v.start
		v = before.value
		v.start = start
	default:
		return
	}
	c.converter.put(key, slices.Clone(v.encode())) // without what appending left over
}

func (c *Conversion) remember(key Key, v *value) {
	state := v.encode()
	c.ahead[key] = state
	c.States = append(c.States, key[:]...)
	c.States = binary.AppendUvarint(c.States, uint64(len(state)))
	c.States = append(c.States, state...)
}
