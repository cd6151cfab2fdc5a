package main

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pitwall-otel/pitwall/internal/collectortest"
	"github.com/pitwall-otel/pitwall/internal/fakenvml"
)

// TestFakeGPUs: in the environment that scripts/demo makes, the real receiver reads the fake driver's eight GPUs.
func TestFakeGPUs(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, fakeGPUs(folder))
	c := collectortest.New(t, "config/single-node.yaml", "receivers: {nvml: {collection_interval: 1s, initial_delay: 0s}}")
	c.Env = []string{"LD_LIBRARY_PATH=" + folder, fakenvml.Variable + "=" + filepath.Join(folder, "script")}
	c.Start()
	require.Eventually(t, func() bool {
		answer, err := c.Query("SELECT uniqExact(device), uniqExact(value) > 8 FROM training_observability.metric_points WHERE match(metric, 'sys.gpu.[0-9].util_percent')")
		return err == nil && answer == "8\t1"
	}, time.Minute, 500*time.Millisecond, "eight GPUs whose values move")
}
