package nvmlreceiver

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/confmaptest"

	"github.com/pitwall-otel/pitwall/schema"
)

// described is a metric in metadata.yaml.
type described struct {
	Description string `mapstructure:"description"`
	Unit        string `mapstructure:"unit"`
	Sum         *struct {
		Monotonic bool `mapstructure:"monotonic"`
	} `mapstructure:"sum"`
	Attributes []string `mapstructure:"attributes"`
}

// attribute is one in metadata.yaml.
type attribute struct {
	Description string `mapstructure:"description"`
	Type        string `mapstructure:"type"`
}

// allMetrics reads the names out of the generated table.
func allMetrics(info any) (names []string) {
	for _, field := range reflect.ValueOf(info).Fields() {
		names = append(names, field.FieldByName("Name").String())
	}
	return names
}

// metadata.yaml says again what the registry says, because mdatagen needs it there.
func TestMetadataIsTheRegistrys(t *testing.T) {
	registry, err := schema.Load()
	require.NoError(t, err)
	conf, err := confmaptest.LoadConf("metadata.yaml")
	require.NoError(t, err)
	var all struct {
		Metrics            map[string]described `mapstructure:"metrics"`
		Attributes         map[string]attribute `mapstructure:"attributes"`
		ResourceAttributes map[string]attribute `mapstructure:"resource_attributes"`
	}
	require.NoError(t, conf.Unmarshal(&all, confmap.WithIgnoreUnused()))
	require.Len(t, all.Metrics, len(metricNames()))

	for name, m := range all.Metrics {
		want := registry.Metric(name)
		if !assert.NotNil(t, want, "the registry has no %s", name) {
			continue
		}
		assert.Equal(t, want.Brief, m.Description, name)
		// rpm, as the semantic conventions have it, is no unit for mdatagen; finish sets it.
		assert.Equal(t, want.Unit, strings.Replace(m.Unit, "{rpm}", "rpm", 1), name)
		instrument := "gauge"
		if m.Sum != nil {
			instrument = "updowncounter"
			if m.Sum.Monotonic {
				instrument = "counter"
			}
		}
		assert.Equal(t, want.Instrument, instrument, name)
		for _, use := range want.Attributes {
			assert.True(t, use.Requirement != "required" || slices.Contains(m.Attributes, use.Name), "%s needs %s", name, use.Name)
		}
		for _, a := range m.Attributes {
			assert.True(t, slices.ContainsFunc(want.Attributes, func(use schema.Use) bool { return use.Name == a }), "%s has no %s", name, a)
		}
	}
	for _, attributes := range []map[string]attribute{all.Attributes, all.ResourceAttributes} {
		for name, a := range attributes {
			want := registry.Attribute(name)
			require.NotNil(t, want, name)
			assert.Equal(t, want.Brief, a.Description, name)
			assert.Equal(t, strings.Replace(want.Type, "enum", "string", 1), a.Type, name)
		}
	}
	for _, m := range registry.Metrics() {
		ours := strings.HasPrefix(m.Name, "hw.") || strings.HasPrefix(m.Name, "nvidia.") || strings.HasPrefix(m.Name, "pitwall.nvml.")
		assert.True(t, !ours || all.Metrics[m.Name].Unit != "", "%s is missing here", m.Name)
	}
	_, err = os.Stat("documentation.md")
	require.NoError(t, err)
}
