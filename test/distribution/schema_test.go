package distribution

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pitwall-otel/pitwall/schema"
	"github.com/pitwall-otel/pitwall/schema/source"
)

// A name that stands in the code as text is a name that the registry can no longer change: schema/names has constants.
// Tests say what must come out, so they spell names.
func TestNoMetricNameOutsideTheRegistry(t *testing.T) {
	registry, err := schema.Load()
	require.NoError(t, err)
	for _, name := range goFiles(t) {
		if strings.HasPrefix(name, "schema/") || strings.HasPrefix(name, "test/") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		ast.Inspect(parse(t, name, parser.SkipObjectResolution), func(node ast.Node) bool {
			literal, ok := node.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(literal.Value)
			require.NoError(t, err)
			assert.Nil(t, registry.Metric(text), "%s spells out the metric %q: use schema/names", name, text)
			return true
		})
	}
}

// What the shipped configurations call a metric is one of the registry, or one of the receiver that the registry names as
// a source.
func TestConfigurationsUseNamesOfTheRegistry(t *testing.T) {
	registry, err := source.Load(os.DirFS(filepath.Join(root, "schema", "registry")))
	require.NoError(t, err)
	known := map[string]bool{}
	for _, m := range registry.Metrics {
		known[m.Name] = true
		for _, s := range m.Sources {
			known[s.Name.String()] = true
		}
	}
	for _, a := range registry.Attributes {
		known[a.Name] = true
	}
	// A key with a colon is the receiver's own setting; a dot at the end is half a name, which a pattern completes.
	names := regexp.MustCompile(`\b(?:system|rl|hw|nvidia|inference|gen_ai|pitwall)\.[a-z0-9_.]*[a-z0-9_]\b[.:]?`)
	found := 0
	for _, file := range files(t) {
		if !strings.HasPrefix(file, "config/") || !strings.HasSuffix(file, ".yaml") {
			continue
		}
		for i, line := range strings.Split(read(t, file), "\n") {
			line, _, _ = strings.Cut(line, " #")
			for _, name := range names.FindAllString(line, -1) {
				if !strings.HasSuffix(name, ":") && !strings.HasSuffix(name, ".") {
					found++
					assert.True(t, known[name], "%s:%d: the registry does not know %q", file, i+1, name)
				}
			}
		}
	}
	assert.Greater(t, found, 20, "names in the configurations; the expression finds them no more")
}
