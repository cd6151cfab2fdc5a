package schemaprocessor

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pitwall-otel/pitwall/schema"
)

func TestCache(t *testing.T) {
	c := newCache(100)
	assert.Len(t, c.places, 128)
	of := func(i int) *question { return &question{name: fmt.Sprint("n", i), unit: "1"} }
	plans := map[int]*plan{}
	for i := range 10_000 {
		plans[i] = &plan{}
		assert.Nil(t, c.get(of(i)))
		c.put(of(i), plans[i])
		require.Same(t, plans[i], c.get(of(i)))
	}
	kept := 0
	for i := range 10_000 {
		if found := c.get(of(i)); found != nil {
			require.Same(t, plans[i], found)
			kept++
		}
	}
	assert.Equal(t, 128, kept)
	// Everything that a plan depends on tells questions apart.
	q := question{1, current, schema.Gauge, "n", "s"}
	c.put(&q, &plan{})
	for _, other := range []question{
		{2, current, schema.Gauge, "n", "s"},
		{1, newer, schema.Gauge, "n", "s"},
		{1, current, schema.Counter, "n", "s"},
		{1, current, schema.Gauge, "m", "s"},
		{1, current, schema.Gauge, "n", "ms"},
	} {
		assert.Nil(t, c.get(&other))
	}
}

// 100,000 different names, and as many attribute keys, leave as much memory behind as 20,000.
func TestUnknownNamesDoNotGrowMemory(t *testing.T) {
	p := newTest(t, shipped(t), metricsSignal, nil)
	flood := func(from, to int) uint64 {
		t.Helper()
		for i := from; i < to; i++ {
			name := fmt.Sprintf("flood/%d/%s", i, strings.Repeat("x", 100))
			_, err := p.processMetrics(t.Context(), gauge("sdk", name, name, 1, name, "v", "rl.step", i))
			require.NoError(t, err)
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	first := flood(0, 20_000)
	last := flood(20_000, 100_000)
	assert.Less(t, last, first+2<<20)
	assert.Equal(t, 10_000, p.unknown.number())
}

// Requests come at the same time; what they say of one name is the same for all.
func TestConcurrentRequests(t *testing.T) {
	p := newTest(t, shipped(t), metricsSignal, func(c *Config) { c.CacheSize = 8 })
	f := readFixture(t, "testdata/producers/verl.yaml")
	want, err := p.processMetrics(t.Context(), f.request())
	require.NoError(t, err)
	var wait sync.WaitGroup
	for g := range 8 {
		wait.Go(func() {
			for i := range 50 {
				md := f.request()
				if g%2 == 0 {
					m := md.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics().AppendEmpty()
					m.SetName(fmt.Sprintf("own/%d/%d", g, i))
				}
				got, err := p.processMetrics(t.Context(), md)
				if !assert.NoError(t, err) {
					return
				}
				got.ResourceMetrics().RemoveIf(func(rm pmetric.ResourceMetrics) bool { return rm.Resource().Attributes().Len() == 0 })
				assert.Equal(t, lines(want), lines(got))
			}
		})
	}
	wait.Wait()
}
