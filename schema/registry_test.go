package schema_test

import (
	"os"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pitwall-otel/pitwall/schema"
	"github.com/pitwall-otel/pitwall/schema/source"
)

func load(t testing.TB) *schema.Registry {
	t.Helper()
	r, err := schema.Load()
	require.NoError(t, err)
	return r
}

// of makes a registry of YAML, as version 1.1.0 of the family https://example.com/.
func of(t testing.TB, text string) *schema.Registry {
	t.Helper()
	return ofVersion(t, "1.1.0", text)
}

func ofVersion(t testing.TB, version, text string) *schema.Registry {
	t.Helper()
	read, err := source.Load(fstest.MapFS{
		"registry_manifest.yaml": {Data: []byte("semconv_version: " + version + "\nschema_base_url: https://example.com/\n")},
		"a.yaml":                 {Data: []byte(text)},
	})
	require.NoError(t, err)
	r, err := schema.New(read.Compile())
	require.NoError(t, err)
	return r
}

// The Go tables are what the YAML says: who changes one runs make generate.
func TestTheTablesAreTheRegistry(t *testing.T) {
	read, err := source.Load(os.DirFS("registry"))
	require.NoError(t, err)
	want, err := schema.New(read.Compile())
	require.NoError(t, err)
	// The two are too large to print.
	assert.True(t, reflect.DeepEqual(want, load(t)), "schema/registry and schema/generated*.go differ: run make generate")
}

// The names that the table's owner uses, and what a ratio of 0.25 is worth under them.
func TestTheOwnersNames(t *testing.T) {
	r := load(t)
	f := func(metric string, attributes map[string]string, wantName, wantUnit string, wantScale float64) {
		t.Helper()
		m := r.Metric(metric)
		require.NotNil(t, m, metric)
		name, rule := tableName(m, attributes)
		require.NotNil(t, rule, metric)
		assert.Equal(t, wantName, name)
		assert.Equal(t, wantUnit, rule.Unit)
		assert.InDelta(t, wantScale, rule.Scale, 0)
	}
	type attributes = map[string]string
	f("system.cpu.busy", nil, "sys.cpu_percent", "%", 100)
	f("system.cpu.utilization", attributes{"cpu.mode": "idle"}, "sys.cpu.idle_percent", "%", 100)
	f("system.memory.utilization", attributes{"system.memory.state": "used"}, "sys.mem_percent", "%", 100)
	f("system.memory.utilization", attributes{"system.memory.state": "free"}, "sys.mem.free_percent", "%", 100)
	f("system.filesystem.utilization", attributes{"system.filesystem.mountpoint": "/data", "system.device": "sda"},
		"sys.disk./data.percent", "%", 100)
	f("system.network.io_rate", attributes{"network.interface.name": "eth0", "network.io.direction": "transmit"},
		"sys.net.eth0.sent_bytes_per_s", "By/s", 1)
	f("system.network.io_rate", attributes{"network.interface.name": "eth0", "network.io.direction": "receive"},
		"sys.net.eth0.recv_bytes_per_s", "By/s", 1)
	f("rl.loss.total", nil, "loss", "1", 1)
	f("hw.gpu.utilization", attributes{"hw.gpu.task": "general", "rl.device.index": "3"}, "sys.gpu.3.util_percent", "%", 100)
}

// A point without the attribute that its name needs keeps the canonical name.
func TestNoRuleWithoutItsAttributes(t *testing.T) {
	r := load(t)
	_, rule := tableName(r.Metric("system.network.io_rate"), map[string]string{"network.io.direction": "transmit"})
	assert.Nil(t, rule)
}

func TestWhatTheRegistryDoesNotKnow(t *testing.T) {
	r := load(t)
	assert.Nil(t, r.Metric("no.such.metric"))
	assert.Nil(t, r.Attribute("no.such.attribute"))
	assert.Nil(t, r.Span("no.such.span"))
	assert.Nil(t, r.Event("no.such.event"))
	assert.Nil(t, r.Entity("no.such.entity"))
	assert.Nil(t, r.Profile("no such producer"))
	assert.NotNil(t, r.Profile(""))
}

func TestSchemaURL(t *testing.T) {
	r := ofVersion(t, "1.2.3", "groups: []")
	assert.Equal(t, "1.2.3", r.Version())
	assert.Equal(t, "https://example.com/1.2.3", r.SchemaURL())

	version, ours := r.VersionOf("https://example.com/1.0.0")
	assert.True(t, ours)
	assert.Equal(t, "1.0.0", version)
	_, ours = r.VersionOf("https://opentelemetry.io/schemas/1.43.0")
	assert.False(t, ours)
	_, ours = r.VersionOf("")
	assert.False(t, ours)
}

// A definition that was not checked by source stops New, not a data point.
func TestNewRefusesWhatDoesNotFitTogether(t *testing.T) {
	f := func(d schema.Definition, want string) {
		t.Helper()
		_, err := schema.New(d)
		assert.EqualError(t, err, want)
	}
	attribute := []schema.Attribute{{Name: "a", Type: "string"}}
	metric := []schema.Metric{{Name: "m"}}
	f(schema.Definition{Metrics: []schema.Metric{{Name: "m", Attributes: []schema.Use{{Name: "b"}}}}},
		`schema: m has the unknown attribute "b"`)
	producer := func(rules ...schema.Rule) []schema.Producer { return []schema.Producer{{Name: "p", Metrics: rules}} }
	f(schema.Definition{Metrics: metric, Producers: producer(schema.Rule{Name: "x", To: "n"})},
		`schema: producer "p": metrics: "x" becomes the unknown "n"`)
	f(schema.Definition{Metrics: metric, Producers: producer(schema.Rule{Name: "x", To: "m", Set: []schema.Condition{{Attribute: "b"}}})},
		`schema: producer "p": metrics: "x" sets the unknown attribute "b"`)
	f(schema.Definition{Metrics: metric, Producers: producer(schema.Rule{Name: "x{b}", To: "m", Captures: []schema.Capture{{}}})},
		`schema: producer "p": metrics: "x{b}" captures the unknown attribute "b"`)
	f(schema.Definition{Attributes: attribute, Metrics: metric, Producers: producer(schema.Rule{Name: "x{a}", To: "m", Captures: make([]schema.Capture, 2)})},
		`schema: producer "p": metrics: "x{a}" has 2 captures and 1 places for them`)
	f(schema.Definition{Producers: []schema.Producer{{Name: "p", Attributes: []schema.AttributeRule{{Name: "x", To: "b"}}}}},
		`schema: producer "p": attribute "x" becomes the unknown "b"`)
}

func BenchmarkLoad(b *testing.B) {
	b.ReportAllocs()
	for range b.N {
		if _, err := schema.Load(); err != nil {
			b.Fatal(err)
		}
	}
}

// tableName applies the rules as TableRule documents them.
func tableName(m *schema.Metric, attributes map[string]string) (string, *schema.TableRule) {
rules:
	for i := range m.Table {
		rule := &m.Table[i]
		for _, c := range rule.When {
			if attributes[c.Attribute] != c.Value {
				continue rules
			}
		}
		var name strings.Builder
		for _, part := range rule.Name.Parts {
			value, present := attributes[part.Attribute]
			if part.Attribute != "" && !present {
				continue rules
			}
			name.WriteString(part.Literal + value)
		}
		return name.String(), rule
	}
	return "", nil
}
