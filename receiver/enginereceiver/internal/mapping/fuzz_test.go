package mapping

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

// Whatever two pages say one after the other: points are well-formed, counts never go back without a new start time, each
// line is accounted for, and the second page again changes nothing but the time.
func FuzzMap(f *testing.F) {
	found, err := filepath.Glob(filepath.Join("testdata", "pages", "*.prom"))
	require.NoError(f, err)
	for i, name := range found {
		a, err := os.ReadFile(name)
		require.NoError(f, err)
		b, err := os.ReadFile(found[(i+1)%len(found)])
		require.NoError(f, err)
		f.Add(string(a), string(a))
		f.Add(string(a), string(b))
		f.Add(string(a), routed(string(b), "http://10.0.0.3:15001@3"))
	}
	for _, seed := range []string{
		"# TYPE sglang:queue_time_seconds histogram\nsglang:queue_time_seconds 7\n", "# TYPE a summary\na 7\n",
		decoded(5) + prompted(7), queued("1", 3, 4), queued("2", 3, 4) + decoded(9),
		"vllm:e2e_request_latency_seconds_bucket{le=\"1\"} 3\nvllm:e2e_request_latency_seconds_count 3\n",
		"sglang:cached_tokens_total{cache_source=\"storage_a\",tp_rank=\"1\",pp_rank=\"2\",priority=\"3\",worker_addr=\"a:1\"} 3\n",
		"# TYPE a summary\na{quantile=\"0.5\"} 1\na_sum 2\na_count 3\n# TYPE x_total counter\nx_total 1\n# TYPE x_created gauge\nx_created 1.77e9\n",
		"vllm:cache_config_info{block_size=\"16\",num_gpu_blocks=\"7\",engine=\"0\"} 1\nprocess_start_time_seconds 1.77e9\n",
	} {
		f.Add(seed, seed)
		f.Add(seed, decoded(1))
	}
	o := DefaultOptions()
	o.ScopeName, o.KeepOriginal, o.MaxSeries, o.ForgetAfter = "engine", true, 500, 2
	m, err := New(o)
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, one, two string) {
		target := m.NewTarget(Identity{Host: "10.0.0.7", Port: 30000, Attributes: pcommon.NewMap()})
		before := map[string]count{}
		for i, body := range []string{one, two, two, one} {
			at := noon().Add(time.Duration(i) * 10 * time.Second)
			metrics, report := target.Map(page(body), at)
			dropped := 0
			for _, n := range report.Dropped {
				require.GreaterOrEqual(t, n, 0)
				dropped += n
			}
			require.Equal(t, report.Samples, report.Series+dropped)
			if i == 2 {
				require.Zero(t, report.Resets)
			}
			before = wellFormed(t, metrics, before, at)
		}
	})
}

type count struct {
	value float64
	start pcommon.Timestamp
}

// wellFormed returns the counts, by what tells them apart.
func wellFormed(t *testing.T, metrics pmetric.Metrics, before map[string]count, at time.Time) map[string]count {
	now := map[string]count{}
	check := func(m pmetric.Metric, resource, attributes pcommon.Map, scope string, value float64, start pcommon.Timestamp) {
		require.False(t, math.IsNaN(value) || math.IsInf(value, 0) || value < 0, "%s = %v", m.Name(), value)
		require.LessOrEqual(t, start, pcommon.NewTimestampFromTime(at))
		key := scope + m.Name() + m.Type().String() + renderAttributes(resource) + renderAttributes(attributes)
		_, twice := now[key]
		require.False(t, twice, "%s %s is there twice", m.Name(), renderAttributes(attributes))
		now[key] = count{value, start}
		if old, ok := before[key]; ok && value < old.value {
			require.Greater(t, start, old.start, "%s went from %v to %v", m.Name(), old.value, value)
		}
	}
	for _, rm := range metrics.ResourceMetrics().All() {
		for _, sm := range rm.ScopeMetrics().All() {
			for _, m := range sm.Metrics().All() {
				switch m.Type() {
				case pmetric.MetricTypeSum:
					for _, d := range m.Sum().DataPoints().All() {
						check(m, rm.Resource().Attributes(), d.Attributes(), sm.Scope().Name(), d.DoubleValue(), d.StartTimestamp())
					}
				case pmetric.MetricTypeHistogram:
					for _, d := range m.Histogram().DataPoints().All() {
						check(m, rm.Resource().Attributes(), d.Attributes(), sm.Scope().Name(), float64(d.Count()), d.StartTimestamp())
						consistent(t, d)
					}
				case pmetric.MetricTypeGauge:
					for _, d := range m.Gauge().DataPoints().All() {
						require.False(t, math.IsNaN(d.DoubleValue()) || math.IsInf(d.DoubleValue(), 0), m.Name())
					}
				default:
				}
			}
		}
	}
	return now
}

func consistent(t *testing.T, d pmetric.HistogramDataPoint) {
	bounds, counts := d.ExplicitBounds().AsRaw(), d.BucketCounts().AsRaw()
	if len(counts) == 0 {
		require.Empty(t, bounds)
		return
	}
	require.Len(t, counts, len(bounds)+1)
	total := uint64(0)
	for _, n := range counts {
		total += n
	}
	require.Equal(t, d.Count(), total)
	for i := 1; i < len(bounds); i++ {
		require.LessOrEqual(t, bounds[i-1], bounds[i])
	}
}
