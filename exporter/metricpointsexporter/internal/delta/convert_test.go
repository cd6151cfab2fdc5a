package delta

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

func TestConvert(t *testing.T) {
	f := func(what string, want [][]uint64, startUnknown, repeated int, points ...at) {
		t.Helper()
		t.Run(what, func(t *testing.T) {
			check := func(got [][]uint64, unknown, again int) {
				t.Helper()
				assert.Equal(t, want, got)
				assert.Equal(t, startUnknown, unknown)
				assert.Equal(t, repeated, again)
			}
			// In one request, in one each, and in one each with a restart in between: all the same.
			together := request(points...)
			conversion := accept(t, New((&clock{}).options()), together)
			requireBuckets(t, want, histograms(together))
			assert.Equal(t, startUnknown, conversion.StartUnknown)
			assert.Equal(t, repeated, conversion.Repeated)

			for _, between := range []func(*Converter) *Converter{func(c *Converter) *Converter { return c }, restarted} {
				c := New((&clock{}).options())
				var got [][]uint64
				unknown, again := 0, 0
				for _, p := range points {
					metrics := request(p)
					conversion := accept(t, c, metrics)
					unknown, again = unknown+conversion.StartUnknown, again+conversion.Repeated
					for _, dp := range histograms(metrics).All() {
						got = append(got, dp.BucketCounts().AsRaw())
					}
					c = between(c)
				}
				check(got, unknown, again)
			}
		})
	}
	f("began while we watched: the first value is all new", [][]uint64{{1, 2, 3}, {4, 0, 1}}, 0, 0,
		at{1001, 1010, []uint64{1, 2, 3}}, at{1001, 1020, []uint64{5, 2, 4}})
	f("began earlier: counted from the first value on", [][]uint64{{4, 0, 1}}, 1, 0,
		at{900, 1010, []uint64{1, 2, 3}}, at{900, 1020, []uint64{5, 2, 4}})
	f("no start", [][]uint64{{1, 0, 0}}, 1, 0,
		at{0, 1010, []uint64{1, 2, 3}}, at{0, 1020, []uint64{2, 2, 3}})
	f("start at its own time: unknown, and the same later is no new life", [][]uint64{{1, 0, 0}, {1, 0, 0}}, 1, 0,
		at{1010, 1010, []uint64{1, 2, 3}}, at{1010, 1020, []uint64{2, 2, 3}}, at{1010, 1030, []uint64{3, 2, 3}})
	f("nothing new", [][]uint64{{1, 2, 3}, {0, 0, 0}}, 0, 0,
		at{1001, 1010, []uint64{1, 2, 3}}, at{1001, 1020, []uint64{1, 2, 3}})
	f("the same point again, and an older one", [][]uint64{{1, 2, 3}, {4, 0, 1}}, 0, 2,
		at{1001, 1010, []uint64{1, 2, 3}}, at{1001, 1020, []uint64{5, 2, 4}}, at{1001, 1020, []uint64{5, 2, 4}}, at{1001, 1010, []uint64{1, 2, 3}})
	f("the producer restarted", [][]uint64{{1, 2, 3}, {1, 0, 0}, {1, 1, 0}}, 0, 0,
		at{1001, 1010, []uint64{1, 2, 3}}, at{1015, 1020, []uint64{1, 0, 0}}, at{1015, 1030, []uint64{2, 1, 0}})
	f("it restarted and counted further than before", [][]uint64{{1, 2, 3}, {9, 9, 9}}, 0, 0,
		at{1001, 1010, []uint64{1, 2, 3}}, at{1010, 1020, []uint64{9, 9, 9}})
	f("a count went down, and the start says nothing of it", [][]uint64{{1, 2, 3}, {9, 0, 0}, {1, 0, 0}}, 0, 0,
		at{1001, 1010, []uint64{1, 2, 3}}, at{1001, 1020, []uint64{9, 0, 0}}, at{1001, 1030, []uint64{10, 0, 0}})
	f("began earlier and restarted", [][]uint64{{1, 0, 0}}, 1, 0,
		at{900, 1010, []uint64{1, 2, 3}}, at{1015, 1020, []uint64{1, 0, 0}})
	f("another collector before us restarted: same counts, start at its own time", [][]uint64{{1, 2, 3}, {1, 0, 0}, {1, 0, 0}}, 0, 0,
		at{1001, 1010, []uint64{1, 2, 3}}, at{1020, 1020, []uint64{2, 2, 3}}, at{1020, 1030, []uint64{3, 2, 3}})
}

// An interval's start is the value's before, and its least and greatest value are not known.
func TestConvert_WhatElseOfThePoint(t *testing.T) {
	metrics := request(at{1001, 1010, []uint64{1, 0, 0}}, at{1001, 1020, []uint64{2, 0, 0}})
	accept(t, New((&clock{}).options()), metrics)
	points := histograms(metrics)
	assert.Equal(t, second(1001), points.At(0).StartTimestamp())
	assert.True(t, points.At(0).HasMin() && points.At(0).HasMax())
	assert.Equal(t, second(1010), points.At(1).StartTimestamp())
	assert.Equal(t, second(1020), points.At(1).Timestamp())
	assert.False(t, points.At(1).HasMin() || points.At(1).HasMax())
	m := metrics.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0)
	assert.Equal(t, pmetric.AggregationTemporalityDelta, m.Histogram().AggregationTemporality())
}

func TestConvert_LeavesAlone(t *testing.T) {
	metrics := request(at{1001, 1010, []uint64{1, 0, 0}})
	histograms(metrics).At(0).SetFlags(pmetric.DefaultDataPointFlags.WithNoRecordedValue(true))
	scope := metrics.ResourceMetrics().At(0).ScopeMetrics().At(0)
	sum := scope.Metrics().AppendEmpty().SetEmptySum()
	sum.SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
	sum.DataPoints().AppendEmpty().SetIntValue(7)
	histogram := scope.Metrics().AppendEmpty().SetEmptyHistogram()
	histogram.SetAggregationTemporality(pmetric.AggregationTemporalityDelta)
	at{1001, 1010, []uint64{1, 2, 3}}.fill(histogram.DataPoints().AppendEmpty())
	want := pmetric.NewMetrics()
	metrics.CopyTo(want)
	want.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).Histogram().SetAggregationTemporality(pmetric.AggregationTemporalityDelta)

	conversion := accept(t, New((&clock{}).options()), metrics)
	assert.Equal(t, want, metrics)
	assert.Empty(t, conversion.States)
}

// A count of nothing is a series of its own per resource, scope, name, unit and attributes.
func TestConvert_Identity(t *testing.T) {
	c := New((&clock{}).options())
	accept(t, c, request(at{1001, 1010, []uint64{1, 0, 0}}))
	f := func(want int, change func(pmetric.Metrics)) {
		t.Helper()
		metrics := request(at{1001, 1010, []uint64{1, 0, 0}})
		change(metrics)
		accept(t, c, metrics)
		assert.Equal(t, want, histograms(metrics).Len())
	}
	scope := func(m pmetric.Metrics) pmetric.ScopeMetrics { return m.ResourceMetrics().At(0).ScopeMetrics().At(0) }
	f(0, func(pmetric.Metrics) {})
	f(1, func(m pmetric.Metrics) { m.ResourceMetrics().At(0).Resource().Attributes().PutStr("x", "y") })
	f(1, func(m pmetric.Metrics) { scope(m).Scope().SetName("x") })
	f(1, func(m pmetric.Metrics) { scope(m).Scope().SetVersion("x") })
	f(1, func(m pmetric.Metrics) { scope(m).Scope().Attributes().PutStr("x", "y") })
	f(1, func(m pmetric.Metrics) { scope(m).Metrics().At(0).SetName("x") })
	f(1, func(m pmetric.Metrics) { scope(m).Metrics().At(0).SetUnit("x") })
	f(1, func(m pmetric.Metrics) {
		histograms(m).At(0).Attributes().PutStr("a", "1")
		histograms(m).At(0).Attributes().PutStr("b", "2")
	})
	f(0, func(m pmetric.Metrics) {
		histograms(m).At(0).Attributes().PutStr("b", "2")
		histograms(m).At(0).Attributes().PutStr("a", "1")
	})
	f(1, func(m pmetric.Metrics) {
		histograms(m).At(0).Attributes().PutInt("a", 1)
		histograms(m).At(0).Attributes().PutStr("b", "2")
	})
}

func TestConvert_Bounds(t *testing.T) {
	c := New((&clock{}).options())
	accept(t, c, request(at{1001, 1010, []uint64{1, 0, 0}}))
	other := request(at{1001, 1020, []uint64{2, 0, 0}}, at{1001, 1030, []uint64{3, 0, 0}})
	for _, dp := range histograms(other).All() {
		dp.ExplicitBounds().FromRaw([]float64{1, 3})
	}
	conversion := accept(t, c, other)
	requireBuckets(t, [][]uint64{{1, 0, 0}}, histograms(other))
	assert.Equal(t, 1, conversion.StartUnknown, "what is new in other buckets is not known")
}

// A refused request leaves everything as it was, so what comes next brings its observations as well.
func TestConvert_Refused(t *testing.T) {
	f := func(what string, want [][]uint64, first, refused, next at) {
		t.Run(what, func(t *testing.T) {
			c := New((&clock{}).options())
			accept(t, c, request(first))
			refuse(c, request(refused))
			refuse(c, request(refused))
			metrics := request(next)
			accept(t, c, metrics)
			requireBuckets(t, want, histograms(metrics))
		})
	}
	f("growth", [][]uint64{{4, 0, 0}}, at{1001, 1010, []uint64{1, 0, 0}}, at{1001, 1020, []uint64{3, 0, 0}}, at{1001, 1030, []uint64{5, 0, 0}})
	f("the first one after a restart of what is before us, which does not know the start", [][]uint64{{4, 0, 0}},
		at{1001, 1010, []uint64{1, 0, 0}}, at{1020, 1020, []uint64{3, 0, 0}}, at{1020, 1030, []uint64{5, 0, 0}})
	f("a new life", [][]uint64{{5, 0, 0}}, at{1001, 1010, []uint64{1, 0, 0}}, at{1015, 1020, []uint64{3, 0, 0}}, at{1015, 1030, []uint64{5, 0, 0}})

	// Never seen, and it does not know its start: what it brought when it was refused is not new later.
	c := New((&clock{}).options())
	refuse(c, request(at{1020, 1020, []uint64{90, 0, 0}}))
	metrics := request(at{1020, 1030, []uint64{91, 0, 0}})
	accept(t, c, metrics)
	requireBuckets(t, [][]uint64{{1, 0, 0}}, histograms(metrics))
}

// Requests of one producer wait for one another, those of others do not.
func TestConvert_Turns(t *testing.T) {
	c := New((&clock{}).options())
	first := c.Convert(request(at{1001, 1010, []uint64{1, 0, 0}}))
	second := make(chan *Conversion)
	later := request(at{1001, 1020, []uint64{3, 0, 0}})
	go func() { second <- c.Convert(later) }()
	for n := range 20 { // others, of which the same lock may stand for some
		other := request(at{1001, 1010, []uint64{1, 0, 0}})
		other.ResourceMetrics().At(0).Resource().Attributes().PutInt("n", int64(n))
		var id identity
		resource := id.resource(other.ResourceMetrics().At(0).Resource())
		if int(resource[0])%len(c.turns) != first.turns[0] {
			c.Convert(other).Release()
		}
	}
	select {
	case <-second:
		t.Fatal("did not wait")
	case <-time.After(10 * time.Millisecond):
	}
	c.Keep("1.0.0", first.States)
	first.Release()
	(<-second).Release()
	requireBuckets(t, [][]uint64{{2, 0, 0}}, histograms(later))
}
