package source

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const manifest = "semconv_version: 1.2.3\nschema_base_url: https://example.com/schemas/\n"

func TestTheRegistryIsSound(t *testing.T) {
	_, err := Load(os.DirFS(filepath.Join("..", "registry")))
	require.NoError(t, err)
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
			_, err = Load(fstest.MapFS{manifestName: {Data: []byte(manifest)}, "bad.yaml": {Data: text}})
			assert.EqualError(t, err, "schema registry: "+want)
		})
	}
}

func TestTheWholeForm(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "whole.yaml"))
	require.NoError(t, err)
	r, err := Load(fstest.MapFS{manifestName: {Data: []byte(manifest)}, "whole.yaml": {Data: text}})
	require.NoError(t, err)
	assert.Len(t, r.Metrics, 2)
	assert.Len(t, r.Entities, 1)
	assert.Len(t, r.Spans, 1)
	assert.Len(t, r.Events, 1)
}
