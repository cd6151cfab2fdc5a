package mapping

import (
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/exposition"
)

// A page that is like the one before is not looked at again: each series stays what it was found to be, its lines need no
// lexer, and the points are the same.
func TestSamePageAgain(t *testing.T) {
	found, err := filepath.Glob(filepath.Join("testdata", "pages", "*.prom"))
	require.NoError(t, err)
	for _, name := range found {
		body, err := os.ReadFile(name)
		require.NoError(t, err)
		target, other := newTarget(t, nil), newTarget(t, nil)
		target.Map(page(string(body)), noon())
		other.Map(page(string(body)), noon())
		before := maps.Clone(target.series)
		other.memory = exposition.NewMemory()
		want, wantReport := other.Map(page(string(body)), noon().Add(time.Minute))
		got, report := target.Map(page(string(body)), noon().Add(time.Minute))
		assert.Equal(t, render(want), render(got), name)
		assert.Equal(t, *wantReport, *report, name)
		assert.Len(t, target.series, report.Samples, "%s has no line twice", name)
		for hash, s := range target.series {
			assert.Same(t, before[hash], s, name)
		}
	}
}

// Lines may come, go and change places.
func TestOtherPageThanBefore(t *testing.T) {
	target := newTarget(t, nil)
	f := func(want float64, body string) {
		metrics, _ := target.Map(page(body), noon())
		assert.Contains(t, render(metrics), "inference.tokens.output{} sum {token} = "+strconv.FormatFloat(want, 'g', -1, 64)+" ")
	}
	f(10, abortions(1)+decoded(10)+prompted(3))
	f(11, decoded(11)+prompted(4)+abortions(2))
	f(12, prompted(4)+decoded(12))
	f(13, prompted(4)+queued("1", 2, 3)+decoded(13))
	f(14, "sglang:realtime_tokens_total{mode=\"decode\"} 14\n")
	f(15, decoded(15))
	f(16, "# TYPE sglang:cache_hit_rate gauge\nsglang:cache_hit_rate 1\n"+decoded(16))
	f(17, "# TYPE sglang:cache_hit_rate gauge\nsglang:cache_hit_rate 1\n"+decoded(17))
}
