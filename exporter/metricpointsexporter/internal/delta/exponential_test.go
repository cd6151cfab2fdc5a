package delta

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

// exponential is a point at a time, with positive buckets only unless the test adds others.
type exponential struct {
	time    int
	scale   int32
	zero    uint64
	offset  int32
	buckets []uint64
}

func exponentials(points ...exponential) pmetric.Metrics {
	metrics := pmetric.NewMetrics()
	m := metrics.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics().AppendEmpty()
	h := m.SetEmptyExponentialHistogram()
	h.SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
	for _, p := range points {
		dp := h.DataPoints().AppendEmpty()
		dp.SetStartTimestamp(second(1001))
		dp.SetTimestamp(second(p.time))
		dp.SetScale(p.scale)
		dp.SetZeroCount(p.zero)
		count := p.zero
		for _, n := range p.buckets {
			count += n
		}
		dp.SetCount(count)
		dp.Positive().SetOffset(p.offset)
		dp.Positive().BucketCounts().FromRaw(p.buckets)
	}
	return metrics
}

// Bucket i at scale s holds (2^(i*2^-s), 2^((i+1)*2^-s)]; one scale less joins i and i+1 for even i.
func TestConvert_Exponential(t *testing.T) {
	f := func(what string, first, second, want exponential) {
		t.Helper()
		metrics := exponentials(first, second)
		conversion := accept(t, New((&clock{}).options()), metrics)
		points := metrics.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).ExponentialHistogram().DataPoints()
		if want.buckets == nil {
			assert.Equal(t, 1, points.Len(), what)
			assert.Equal(t, 1, conversion.StartUnknown, what)
			return
		}
		got := points.At(1)
		assert.Equal(t, want, exponential{want.time, got.Scale(), got.ZeroCount(), got.Positive().Offset(), got.Positive().BucketCounts().AsRaw()}, what)
		count := want.zero
		for _, n := range want.buckets {
			count += n
		}
		assert.Equal(t, count, got.Count(), what)
	}
	f("growth", exponential{1010, 3, 1, 4, []uint64{1, 2}}, exponential{1020, 3, 3, 4, []uint64{1, 5}}, exponential{1020, 3, 2, 4, []uint64{0, 3}})
	f("buckets on both sides", exponential{1010, 3, 0, 4, []uint64{1, 2}}, exponential{1020, 3, 0, 2, []uint64{7, 0, 1, 3, 9}},
		exponential{1020, 3, 0, 2, []uint64{7, 0, 0, 1, 9}})
	f("one scale coarser: 5 and 6, 7 become 2 and 3", exponential{1010, 3, 0, 5, []uint64{1, 2, 4}}, exponential{1020, 2, 0, 2, []uint64{3, 6}},
		exponential{1020, 2, 0, 2, []uint64{2, 0}})
	f("two scales coarser, below 1: -5, -4, -3 become -2, -1, -1", exponential{1010, 3, 0, -5, []uint64{1, 2, 4}},
		exponential{1020, 1, 0, -2, []uint64{2, 7}}, exponential{1020, 1, 0, -2, []uint64{1, 1}})
	f("all scales coarser at once", exponential{1010, 20, 0, 1 << 29, []uint64{1, 2}}, exponential{1020, -10, 0, 0, []uint64{5}},
		exponential{1020, -10, 0, 0, []uint64{2}})
	f("a bucket is gone: a new life", exponential{1010, 3, 0, 4, []uint64{1, 2}}, exponential{1020, 3, 0, 5, []uint64{9}}, exponential{1020, 3, 0, 5, []uint64{9}})
	f("a count went down", exponential{1010, 3, 4, 4, []uint64{1}}, exponential{1020, 3, 3, 4, []uint64{9}}, exponential{1020, 3, 3, 4, []uint64{9}})
	f("a finer scale without a new life: not known", exponential{1010, 2, 0, 2, []uint64{1}}, exponential{1020, 3, 0, 5, []uint64{9}}, exponential{})
}
