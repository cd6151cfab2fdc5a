package schemaprocessor

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

// Values are what a person would write: 9 ms are 0.009 s, and not 0.009000000000000001 s.
func TestConversionsAreExact(t *testing.T) {
	r := small(t)
	process := func(md pmetric.Metrics) []string {
		t.Helper()
		got, err := newTest(t, r, metricsSignal, nil).processMetrics(t.Context(), md)
		require.NoError(t, err)
		return lines(got)
	}
	f := func(name, unit string, value float64, want string) {
		t.Helper()
		assert.Equal(t, []string{want}, process(gauge("sglang", name, unit, value)))
	}
	f("rl.time", "ms", 9, "rl.time Gauge s 0.009")
	f("rl.time", "us", 7, "rl.time Gauge s 7e-06")
	f("rl.time", "min", 3, "rl.time Gauge s 180")
	f("rl.score", "%", 50, "rl.score Gauge 1 0.5")
	f("rl.score", "%", 7, "rl.score Gauge 1 0.07")
	f("rl.memory", "GiB", 0.5, "rl.memory Gauge By 5.36870912e+08")
	f("rl.memory", "GB", 0.5, "rl.memory Gauge By 5e+08")
	f("rl.memory", "bit", 8, "rl.memory Gauge By 1")
	f("rl.memory", "MBy", math.Inf(1), "rl.memory Gauge By +Inf")
	f("rl.memory", "MBy", math.NaN(), "rl.memory Gauge By NaN")
	// A producer's GB are GiB, whatever bare number its unit says; a unit with a dimension is believed.
	f("memory_gb", "", 2, "rl.memory Gauge By 2.147483648e+09")
	f("memory_gb", "1", 2, "rl.memory Gauge By 2.147483648e+09")
	f("memory_gb", "GBy", 2, "rl.memory Gauge By 2e+09")
	f("memory_gb", "By", 2, "rl.memory Gauge By 2")

	integer := func(value int64, unit string) pmetric.Metrics {
		md := gauge("", "rl.memory", unit, 0)
		md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).Gauge().DataPoints().At(0).SetIntValue(value)
		return md
	}
	assert.Equal(t, []string{"rl.memory Gauge By 3221225472"}, process(integer(3, "GiBy")))
	assert.Equal(t, []string{"rl.memory Gauge By 9007199254741017600"}, process(integer(8796093022208025, "KiBy")), "beyond 2^53")
	assert.Equal(t, []string{"rl.memory Gauge By 9.223372036854776e+18"}, process(integer(9007199254740992, "KiBy")), "2^63 is no int64")
	assert.Equal(t, []string{"rl.memory Gauge By 1.5"}, process(integer(12, "bit")))
}

func TestEveryKindIsConverted(t *testing.T) {
	r := small(t)
	md := gauge("", "rl.time", "ms", 9)
	all := md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics()
	next := func() pmetric.Metric {
		m := all.AppendEmpty()
		m.SetName("rl.time")
		m.SetUnit("ms")
		return m
	}
	all.At(0).Gauge().DataPoints().At(0).Exemplars().AppendEmpty().SetIntValue(9)

	h := next().SetEmptyHistogram().DataPoints().AppendEmpty()
	h.ExplicitBounds().FromRaw([]float64{9, 250})
	h.BucketCounts().FromRaw([]uint64{1, 2, 3})
	h.SetCount(6)
	h.SetSum(700)
	h.SetMin(7)
	h.SetMax(350)
	s := next().SetEmptySummary().DataPoints().AppendEmpty()
	s.SetCount(3)
	s.SetSum(27)
	q := s.QuantileValues().AppendEmpty()
	q.SetQuantile(0.5)
	q.SetValue(9)
	got, err := newTest(t, r, metricsSignal, nil).processMetrics(t.Context(), md)
	require.NoError(t, err)
	assert.Equal(t, []string{
		"rl.time Gauge s 0.009",
		"rl.time Histogram s [0.009 0.25] [1 2 3] n=6 sum=0.7",
		"rl.time Summary s [0.5:0.009] n=3 sum=0.027",
	}, lines(got))
	assert.InDelta(t, 0.009, all.At(0).Gauge().DataPoints().At(0).Exemplars().At(0).DoubleValue(), 0)
	assert.Equal(t, []float64{0.007, 0.35}, []float64{h.Min(), h.Max()})
}

// exponential makes a request with one exponential histogram: buckets (1,2] and (2,4] with 2 and 3, zero with 1, [-2,-1) with 4.
func exponential(unit, name string, scale int32) pmetric.Metrics {
	md := pmetric.NewMetrics()
	m := md.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics().AppendEmpty()
	m.SetName(name)
	m.SetUnit(unit)
	m.SetEmptyExponentialHistogram().SetAggregationTemporality(pmetric.AggregationTemporalityDelta)
	p := m.ExponentialHistogram().DataPoints().AppendEmpty()
	p.SetScale(scale)
	p.SetZeroCount(1)
	p.Positive().BucketCounts().FromRaw([]uint64{2, 3})
	p.Negative().BucketCounts().FromRaw([]uint64{4})
	p.SetCount(10)
	p.SetSum(8)
	return md
}

// A scale that is a power of the base shifts buckets; with any other one the buckets become explicit.
func TestExponentialHistograms(t *testing.T) {
	r := small(t)
	f := func(name, unit string, scale int32, want string) {
		t.Helper()
		md := exponential(unit, name, scale)
		got, err := newTest(t, r, metricsSignal, only(t, "instrument=observe")).processMetrics(t.Context(), md)
		require.NoError(t, err)
		assert.Equal(t, []string{want}, lines(got))
	}
	f("rl.memory", "KiBy", 0, "rl.memory ExponentialHistogram By scale=0 10+[4] 10+[2 3] n=10 sum=8192")
	f("rl.memory", "KiBy", 2, "rl.memory ExponentialHistogram By scale=2 40+[4] 40+[2 3] n=10 sum=8192")
	f("rl.memory", "KiBy", -1, "rl.memory ExponentialHistogram By scale=-1 5+[4] 5+[2 3] n=10 sum=8192")
	f("rl.memory", "bit", 0, "rl.memory ExponentialHistogram By scale=0 -3+[4] -3+[2 3] n=10 sum=1")
	// 2^10 is no power of 2^4.
	f("rl.memory", "KiBy", -2, "rl.memory Histogram By [-16384 -1024 0 1024 16384 262144] [0 4 1 0 2 3 0] n=10 sum=8192")
	f("rl.time", "ms", 0, "rl.time Histogram s [-0.002 -0.001 0 0.001 0.002 0.004] [0 4 1 0 2 3 0] n=10 sum=0.008")
	f("rl.time", "s", 0, "rl.time ExponentialHistogram s scale=0 0+[4] 0+[2 3] n=10 sum=8")
}

// The counts of explicit buckets are those of the exponential ones, whatever they are, and bounds rise.
func FuzzExplicit(f *testing.F) {
	f.Add(int32(0), int32(0), uint16(1), uint16(2), uint16(3), uint16(4), 0.0)
	f.Add(int32(-11), int32(5), uint16(1), uint16(0), uint16(3), uint16(4), 0.5)
	f.Add(int32(20), int32(math.MaxInt32), uint16(1), uint16(2), uint16(0), uint16(0), 1e300)
	f.Add(int32(31), int32(math.MinInt32), uint16(1), uint16(2), uint16(3), uint16(4), math.NaN())
	f.Fuzz(func(t *testing.T, scale, offset int32, a, b, c, d uint16, zero float64) {
		from, to := pmetric.NewExponentialHistogramDataPoint(), pmetric.NewHistogramDataPoint()
		from.SetScale(scale)
		from.Positive().SetOffset(offset)
		from.Positive().BucketCounts().FromRaw([]uint64{uint64(a), uint64(b)})
		from.Negative().SetOffset(-offset)
		from.Negative().BucketCounts().FromRaw([]uint64{uint64(c)})
		from.SetZeroCount(uint64(d))
		from.SetZeroThreshold(zero)
		explicit(from, to)
		var n uint64
		for _, count := range to.BucketCounts().AsRaw() {
			n += count
		}
		require.Equal(t, uint64(a)+uint64(b)+uint64(c)+uint64(d), n)
		bounds := to.ExplicitBounds().AsRaw()
		require.Len(t, to.BucketCounts().AsRaw(), len(bounds)+1)
		for i, bound := range bounds {
			require.False(t, math.IsNaN(bound) || math.IsInf(bound, 0))
			require.False(t, i > 0 && bound <= bounds[i-1])
		}
	})
}
