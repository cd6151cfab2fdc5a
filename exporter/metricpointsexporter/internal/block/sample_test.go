package block_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pitwall-otel/pitwall/exporter/metricpointsexporter/internal/block"
	"github.com/pitwall-otel/pitwall/exporter/metricpointsexporter/internal/points"
	"github.com/pitwall-otel/pitwall/internal/clickhouse"
	"github.com/pitwall-otel/pitwall/schema"
)

// Samples are rows of the block, whatever the order in which runs, metrics and hosts came: of each month the first, the last
// and some between.
func TestSample(t *testing.T) {
	registry, err := schema.Load()
	require.NoError(t, err)
	metrics := pmetric.NewMetrics()
	all := map[clickhouse.Row]bool{}
	months := map[time.Month]int{}
	for n := range 300 {
		at := time.Date(2026, time.January, 1+n%70, 0, 0, n, 0, time.UTC)
		r := clickhouse.Row{
			Run: fmt.Sprintf("run-%d", (n*7)%10), Metric: fmt.Sprintf("metric-%d", (n*3)%5), Host: fmt.Sprintf("host-%d", (n*9)%4),
			Unit: "1", Rank: uint32(n), Device: uint16(n % 8), Step: uint64(n), Millis: at.UnixMilli(),
			Value: math.Float64bits(float64(n) / 3), Tags: fmt.Sprintf(`{"tag":"%d"}`, n),
		}
		all[r] = true
		months[at.Month()]++
		rm := metrics.ResourceMetrics().AppendEmpty()
		rm.Resource().Attributes().PutStr("rl.run.id", r.Run)
		rm.Resource().Attributes().PutStr("host.name", r.Host)
		m := rm.ScopeMetrics().AppendEmpty().Metrics().AppendEmpty()
		m.SetName(r.Metric)
		m.SetUnit(r.Unit)
		dp := m.SetEmptyGauge().DataPoints().AppendEmpty()
		dp.SetTimestamp(pcommon.NewTimestampFromTime(at))
		dp.Attributes().PutInt("rank", int64(n))
		dp.Attributes().PutInt("gpu", int64(n%8))
		dp.Attributes().PutInt("step", int64(n))
		dp.Attributes().PutStr("tag", fmt.Sprint(n))
		dp.SetDoubleValue(float64(n) / 3)
	}
	payload, _ := points.NewEncoder(points.Settings{
		Registry: registry, TimePolicy: points.TimeKeep, MaxNameBytes: 100, MaxAttributeBytes: 100, MaxTagsBytes: 1000,
	}).Encode(nil, metrics, points.Request{}, time.Date(2026, time.March, 15, 0, 0, 0, 0, time.UTC))
	var b block.Builder
	b.Reset()
	require.NoError(t, b.Add(payload))
	groups := b.Sort()
	require.Len(t, groups, 1)
	divided := b.Months(groups[0])
	require.Len(t, divided, len(months))
	for _, month := range divided {
		sample := b.Sample(month)
		assert.Subset(t, b.All(month), sample)
		assert.Len(t, sample, 8)
		var first, last time.Time
		for i, r := range sample {
			assert.True(t, all[r], "%v is no row of the block", r)
			at := time.UnixMilli(r.Millis).UTC()
			if i == 0 {
				first, last = at, at
			}
			assert.Equal(t, first.Month(), at.Month())
			last = time.UnixMilli(max(last.UnixMilli(), r.Millis))
		}
		assert.Len(t, month, months[first.Month()])
		assert.Equal(t, time.UnixMilli(sample[1].Millis).UTC(), last.UTC())
	}
}
