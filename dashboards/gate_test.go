package dashboards

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/cog/variants"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pitwall-otel/pitwall/dashboards/internal/board"
	"github.com/pitwall-otel/pitwall/dashboards/internal/lint"
	"github.com/pitwall-otel/pitwall/schema"
)

// committed are the dashboards' files.
func committed(t *testing.T) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob("*.json")
	require.NoError(t, err)
	require.Len(t, names, 9, "the dashboards that are shipped")
	files := map[string][]byte{}
	for _, name := range names {
		files[name], err = os.ReadFile(name)
		require.NoError(t, err)
	}
	return files
}

func parsed(t *testing.T) []*lint.Board {
	t.Helper()
	var boards []*lint.Board
	for name, text := range committed(t) {
		b, err := lint.Parse(name, text)
		require.NoError(t, err)
		boards = append(boards, b)
	}
	return boards
}

func TestCommittedIsWhatTheGeneratorWrites(t *testing.T) {
	out := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(out, "alerts"), 0o700)) // the rules, which are written beside them
	output, err := exec.CommandContext(t.Context(), "go", "run", "./generate", "-out", out).CombinedOutput()
	require.NoError(t, err, "%s", output)
	files := committed(t)
	written, err := filepath.Glob(filepath.Join(out, "*.json"))
	require.NoError(t, err)
	assert.Len(t, written, len(files))
	for name, text := range files {
		now, err := os.ReadFile(filepath.Join(out, name))
		require.NoError(t, err)
		assert.Equal(t, string(now), string(text), "%s is not what the generator writes: run `make generate` and commit", name)
	}
}

func TestRulesHold(t *testing.T) {
	registry, err := schema.Load()
	require.NoError(t, err)
	assert.Empty(t, strings.Join(lint.Check(parsed(t), registry), "\n"))
}

// Grafana's own types, through its Go SDK: unknown fields, missing ones, wrong types. dashboards/types has the stronger check with
// the TypeScript types.
func TestGrafanaReadsThem(t *testing.T) {
	plugins.RegisterDefaultPlugins()
	unmarshal := func(raw []byte) (variants.Dataquery, error) {
		var query board.Query
		decoder := json.NewDecoder(strings.NewReader(string(raw)))
		decoder.DisallowUnknownFields()
		return query, decoder.Decode(&query)
	}
	cog.NewRuntime().RegisterDataqueryVariant(variants.DataqueryConfig{
		Identifier: board.DatasourceType, DataqueryUnmarshaler: unmarshal, StrictDataqueryUnmarshaler: unmarshal,
	})
	for name, text := range committed(t) {
		var d dashboard.Dashboard                                                //nolint:staticcheck // the newer form cannot be provisioned by file
		if err := d.UnmarshalJSONStrict(text); err != nil && err.Error() != "" { // an empty list of errors is not nil
			t.Errorf("%s: %v", name, err)
		}
	}
}
