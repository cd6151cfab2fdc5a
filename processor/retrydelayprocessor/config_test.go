package retrydelayprocessor

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/confmaptest"
)

func TestConfig(t *testing.T) {
	f := func(file string, want time.Duration, problem string) {
		t.Helper()
		conf, err := confmaptest.LoadConf(filepath.Join("testdata", file))
		require.NoError(t, err)
		c := createDefaultConfig().(*Config)
		require.NoError(t, conf.Unmarshal(c))
		if err := confmap.Validate(c); problem != "" {
			require.ErrorContains(t, err, problem)
			return
		}
		assert.Equal(t, want, c.Delay)
	}
	f("default.yaml", 5*time.Second, "")
	f("minute.yaml", time.Minute, "")
	f("none.yaml", 0, "'delay' must be between 1s and 10m")
	f("hour.yaml", 0, "'delay' must be between 1s and 10m")
}
