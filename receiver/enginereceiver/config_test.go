package enginereceiver

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/confmaptest"

	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/targets"
)

func loadConfig(t *testing.T, file string) (*Config, error) {
	t.Helper()
	conf, err := confmaptest.LoadConf(filepath.Join("testdata", "config", file+".yaml"))
	require.NoError(t, err)
	c := createDefaultConfig().(*Config)
	if err := conf.Unmarshal(c); err != nil {
		return nil, err
	}
	return c, confmap.Validate(c)
}

func TestConfig_Defaults(t *testing.T) {
	c, err := loadConfig(t, "empty")
	require.NoError(t, err)
	assert.Equal(t, createDefaultConfig(), c)
	assert.Equal(t, 15*time.Second, c.ClientConfig.Timeout)
	assert.Equal(t, 15*time.Second, c.CollectionInterval)
	assert.False(t, c.Targets.Registration.HasValue(), "nothing listens unless told to")
	assert.NotEmpty(t, c.Families.Exclude)
}

func TestConfig_RegistrationListensOnLoopback(t *testing.T) {
	c, err := loadConfig(t, "registration")
	require.NoError(t, err)
	r := c.Targets.Registration.Get()
	require.NotNil(t, r)
	assert.Equal(t, "127.0.0.1:13135", r.NetAddr.Endpoint)
	assert.Equal(t, 256, r.Max)
}

func TestConfig_EveryKey(t *testing.T) {
	c, err := loadConfig(t, "full")
	require.NoError(t, err)
	run := map[string]string{"run": "7"}
	assert.Equal(t, 5*time.Second, c.ClientConfig.Timeout)
	assert.True(t, c.TLS.InsecureSkipVerify)
	header, _ := c.Headers.Get("X-Scope")
	assert.Equal(t, configopaque.String("pitwall"), header)
	assert.Equal(t, 10*time.Second, c.CollectionInterval)
	assert.Equal(t, 2*time.Second, c.InitialDelay)
	assert.Equal(t, 4, c.MaxConcurrentScrapes)
	assert.Equal(t, int64(1<<20), c.MaxBodySize)
	assert.Equal(t, "chat", c.OperationName)
	assert.Equal(t, "node-7", c.HostName)
	assert.Equal(t, FamiliesConfig{Include: []string{"sglang:*"}, Exclude: []string{"sglang:cache_*"}, KeepOriginal: true}, c.Families)
	assert.Equal(t, LimitsConfig{
		MaxLineBytes: 1, MaxLabels: 2, MaxLabelValueBytes: 3, MaxFamilies: 4, MaxSamples: 5, MaxBadLines: 6, MaxSeries: 7, MaxWorkers: 9,
	}, c.Limits)
	assert.Equal(t, 50, c.Targets.Max)
	assert.Equal(t, []targets.Spec{
		{Endpoint: "10.0.0.3:30000"},
		{
			Endpoint: "http://10.0.0.4:3000", Kind: "router", MetricsPath: "/engine_metrics",
			Labels: map[string]string{"run": "7", "role": "prefill", "replica": "3"},
		},
	}, c.Targets.Static)
	assert.Equal(t, FilesConfig{Paths: []string{"/etc/pitwall/*.yaml"}, RefreshInterval: time.Second}, c.Targets.Files)
	assert.Equal(t, []DNSConfig{
		{Name: "engines.example.com", Port: 30000, Kind: "vllm", Labels: run, RefreshInterval: 20 * time.Second},
		{Name: "_metrics._tcp.example.com", Type: "srv", MetricsPath: "/m"},
	}, c.Targets.DNS)
	assert.Equal(t, []RouterConfig{
		{Endpoint: "10.0.0.5:3000", APIKey: "secret", Kind: "sglang", Labels: run, RefreshInterval: 5 * time.Second},
	}, c.Targets.Routers)
	r := c.Targets.Registration.Get()
	require.NotNil(t, r)
	assert.Equal(t, []any{"127.0.0.1:9999", 3, time.Minute, 2 * time.Minute}, []any{r.NetAddr.Endpoint, r.Max, r.DefaultTTL, r.MaxTTL})
	assert.NotContains(t, fmt.Sprintf("%+v", c), "secret")
}

func TestConfig_InvalidQuotesTheKey(t *testing.T) {
	f := func(file string, want ...string) {
		t.Helper()
		t.Run(file, func(t *testing.T) {
			_, err := loadConfig(t, file)
			for _, part := range want {
				require.ErrorContains(t, err, part)
			}
			assert.NotContains(t, err.Error(), "secret")
		})
	}
	f("endpoint", "'endpoint' is not a key of this receiver", "'targets::static'")
	f("no_timeout", "'timeout'")
	f("short_interval", "'collection_interval' must be at least 100ms")
	f("concurrency", "'max_concurrent_scrapes' must be between 1 and 256, not 1000")
	f("body", "'max_body_size'")
	f("operation", "'operation_name'")
	f("families", "'families::include'", "'families::exclude'")
	f("limits", "'limits::max_samples'", "'limits::max_unknown'", "'limits::max_workers'")
	f("unknown_key", "kubernetes")
	f("too_many_targets", "'targets::max' must be between 1 and 10000")
	f("static", "'targets::static::1': 'kind' must be one of", "'targets::static::2': 'endpoint'")
	f("static_label", "'targets::static::0'", `"replica" must be an integer`)
	f("files", "'targets::files::paths'", "'targets::files::refresh_interval'")
	f("dns", "'targets::dns::0::name' is missing", "'targets::dns::1::type'", "'targets::dns::2::port'", "'targets::dns::3::refresh_interval'",
		"'targets::dns::3': 'kind'")
	f("routers", "'targets::routers::0': 'endpoint' is missing", "'targets::routers::1::kind'", "'targets::routers::2': label",
		"'targets::routers::2::refresh_interval'")
	f("registration_bounds", "'targets::registration::max'", "'targets::registration::default_ttl'")
}
