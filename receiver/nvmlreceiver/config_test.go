package nvmlreceiver

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/confmaptest"
)

func load(t *testing.T, path string) (*Config, error) {
	t.Helper()
	conf, err := confmaptest.LoadConf(path)
	require.NoError(t, err)
	cfg := createDefaultConfig().(*Config)
	if err := conf.Unmarshal(cfg); err != nil {
		return nil, err
	}
	return cfg, confmap.Validate(cfg)
}

func TestConfig(t *testing.T) {
	cfg, err := load(t, filepath.Join("testdata", "config", "default.yaml"))
	require.NoError(t, err)
	assert.Equal(t, createDefaultConfig(), cfg)
	assert.Equal(t, 10*time.Second, cfg.CollectionInterval)
	assert.Equal(t, 2*time.Second, cfg.deviceTimeout())

	cfg, err = load(t, filepath.Join("testdata", "config", "full.yaml"))
	require.NoError(t, err)
	want := createDefaultConfig().(*Config)
	want.CollectionInterval = time.Second
	want.HelperPath, want.LibraryPath = "/opt/pitwall/bin/pitwall-nvml", "/usr/lib64/libnvidia-ml.so.1"
	want.DeviceTimeout, want.IdleThreshold, want.Budget, want.MaxEventsPerMinute = 500*time.Millisecond, 0.1, 0.02, 60
	want.Attribution.ProcRoot, want.Attribution.RunIDFrom, want.Attribution.MaxProcesses = "/host/proc", []string{"MY_RUN"}, 64
	want.Metrics.NvidiaGpuProcessMemoryUsage.Enabled = true
	want.ResourceAttributes.ContainerID.Enabled = false
	assert.Equal(t, want.Attribution, cfg.Attribution)
	assert.Equal(t, want.ControllerConfig, cfg.ControllerConfig)
	assert.Equal(t, []any{want.HelperPath, want.LibraryPath, want.DeviceTimeout, want.IdleThreshold, want.Budget, want.MaxEventsPerMinute},
		[]any{cfg.HelperPath, cfg.LibraryPath, cfg.DeviceTimeout, cfg.IdleThreshold, cfg.Budget, cfg.MaxEventsPerMinute})
	assert.True(t, cfg.Metrics.NvidiaGpuProcessMemoryUsage.Enabled)
	assert.False(t, cfg.ResourceAttributes.ContainerID.Enabled)

	cfg, err = load(t, filepath.Join("testdata", "config", "every_second.yaml"))
	require.NoError(t, err)
	assert.Equal(t, time.Second, cfg.deviceTimeout(), "never longer than the interval")
}

// Each file begins with the error that it must give.
func TestInvalidConfig(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "config", "invalid", "*.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			line, _, _ := strings.Cut(string(text), "\n")
			_, err = load(t, file)
			require.ErrorContains(t, err, strings.TrimPrefix(line, "# "))
		})
	}
}
