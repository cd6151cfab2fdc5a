package schemaprocessor

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/confmaptest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/processor/processortest"

	"github.com/pitwall-otel/pitwall/processor/schemaprocessor/internal/metadata"
)

func load(t *testing.T, file string) (*Config, error) {
	t.Helper()
	conf, err := confmaptest.LoadConf(filepath.Join("testdata", "config", file))
	require.NoError(t, err)
	c := createDefaultConfig().(*Config)
	if err := conf.Unmarshal(c); err != nil {
		return nil, err
	}
	return c, confmap.Validate(c)
}

func TestConfig_Valid(t *testing.T) {
	empty, err := load(t, "empty.yaml")
	require.NoError(t, err)
	assert.Equal(t, createDefaultConfig(), empty)

	full, err := load(t, "full.yaml")
	require.NoError(t, err)
	assert.Equal(t, &Config{
		Producers: []ProducerConfig{
			{Producer: "slime", Scope: "trainer/*"},
			{Producer: "none", Service: "web-*", Attribute: "team", Value: "web"},
		},
		Rules: RulesConfig{
			UnknownName: modeQuarantine, BadName: modeQuarantine, Unit: modeReject, Instrument: modeObserve, AttributeUnknown: modeObserve,
			AttributeMissing: modeObserve, AttributeType: modeCoerce, AttributeValue: modeObserve, IdentityMissing: modeObserve, VersionUnknown: modeQuarantine,
		},
		RequiredIdentity: []string{"rl.run.id", "rl.role"},
		CacheSize:        500,
	}, full)
}

func TestConfig_InvalidQuotesTheKey(t *testing.T) {
	f := func(file string, want ...string) {
		t.Helper()
		t.Run(file, func(t *testing.T) {
			_, err := load(t, file)
			for _, part := range want {
				assert.ErrorContains(t, err, part)
			}
		})
	}
	f("producer_without_name.yaml", "'producers::0' needs 'producer'")
	f("producer_without_condition.yaml", "'producers::0' needs 'scope', 'service' or 'attribute'")
	f("producer_without_value.yaml", "'producers::0' needs 'attribute' and 'value' together")
	f("unknown_mode.yaml", "'rules::unit'", `"drop"`)
	f("cannot_coerce.yaml", "'rules::unknown_name' cannot be coerce", "'rules::instrument' cannot be coerce")
	f("unknown_rule.yaml", "wrong_unit")
	f("empty_identity.yaml", "'required_identity'")
	f("too_much_identity.yaml", "'required_identity' may have 16")
	f("no_cache.yaml", "'cache_size'")
	f("large_cache.yaml", "'cache_size'")
	// Everything wrong is reported at once.
	f("everything.yaml", "'cache_size'", "'rules::unit'", "'producers::0' needs 'producer'")
}

// Which producers there are is the registry's to say, so this one is found out when the processor is made.
func TestConfig_UnknownProducer(t *testing.T) {
	c, err := load(t, "unknown_producer.yaml")
	require.NoError(t, err)
	_, err = NewFactory().CreateMetrics(t.Context(), processortest.NewNopSettings(metadata.Type), c, consumertest.NewNop())
	require.ErrorContains(t, err, "'producers::0::producer'")
	require.ErrorContains(t, err, "verl")
}
