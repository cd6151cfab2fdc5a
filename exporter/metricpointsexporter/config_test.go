package metricpointsexporter

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/confmaptest"
)

func load(t *testing.T, file string) (*Config, error) {
	t.Helper()
	conf, err := confmaptest.LoadConf(filepath.Join("testdata", file))
	require.NoError(t, err)
	c := createDefaultConfig().(*Config)
	require.NoError(t, conf.Unmarshal(c))
	return c, confmap.Validate(c)
}

func TestConfig_Valid(t *testing.T) {
	minimal, err := load(t, "minimal.yaml")
	require.NoError(t, err)
	assert.Equal(t, "training_observability", minimal.Database)
	assert.Equal(t, InsertConfig{Rows: 50_000, Interval: time.Second, InFlight: 2}, minimal.Insert)
	assert.True(t, minimal.CreateSchema)

	full, err := load(t, "full.yaml")
	require.NoError(t, err)
	assert.Equal(t, "https://clickhouse.example.org:8443", full.ClientConfig.Endpoint)
	assert.Equal(t, "ca.crt", full.ClientConfig.TLS.CAFile)
	assert.Equal(t, "[REDACTED]", full.Password.String())
	assert.Equal(t, []string{"service.name"}, full.ResourceTags)
	assert.Equal(t, LogConfig{Directory: "/var/lib/pitwall/log", MaxSizeMiB: 1024, MinFreeMiB: 10}, full.Log)
	assert.Equal(t, "c1", full.Cluster)
	assert.Equal(t, "node-7", full.HostName)
	assert.Equal(t, BatchIDsConfig{Window: 10 * time.Minute, MaxEntries: 1000}, full.BatchIDs)
	assert.Equal(t, CumulativeConfig{MaxSizeMiB: 2, MaxStaleness: 10 * time.Minute}, full.Cumulative)
}

func TestConfig_InvalidQuotesTheKey(t *testing.T) {
	f := func(file string, want ...string) {
		t.Helper()
		t.Run(file, func(t *testing.T) {
			_, err := load(t, file)
			for _, part := range want {
				assert.ErrorContains(t, err, part)
			}
			assert.NotContains(t, err.Error(), "canary")
		})
	}
	f("no_endpoint.yaml", "'endpoint'")
	f("endpoint_without_scheme.yaml", "'endpoint'")
	f("endpoint_with_password.yaml", "'endpoint'", "'username'")
	f("two_passwords.yaml", "'password'", "'password_file'")
	f("password_without_user.yaml", "'password' needs 'username'")
	f("user_and_auth.yaml", "'username' and 'auth'")
	f("no_database.yaml", "database")
	f("time_policy.yaml", "'time_policy'", `"never"`)
	f("compression.yaml", "'compression'", `"gzip"`)
	f("no_directory.yaml", "'log::directory'")
	// Everything wrong is reported at once.
	f("numbers.yaml", "'log::max_size_mib'", "'log::min_free_mib'", "'insert::rows'", "'insert::interval'", "'insert::in_flight'",
		"'retry::initial_interval'", "'dead_letter::max_size_mib'", "'limits'", "'batch_ids::window'", "'batch_ids::max_entries'",
		"'cumulative_histograms::max_size_mib'", "'cumulative_histograms::max_staleness'", "'ledger_interval'")
}
