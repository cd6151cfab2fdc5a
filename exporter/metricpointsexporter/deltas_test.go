package metricpointsexporter

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pitwall-otel/pitwall/internal/enginetest"
)

// waits is a cumulative histogram with a count of fast and of slow ones since a start.
func waits(run string, start, at time.Time, fast, slow uint64) pmetric.Metrics {
	metrics := pmetric.NewMetrics()
	rm := metrics.ResourceMetrics().AppendEmpty()
	rm.Resource().Attributes().PutStr("rl.run.id", run)
	m := rm.ScopeMetrics().AppendEmpty().Metrics().AppendEmpty()
	m.SetName("waits")
	m.SetUnit("s")
	h := m.SetEmptyHistogram()
	h.SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
	dp := h.DataPoints().AppendEmpty()
	dp.SetStartTimestamp(pcommon.NewTimestampFromTime(start))
	dp.SetTimestamp(pcommon.NewTimestampFromTime(at))
	dp.SetCount(fast + slow)
	dp.SetSum(float64(fast) + 10*float64(slow))
	dp.ExplicitBounds().FromRaw([]float64{5})
	dp.BucketCounts().FromRaw([]uint64{fast, slow})
	return metrics
}

// The table gets every observation of an accepted request once, though requests are refused and repeated and the
// collector is restarted twice.
func TestCumulativeHistograms(t *testing.T) {
	engine := enginetest.Start(t)
	c := config(t, engine.Endpoint())
	r := start(t, c)
	began := time.Now()
	at := func(seconds int) time.Time { return began.Add(time.Duration(seconds) * time.Second) }
	send := func(r *running, want error, metrics pmetric.Metrics) {
		t.Helper()
		require.ErrorIs(t, r.exporter.ConsumeMetrics(context.Background(), metrics), want)
	}
	send(r, nil, waits("new", began, at(1), 3, 1))
	send(r, nil, waits("new", began, at(1), 3, 1)) // the answer was lost
	send(r, nil, waits("old", began.Add(-time.Hour), at(1), 100, 100))
	assert.EqualValues(t, 1, droppedFor(r, "duplicate"))
	assert.EqualValues(t, 1, droppedFor(r, "start_unknown"))
	eventuallyBalance(t, r, 4+2, 4, 2)
	r.stop(t)

	full := *c
	full.Log.MinFreeMiB = 1 << 40
	r = start(t, &full)
	require.ErrorContains(t, r.exporter.ConsumeMetrics(context.Background(), waits("new", began, at(2), 10, 1)), "write-ahead log is full")
	require.ErrorContains(t, r.exporter.ConsumeMetrics(context.Background(), waits("old", began.Add(-time.Hour), at(2), 101, 101)), "write-ahead log is full")
	assert.EqualValues(t, 3+4, observed(t, r, "otelcol_metricpoints_points_refused"))
	r.stop(t)

	r = start(t, c)
	send(r, nil, waits("new", began, at(3), 12, 2))
	send(r, nil, waits("old", began.Add(-time.Hour), at(3), 102, 103))
	eventuallyRows(t, engine, `SELECT run_id, metric, JSONExtractString(tags_json, 'le') AS le, toString(groupArray(value)) FROM
		(SELECT * FROM training_observability.metric_points WHERE metric LIKE 'waits%' ORDER BY event_time) GROUP BY ALL ORDER BY ALL`, [][]string{
		{"new", "waits.bucket", "+Inf", "[1,1]"},
		{"new", "waits.bucket", "5", "[3,9]"},
		{"new", "waits.count", "", "[4,10]"},
		{"new", "waits.sum", "", "[13,19]"},
		{"old", "waits.bucket", "+Inf", "[3]"},
		{"old", "waits.bucket", "5", "[2]"},
		{"old", "waits.count", "", "[5]"},
		{"old", "waits.sum", "", "[32]"},
	})
}

// What is known goes from segment to segment of the log, also when they are stored and deleted.
func TestCumulativeHistograms_ThroughSegments(t *testing.T) {
	engine := enginetest.Start(t)
	c := config(t, engine.Endpoint(), func(c *Config) { c.Log.MaxSizeMiB = 16 })
	r := start(t, c)
	began := time.Now()
	total := uint64(0)
	for n := range 6 {
		for k := range 3 {
			total += uint64(n + k)
			at := began.Add(time.Duration(10*n+k+1) * time.Second)
			require.NoError(t, r.exporter.ConsumeMetrics(context.Background(), waits("new", began, at, total, 0)))
			values := make([]float64, 100_000) // a third of a segment
			require.NoError(t, r.exporter.ConsumeMetrics(context.Background(), requestOf("filler"+strconv.Itoa(n), values...)))
			eventuallyQueued(t, r, 0)
		}
		r.stop(t)
		r = start(t, c)
	}
	eventuallyRows(t, engine, `SELECT toString(sum(value)) FROM training_observability.metric_points WHERE metric = 'waits.count'`,
		[][]string{{strconv.FormatUint(total, 10)}})
}
