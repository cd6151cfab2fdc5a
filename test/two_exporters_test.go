package test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pitwall-otel/pitwall/internal/collectortest"
)

// TestTwoExporters sends each point to two tables: each exporter has a log and a ledger of its own.
func TestTwoExporters(t *testing.T) {
	c := collectortest.New(t, "config/single-node.yaml", quiet, `
exporters:
  metricpoints/second:
    endpoint: ${env:SQL}
    username: default
    password_file: data/clickhouse.password
    table: second
    log: {directory: data/second-log}
    time_policy: drop
    ledger_interval: 0s
service:
  pipelines:
    metrics/stored: {exporters: [metricpoints, metricpoints/second]}
`)
	c.Env = []string{"SQL=http://" + c.SQL}
	c.Start()
	stored := sendStep(t, c, 1)
	post(t, c, "/v1/metrics", `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"no time","gauge":{"dataPoints":[{"asDouble":1}]}}]}]}]}`)
	waitStored(t, c)
	requireRows(t, []row{stored, {device: noDevice, metric: "no time", value: "1"}}, storedRows(t, c.Query, "1"))
	answer, err := c.Query("SELECT metric, step FROM training_observability.second FORMAT TabSeparated")
	require.NoError(t, err)
	assert.Equal(t, "loss\t1", answer)
	for exporter, want := range map[string]map[string]float64{
		`exporter="metricpoints"`:        {"accepted": 2, "stored": 2, "dropped": 0, "queued": 0},
		`exporter="metricpoints/second"`: {"accepted": 2, "stored": 1, "dropped": 1, "queued": 0},
	} {
		for name, points := range want {
			got, found := telemetry(c, "otelcol_metricpoints_points_"+name, exporter)
			assert.True(t, found, name+exporter)
			assert.InDelta(t, points, got, 0, name+exporter)
		}
	}
}
