package test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pitwall-otel/pitwall/internal/collectortest"
	"github.com/pitwall-otel/pitwall/internal/nvmltest"
)

// A MIG device has the device column of its GPU, and names of its own, so that a query for the GPU finds the GPU.
func TestMIGDevicesStandBesideTheirGPU(t *testing.T) {
	nvmltest.Script(t, nvmltest.Profile(t, "mig"))
	c := collectortest.New(t, "config/single-node.yaml", quiet, fmt.Sprintf(
		"receivers: {nvml: {collection_interval: 1s, budget: 0, helper_path: %s, library_path: %s}}", nvmltest.Helper(t), nvmltest.Library(t)))
	c.Start()
	require.Eventually(t, func() bool {
		answer, err := c.Query("SELECT count() FROM training_observability.metric_points WHERE metric = 'sys.gpu.0.mig.6.sm_active_percent'")
		return err == nil && answer != "0"
	}, time.Minute, 100*time.Millisecond, "no MIG device in the table")

	answer, err := c.Query(`SELECT metric, any(device), argMax(value, event_time), uniqExact(JSONExtractString(tags_json, 'hw.id'))
		FROM training_observability.metric_points WHERE metric LIKE 'sys.gpu.%' GROUP BY metric FORMAT TabSeparated`)
	require.NoError(t, err)
	rows := map[string]string{}
	for line := range strings.Lines(answer) {
		name, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		rows[name] = rest
		assert.True(t, strings.HasSuffix(rest, "\t1"), "%s is of several devices: %s", name, rest)
		assert.True(t, strings.HasPrefix(rest, "0\t"), "%s is of another GPU: %s", name, rest)
	}
	assert.Equal(t, "0\t85520809984\t1", rows["sys.gpu.0.mem_total_bytes"])
	for slice := range 7 {
		assert.Equal(t, "0\t10200547328\t1", rows[fmt.Sprintf("sys.gpu.0.mig.%d.mem_total_bytes", slice)])
		assert.Equal(t, fmt.Sprintf("0\t%d\t1", (slice+1)<<30), rows[fmt.Sprintf("sys.gpu.0.mig.%d.mem_used_bytes", slice)])
		assert.Equal(t, fmt.Sprintf("0\t%g\t1", float64(10*slice)+0.5), rows[fmt.Sprintf("sys.gpu.0.mig.%d.sm_active_percent", slice)])
		assert.Contains(t, rows, fmt.Sprintf("sys.gpu.0.mig.%d.busy_s", slice))
	}
	assert.Equal(t, 1, strings.Count(c.Log(), "the NVIDIA driver answers"), "the pipelines share one helper")
	checked, _ := telemetry(c, "otelcol_schema_checked")
	assert.Positive(t, checked)
	findings, _ := telemetry(c, "otelcol_schema_findings")
	assert.Zero(t, findings)
}

// The shipped configuration has the receiver, so it must do on machines without a GPU: healthy, one line, no rows.
func TestMachineWithoutGPUs(t *testing.T) {
	c := collectortest.New(t, "config/single-node.yaml", quiet, fmt.Sprintf(
		"receivers: {nvml: {collection_interval: 1s, helper_path: %s, library_path: %s}}", nvmltest.Helper(t), t.TempDir()+"/libnvidia-ml.so.1"))
	c.Start()
	const line = "this machine has no NVIDIA driver"
	require.Eventually(t, func() bool { return strings.Contains(c.Log(), line) }, time.Minute, 100*time.Millisecond)
	answer, err := c.Query(`SELECT count() FROM training_observability.metric_points WHERE metric LIKE 'sys.gpu.%' OR metric LIKE 'collector.nvml.%'`)
	require.NoError(t, err)
	assert.Equal(t, "0", answer)
	c.Stop()
	assert.Equal(t, 1, strings.Count(c.Log(), line))
	assert.NotContains(t, c.Log(), "no GPU metrics: the ")
}
