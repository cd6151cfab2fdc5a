package test

import (
	"bytes"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric/pmetricotlp"

	"github.com/pitwall-otel/pitwall/internal/collectortest"
)

// TestRetriedRequestOfTwoExporters: of one request good points go to one exporter and quarantined ones to another, each
// with ids of its own. While one of them has no room the request is refused, whatever the other did; sent again, it is
// stored by those that have not got it yet, and by neither twice.
func TestRetriedRequestOfTwoExporters(t *testing.T) {
	const everything = "999999999" // MiB that must remain free
	for refusing, env := range map[string]string{"metricpoints": "FREE_POINTS", "metricpoints/quarantine": "FREE_QUARANTINE"} {
		t.Run(refusing, func(t *testing.T) {
			c := collectortest.New(t, "config/single-node.yaml", quiet, `
exporters:
  metricpoints: {log: {min_free_mib: "${env:FREE_POINTS:-0}"}}
  metricpoints/quarantine: {log: {min_free_mib: "${env:FREE_QUARANTINE:-0}"}}
`)
			c.Env = []string{env + "=" + everything}
			c.Start()
			for range 3 {
				assert.Equal(t, http.StatusServiceUnavailable, sendMixed(t, c, "mixed"))
			}
			c.Stop()

			c.Env = nil
			c.Start()
			for range 3 {
				assert.Equal(t, http.StatusOK, sendMixed(t, c, "mixed"))
			}
			waitStored(t, c)
			for table, value := range map[string]string{"metric_points": "1.5", "quarantined_points": "2.5"} {
				got, err := c.Query("SELECT value FROM training_observability." + table + " WHERE run_id = 'batch-mixed'")
				require.NoError(t, err)
				assert.Equal(t, value, got, table)
			}
			for _, exporter := range []string{"metricpoints", "metricpoints/quarantine"} {
				want := 2.0
				if exporter == "metricpoints/quarantine" && exporter != refusing {
					want = 3 // it is asked first, so it had accepted the first attempts
				}
				got, _ := telemetry(c, "otelcol_metricpoints_points_dropped", `exporter="`+exporter+`"`, `reason="duplicate"`)
				assert.InDelta(t, want, got, 0, exporter)
			}
		})
	}
}

// sendMixed sends one point with a unit that belongs to its metric, and one without, and returns the answer's status.
func sendMixed(t *testing.T, c *collectortest.Collector, id string) int {
	t.Helper()
	export := pmetricotlp.NewExportRequest()
	rm := export.Metrics().ResourceMetrics().AppendEmpty()
	rm.Resource().Attributes().PutStr("rl.run.id", "batch-mixed")
	metrics := rm.ScopeMetrics().AppendEmpty().Metrics()
	for unit, value := range map[string]float64{"s": 1.5, "By": 2.5} {
		m := metrics.AppendEmpty()
		m.SetName("rl.step.duration")
		m.SetUnit(unit)
		dp := m.SetEmptyGauge().DataPoints().AppendEmpty()
		dp.SetTimestamp(pcommon.NewTimestampFromTime(time.Now()))
		dp.SetDoubleValue(value)
	}
	body, err := export.MarshalProto()
	require.NoError(t, err)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+c.HTTP+"/v1/metrics", bytes.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/x-protobuf")
	request.Header.Set("Pitwall-Batch-Id", id)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return response.StatusCode
}
