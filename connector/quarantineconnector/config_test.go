package quarantineconnector

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/confmaptest"
	"go.opentelemetry.io/collector/pipeline"
)

// load reads a configuration as the collector does: over the defaults, then validated.
func load(t *testing.T, path string) (*Config, error) {
	t.Helper()
	conf, err := confmaptest.LoadConf(filepath.Join("testdata", path))
	require.NoError(t, err)
	c := createDefaultConfig().(*Config)
	if err := conf.Unmarshal(c); err != nil {
		return nil, err
	}
	return c, confmap.Validate(c)
}

func TestConfig_Valid(t *testing.T) {
	f := func(name string, want ...pipeline.ID) {
		t.Helper()
		got, err := load(t, name+".yaml")
		require.NoError(t, err)
		assert.Equal(t, &Config{Quarantine: want}, got)
	}
	f("one", pipeline.NewIDWithName(pipeline.SignalMetrics, "quarantine"))
	f("several", pipeline.NewIDWithName(pipeline.SignalMetrics, "bad"), pipeline.NewIDWithName(pipeline.SignalMetrics, "copy"),
		pipeline.NewIDWithName(pipeline.SignalTraces, "bad"), pipeline.NewID(pipeline.SignalLogs))
}

func TestConfig_InvalidQuotesTheKey(t *testing.T) {
	f := func(name, want string) {
		t.Helper()
		_, err := load(t, filepath.Join("invalid", name+".yaml"))
		assert.ErrorContains(t, err, want)
	}
	f("absent", "'quarantine' must list the pipelines")
	f("empty", "'quarantine' must list the pipelines")
	f("twice", `'quarantine' lists "metrics/a" twice`)
	f("no_signal", "quarantine[0]")
	f("no_name", "quarantine[0]")
	f("unknown_key", "attribute")
}
