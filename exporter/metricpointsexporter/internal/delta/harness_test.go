package delta

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

// Times in tests are seconds; the converter began to watch at 1000.
const began = 1000

func second(s int) pcommon.Timestamp { return pcommon.Timestamp(s) * pcommon.Timestamp(time.Second) }

// clock is what a converter sees of time.
type clock struct{ elapsed time.Duration }

func (c *clock) options() Options {
	return Options{
		Schema: "1.0.0", MaxBytes: 1 << 20, MaxStaleness: time.Hour,
		Now:     func() time.Time { return time.Unix(began, 0).Add(c.elapsed) },
		Elapsed: func() time.Duration { return c.elapsed },
	}
}

// at is an explicit histogram's point: when it began and was taken, and its buckets up to 1, 2 and infinity.
type at struct {
	start, time int
	buckets     []uint64
}

func (a at) fill(dp pmetric.HistogramDataPoint) {
	dp.SetStartTimestamp(second(a.start))
	dp.SetTimestamp(second(a.time))
	count := uint64(0)
	for _, n := range a.buckets {
		count += n
	}
	dp.SetCount(count)
	dp.SetSum(float64(count) * 1.5)
	dp.SetMin(0.5)
	dp.SetMax(9)
	dp.BucketCounts().FromRaw(a.buckets)
	dp.ExplicitBounds().FromRaw([]float64{1, 2})
}

// request has one cumulative histogram with these points.
func request(points ...at) pmetric.Metrics {
	metrics := pmetric.NewMetrics()
	rm := metrics.ResourceMetrics().AppendEmpty()
	rm.Resource().Attributes().PutStr("service.instance.id", "a")
	m := rm.ScopeMetrics().AppendEmpty().Metrics().AppendEmpty()
	m.SetName("rl.step.duration")
	h := m.SetEmptyHistogram()
	h.SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
	for _, p := range points {
		p.fill(h.DataPoints().AppendEmpty())
	}
	return metrics
}

func histograms(metrics pmetric.Metrics) pmetric.HistogramDataPointSlice {
	return metrics.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).Histogram().DataPoints()
}

// accept is what the exporter does with a request that the log takes.
func accept(t *testing.T, c *Converter, metrics pmetric.Metrics) *Conversion {
	t.Helper()
	conversion := c.Convert(metrics)
	defer conversion.Release()
	c.Keep("1.0.0", conversion.States)
	return conversion
}

// refuse is what it does with one that the log does not take.
func refuse(c *Converter, metrics pmetric.Metrics) {
	c.Convert(metrics).Release()
}

// restarted is the converter of the next process, of which the log kept everything.
func restarted(c *Converter) *Converter {
	next := New(c.opts)
	next.Restore(c.Snapshot())
	return next
}

func requireBuckets(t *testing.T, want [][]uint64, dps pmetric.HistogramDataPointSlice) {
	t.Helper()
	var got [][]uint64
	for _, dp := range dps.All() {
		got = append(got, dp.BucketCounts().AsRaw())
		count := uint64(0)
		for _, n := range dp.BucketCounts().All() {
			count += n
		}
		require.Equal(t, count, dp.Count())
		require.InDelta(t, float64(count)*1.5, dp.Sum(), 1e-9)
	}
	require.Equal(t, want, got)
}
