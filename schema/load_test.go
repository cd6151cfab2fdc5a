package schema

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files")

const manifest = "semconv_version: 1.2.3\nschema_base_url: https://example.com/schemas/\n"

// The golden file is the list to read when a table name is in question: every metric, every rule.
func TestTableNames(t *testing.T) {
	r, err := Load()
	require.NoError(t, err)
	var b strings.Builder
	for _, m := range r.Metrics() {
		if len(m.Table) == 0 {
			fmt.Fprintf(&b, "%s (%s): its own name\n", m.Name, m.Unit)
		}
		for _, rule := range m.Table {
			var when string
			for _, c := range rule.When {
				when += fmt.Sprintf(" %s=%s", c.Attribute, c.Value)
			}
			fmt.Fprintf(&b, "%s (%s)%s: %s (%s) *%g\n", m.Name, m.Unit, when, rule.Name, rule.Unit, rule.Scale)
		}
	}
	golden := filepath.Join("testdata", "table.golden")
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(b.String()), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	assert.Equal(t, string(want), b.String(), "go test ./schema -update writes the golden file")
}

// The names that the table's owner uses, and what a ratio of 0.25 is worth under them.
func TestTheOwnersNames(t *testing.T) {
	r, err := Load()
	require.NoError(t, err)
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
}

// A point without the attribute that its name needs keeps the canonical name.
func TestNoRuleWithoutItsAttributes(t *testing.T) {
	r, err := Load()
	require.NoError(t, err)
	_, rule := tableName(r.Metric("system.network.io_rate"), map[string]string{"network.io.direction": "transmit"})
	assert.Nil(t, rule)
	assert.Nil(t, r.Metric("no.such.metric"))
}

func TestVersionAndSchemaURL(t *testing.T) {
	r, err := load(fstest.MapFS{manifestName: {Data: []byte(manifest)}})
	require.NoError(t, err)
	assert.Equal(t, "1.2.3", r.Version())
	assert.Equal(t, "https://example.com/schemas/1.2.3", r.SchemaURL())

	_, err = load(fstest.MapFS{})
	assert.EqualError(t, err, "schema registry: registry_manifest.yaml:1: semconv_version is missing")
}

// Each file in testdata/bad says in its first line which error it must give.
func TestBadRegistryNamesFileAndLine(t *testing.T) {
	names, err := filepath.Glob(filepath.Join("testdata", "bad", "*.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, names)
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".yaml"), func(t *testing.T) {
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			first, _, _ := strings.Cut(string(text), "\n")
			want, found := strings.CutPrefix(first, "# want: ")
			require.True(t, found)
			_, err = load(fstest.MapFS{manifestName: {Data: []byte(manifest)}, "bad.yaml": {Data: text}})
			assert.ErrorContains(t, err, "schema registry: "+want)
		})
	}
}

// Whatever stands in a registry file, an error names it, and without an error every rule can be used.
func FuzzLoad(f *testing.F) {
	names, err := filepath.Glob(filepath.Join("testdata", "bad", "*.yaml"))
	require.NoError(f, err)
	for _, name := range append(names, filepath.Join("registry", "host.yaml")) {
		text, err := os.ReadFile(name)
		require.NoError(f, err)
		f.Add(text)
		f.Add(text[:len(text)/2])
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := load(fstest.MapFS{manifestName: {Data: []byte(manifest)}, "a.yaml": {Data: text}})
		if err != nil {
			if !strings.Contains(err.Error(), "a.yaml:") {
				t.Errorf("the error does not name the file: %v", err)
			}
			return
		}
		for _, m := range r.Metrics() {
			for _, rule := range m.Table {
				for _, part := range rule.Name.Parts {
					if part.Attribute != "" && m.attribute(part.Attribute) == nil {
						t.Errorf("%s: rule %s needs an attribute that the metric lacks", m.Name, rule.Name)
					}
				}
			}
		}
	})
}

// tableName applies the rules as TableRule documents them.
func tableName(m *Metric, attributes map[string]string) (string, *TableRule) {
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
