package mapping

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/exposition"
)

var update = flag.Bool("update", false, "write the golden files")

func newTarget(t testing.TB, change func(*Options)) *Target {
	t.Helper()
	o := DefaultOptions()
	o.ScopeName = "engine"
	if change != nil {
		change(&o)
	}
	m, err := New(o)
	require.NoError(t, err)
	return m.NewTarget(Identity{Host: "10.0.0.7", Port: 30000, Attributes: pcommon.NewMap()})
}

func page(body string) *exposition.Reader {
	return exposition.NewReader([]byte(body), "text/plain", exposition.DefaultLimits())
}

// Pages that others recorded, where they are beside the repository; what they become is reviewed and committed.
func TestRecordedPages(t *testing.T) {
	samples := filepath.Join("..", "..", "..", "..", "..", "shared", "samples")
	found, err := filepath.Glob(filepath.Join(samples, "*.prom"))
	require.NoError(t, err)
	if len(found) == 0 {
		t.Log("no recorded pages beside the repository: nothing to compare")
	}
	for _, name := range found {
		base := filepath.Base(name)
		t.Run(base, func(t *testing.T) {
			body, err := os.ReadFile(name)
			require.NoError(t, err)
			metrics, _ := newTarget(t, nil).Map(page(string(body)), noon())
			golden(t, base[:len(base)-len(".prom")]+".txt", render(metrics))
		})
	}
}

// Each family of a live vLLM 0.26 means something, or is known to repeat others.
func TestFamiliesOfLiveVLLM(t *testing.T) {
	body, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "..", "shared", "samples", "vllm_v0.26.0_metric_families.txt"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Log("no list of families beside the repository: nothing to compare")
		return
	}
	require.NoError(t, err)
	kinds := map[string]exposition.Type{"gauge": exposition.Gauge, "counter": exposition.Counter, "histogram": exposition.Histogram}
	m := newTarget(t, nil).mapper
	for line := range strings.Lines(string(body)) {
		name, kind, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || name == "#" {
			continue
		}
		f := m.family(name, kinds[kind])
		if name == "vllm:prompt_tokens_cached_total" {
			assert.Equal(t, DropDenied, f.reason)
			continue
		}
		assert.True(t, f.reason == kept && (f.mappings != nil || f.content), line)
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "recorded", name)
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}
