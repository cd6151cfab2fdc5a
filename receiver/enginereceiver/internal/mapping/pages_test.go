package mapping

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// testdata/pages has a page per engine and release, written after the engines' sources, and beside it what must become of
// it: each line is worked out by hand from the page and from what the registry says that the name means.
func TestPages(t *testing.T) {
	for _, name := range pages(t) {
		t.Run(name, func(t *testing.T) {
			metrics, _ := newTarget(t, nil).Map(page(read(t, name+".prom")), noon())
			assert.Equal(t, wanted(t, name), strings.Split(strings.TrimSuffix(render(metrics), "\n"), "\n"))
		})
	}
}

func pages(t *testing.T) (all []string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join("testdata", "pages", "*.prom"))
	require.NoError(t, err)
	require.NotEmpty(t, found)
	for _, path := range found {
		all = append(all, strings.TrimSuffix(filepath.Base(path), ".prom"))
	}
	return all
}

func read(t *testing.T, name string) string {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("testdata", "pages", name))
	require.NoError(t, err)
	return string(body)
}

func wanted(t *testing.T, name string) []string {
	t.Helper()
	lines := strings.Split(read(t, name+".want"), "\n")
	lines = slices.DeleteFunc(lines, func(line string) bool { return line == "" || strings.HasPrefix(line, "#") })
	slices.Sort(lines)
	return lines
}
