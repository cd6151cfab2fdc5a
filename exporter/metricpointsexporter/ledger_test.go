package metricpointsexporter

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/config/configcompression"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/pitwall-otel/pitwall/exporter/metricpointsexporter/internal/metadata"
	"github.com/pitwall-otel/pitwall/internal/enginetest"
)

func configType(name string) configcompression.Type { return configcompression.Type(name) }

func nopSettings() exporter.Settings { return exportertest.NewNopSettings(metadata.Type) }

// counted returns the series of a metric of the collector's own telemetry, by reason ("" without one).
func counted(r *running, name string) map[string]int64 {
	m, err := r.telemetry.GetMetric(name)
	if err != nil {
		return nil
	}
	values := map[string]int64{}
	var points []metricdata.DataPoint[int64]
	switch data := m.Data.(type) {
	case metricdata.Sum[int64]:
		points = data.DataPoints
	case metricdata.Gauge[int64]:
		points = data.DataPoints
	}
	for _, point := range points {
		reason, _ := point.Attributes.Value("reason")
		values[reason.AsString()] = point.Value
	}
	return values
}

func observed(t *testing.T, r *running, name string) int64 {
	t.Helper()
	values := counted(r, name)
	require.Contains(t, values, "", name)
	return values[""]
}

func allDropped(r *running) (sum int64) {
	for _, points := range counted(r, "otelcol_metricpoints_points_dropped") {
		sum += points
	}
	return sum
}

func droppedFor(r *running, reason string) int64 {
	return counted(r, "otelcol_metricpoints_points_dropped")[reason]
}

func eventuallyQueued(t *testing.T, r *running, want int64) {
	t.Helper()
	require.Eventually(t, func() bool { return counted(r, "otelcol_metricpoints_points_queued")[""] == want }, deadline, 5*time.Millisecond)
}

func eventuallyBalance(t *testing.T, r *running, accepted, stored, dropped int64) {
	t.Helper()
	eventuallyQueued(t, r, 0)
	assert.Equal(t, accepted, observed(t, r, "otelcol_metricpoints_points_accepted"))
	assert.Equal(t, stored, observed(t, r, "otelcol_metricpoints_points_stored"))
	assert.Equal(t, dropped, allDropped(r))
}

func TestLedger_CountsByReason(t *testing.T) {
	engine := enginetest.Start(t)
	r := start(t, config(t, engine.Endpoint(), func(c *Config) { c.TimePolicy = "drop" }))
	metrics, err := (&pmetric.JSONUnmarshaler{}).UnmarshalMetrics([]byte(`{"resourceMetrics":[{"scopeMetrics":[{"metrics":[
		{"name":"a","gauge":{"dataPoints":[{"timeUnixNano":"1","asDouble":1},{"flags":1},{"flags":1}]}}]}]}]}`))
	require.NoError(t, err)
	require.NoError(t, r.exporter.ConsumeMetrics(context.Background(), metrics))
	r.send(t, "good", 1, 2)
	eventuallyBalance(t, r, 5, 2, 3)
	assert.EqualValues(t, 1, droppedFor(r, "time_outside"))
	assert.EqualValues(t, 2, droppedFor(r, "no_recorded_value"))
	assert.EqualValues(t, 1, observed(t, r, "otelcol_metricpoints_points_time_outside"))
}

func TestLedger_AddsUpAtEveryMoment(t *testing.T) {
	engine := enginetest.Start(t)
	r := start(t, config(t, engine.Endpoint(), func(c *Config) { c.Insert.Rows = 100 }))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 300 {
			_ = r.exporter.ConsumeMetrics(context.Background(), requestOf("busy", make([]float64, 1+i%50)...))
		}
	}()
	samples := 0
	for open := true; open; samples++ {
		select {
		case <-done:
			open = false
		default:
		}
		accepted, rest := r.sides(t)
		require.Equal(t, accepted, rest)
	}
	assert.Greater(t, samples, 10)
}

// sides reads both sides of the ledger in one collection, as a scrape does.
func (r *running) sides(t *testing.T) (accepted, rest int64) {
	t.Helper()
	var all metricdata.ResourceMetrics
	require.NoError(t, r.telemetry.Reader.Collect(context.Background(), &all))
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			sum := int64(0)
			switch data := m.Data.(type) {
			case metricdata.Sum[int64]:
				for _, point := range data.DataPoints {
					sum += point.Value
				}
			case metricdata.Gauge[int64]:
				for _, point := range data.DataPoints {
					sum += point.Value
				}
			}
			switch m.Name {
			case "otelcol_metricpoints_points_accepted":
				accepted = sum
			case "otelcol_metricpoints_points_stored", "otelcol_metricpoints_points_queued", "otelcol_metricpoints_points_dropped":
				rest += sum
			}
		}
	}
	return accepted, rest
}

func TestLedger_IsWrittenAsRows(t *testing.T) {
	kernel, err := os.Hostname()
	require.NoError(t, err)
	for name, host := range map[string]string{"": kernel, "gpu-07": "gpu-07"} {
		t.Run(host, func(t *testing.T) { ledgerRows(t, name, host) })
	}
}

func ledgerRows(t *testing.T, name, host string) {
	engine := enginetest.Start(t)
	r := start(t, config(t, engine.Endpoint(), func(c *Config) { c.LedgerInterval, c.HostName = time.Second, name }))
	r.send(t, "counted", 1, 2, 3)
	eventuallyRows(t, engine, `SELECT metric, unit, run_id, rank, device, startsWith(JSONExtractString(any(tags_json), 'pitwall.component'), 'metricpoints'), max(value) >= 3
		FROM training_observability.metric_points WHERE metric IN ('pitwall.points.accepted', 'pitwall.points.stored') AND host = '`+host+`'
		GROUP BY ALL HAVING max(value) >= 3 ORDER BY metric`, [][]string{
		{"pitwall.points.accepted", "{point}", "", "0", "65535", "1", "1"},
		{"pitwall.points.stored", "{point}", "", "0", "65535", "1", "1"},
	})
}
