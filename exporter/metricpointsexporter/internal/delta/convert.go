package delta

import (
	"encoding/binary"

	"go.opentelemetry.io/collector/pdata/pmetric"
)

func (c *Conversion) convert(rm pmetric.ResourceMetrics) {
	id := &c.identity
	id.resource(rm.Resource())
	resource := len(id.buf)
	for _, sm := range rm.ScopeMetrics().All() {
		id.buf = id.buf[:resource]
		id.scope(sm.Scope())
		scope := len(id.buf)
		for _, m := range sm.Metrics().All() {
			if !cumulative(m) {
				continue
			}
			id.buf = id.buf[:scope]
			id.metric(m)
			if m.Type() == pmetric.MetricTypeHistogram {
				c.explicit(m.Histogram())
			} else {
				c.exponential(m.ExponentialHistogram())
			}
		}
	}
}

func (c *Conversion) explicit(h pmetric.Histogram) {
	h.SetAggregationTemporality(pmetric.AggregationTemporalityDelta)
	h.DataPoints().RemoveIf(func(dp pmetric.HistogramDataPoint) bool {
		if dp.Flags().NoRecordedValue() {
			return false
		}
		v := ofExplicit(dp)
		grown, outcome := c.next(c.identity.point(dp.Attributes()), &v)
		if outcome == grew {
			grown.toExplicit(dp)
		}
		return outcome == dropped
	})
}

func (c *Conversion) exponential(h pmetric.ExponentialHistogram) {
	h.SetAggregationTemporality(pmetric.AggregationTemporalityDelta)
	h.DataPoints().RemoveIf(func(dp pmetric.ExponentialHistogramDataPoint) bool {
		if dp.Flags().NoRecordedValue() {
			return false
		}
		v := ofExponential(dp)
		grown, outcome := c.next(c.identity.point(dp.Attributes()), &v)
		if outcome == grew {
			grown.toExponential(dp)
		}
		return outcome == dropped
	})
}

// outcome is what becomes of a point.
type outcome int

const (
	whole   outcome = iota // all it holds is new
	grew                   // some of it is
	dropped                // nothing of it can be said to be
)

// next decides what of v is new, and makes v what the series' next value is compared with.
func (c *Conversion) next(key Key, v *value) (grown value, o outcome) {
	if v.at == 0 {
		v.at = uint64(c.converter.opts.Now().UnixNano())
	}
	before, known := c.before(key)
	// OpenTelemetry's data model: without a start, or with one at the point's own time, it is not known when v began.
	startKnown := v.start != 0 && v.start != v.at
	switch {
	case !known:
		o = dropped
		if startKnown && v.start >= c.converter.knownSince() {
			o = whole
		}
	case v.at <= before.at:
		c.Repeated++
		return value{}, dropped
	case startKnown && v.start != before.start && v.start >= before.at:
		o = whole // another life of the producer
	case !v.comparable(&before):
		o = dropped
	default:
		var monotonic bool
		if grown, monotonic = v.since(&before); monotonic {
			o = grew
		}
	}
	c.remember(key, v, &before, known, startKnown, o)
	return grown, o
}

// before is the series' value as of the points before this one.
func (c *Conversion) before(key Key) (value, bool) {
	state, ok := c.ahead[key]
	if !ok {
		state, ok = c.converter.state(key)
	}
	if !ok {
		return value{}, false
	}
	v, err := parseValue(state)
	return v, err == nil
}

func (c *Conversion) remember(key Key, v, before *value, known, startKnown bool, o outcome) {
	state := v.encode()
	_, ahead := c.ahead[key]
	c.ahead[key] = state
	c.States = append(c.States, key[:]...)
	c.States = binary.AppendUvarint(c.States, uint64(len(state)))
	c.States = append(c.States, state...)
	switch {
	case o == dropped:
		// Nothing goes to the table, so it may be known even if the request is refused. It must be if its start is its own
		// time: the next point has the same start, and would then look like one that began while we were watching.
		c.StartUnknown++
		c.converter.put(key, state)
	case known && !ahead && !startKnown && v.start != 0:
		goesOn := *before
		goesOn.start = v.start
		c.converter.put(key, goesOn.encode())
	}
}
