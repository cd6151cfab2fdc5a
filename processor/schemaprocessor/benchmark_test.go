package schemaprocessor

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

// A request of 20 metrics with 50 points each, as a trainer with many layers sends it. Translation changes a request, so
// what is translated is copied before; the copying is not part of the processor's time.
const (
	benchMetrics = 20
	benchPoints  = 50
)

func benchRequest(url, scope string, name func(int) (string, string), attributes ...any) pmetric.Metrics {
	md := pmetric.NewMetrics()
	rm := md.ResourceMetrics().AppendEmpty()
	put2(rm.Resource().Attributes(), []any{"rl.run.id", "r", "rl.role", "trainer", "rl.rank", int64(3), "host.name", "n1", "service.name", "t"})
	sm := rm.ScopeMetrics().AppendEmpty()
	sm.Scope().SetName(scope)
	sm.SetSchemaUrl(url)
	for i := range benchMetrics {
		m := sm.Metrics().AppendEmpty()
		n, unit := name(i)
		m.SetName(n)
		m.SetUnit(unit)
		points := m.SetEmptyGauge().DataPoints()
		for j := range benchPoints {
			p := points.AppendEmpty()
			p.SetDoubleValue(float64(j))
			put2(p.Attributes(), attributes)
		}
	}
	return md
}

func BenchmarkProcess(b *testing.B) {
	r := shipped(b)
	known := []string{"rl.reward", "rl.score", "rl.advantage", "rl.response.length", "rl.prompt.length"}
	unitOf := func(name string) (string, string) { return name, r.Metric(name).Unit }
	run := func(name string, changes bool, md pmetric.Metrics, fresh func(i int, md pmetric.Metrics)) {
		b.Run(name, func(b *testing.B) {
			p := newTest(b, r, metricsSignal, nil)
			var copies [64]pmetric.Metrics
			b.ReportAllocs()
			for i := range b.N {
				in := md
				if changes {
					if i%len(copies) == 0 {
						b.StopTimer()
						for j := range copies {
							copies[j] = pmetric.NewMetrics()
							md.CopyTo(copies[j])
							if fresh != nil {
								fresh(i+j, copies[j])
							}
						}
						runtime.GC()
						b.StartTimer()
					}
					in = copies[i%len(copies)]
				}
				if _, err := p.processMetrics(b.Context(), in); err != nil {
					b.Fatal(err)
				}
			}
			points := float64(b.N) * benchMetrics * benchPoints
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/points, "ns/point")
		})
	}
	run("known", false, benchRequest(r.SchemaURL(), "sdk", func(i int) (string, string) { return unitOf(known[i%len(known)]) },
		"rl.step", int64(7), "rl.stat", "mean", "rl.rank.global", int64(3)), nil)
	run("mapped", true, benchRequest("", "verl", func(i int) (string, string) {
		return []string{"critic/score/mean", "critic/rewards/max", "response_length/mean", "actor/pg_loss", "timing_s/gen"}[i%5], ""
	}, "step", int64(7)), nil)
	run("converted", true, benchRequest("", "verl", func(int) (string, string) { return "actor/perf/max_memory_allocated_gb", "" },
		"rl.step", int64(7)), nil)
	run("unknown", false, benchRequest("", "sdk", func(i int) (string, string) { return fmt.Sprintf("my/own/%d", i), "" },
		"rl.step", int64(7)), nil)
	run("always_new", true, benchRequest("", "sdk", func(i int) (string, string) { return fmt.Sprintf("my/own/%d", i), "" }, "rl.step", int64(7)),
		func(i int, md pmetric.Metrics) {
			for j, m := range md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().All() {
				m.SetName(fmt.Sprintf("my/own/%d/%d", i, j))
			}
		})
}

// A known metric costs nothing but time.
func TestAKnownMetricDoesNotAllocate(t *testing.T) {
	r := shipped(t)
	p := newTest(t, r, metricsSignal, nil)
	md := benchRequest(r.SchemaURL(), "sdk", func(int) (string, string) { return "rl.reward", "1" }, "rl.step", int64(7), "rl.stat", "mean")
	small := benchRequest(r.SchemaURL(), "sdk", func(int) (string, string) { return "rl.reward", "1" }, "rl.step", int64(7), "rl.stat", "mean")
	for _, m := range small.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().All() {
		n := 0
		m.Gauge().DataPoints().RemoveIf(func(pmetric.NumberDataPoint) bool { n++; return n > 1 })
	}
	allocations := func(md pmetric.Metrics) float64 {
		return testing.AllocsPerRun(50, func() {
			_, err := p.processMetrics(t.Context(), md)
			require.NoError(t, err)
		})
	}
	// 1,000 points in 20 metrics allocate as much as 20 points in 20 metrics: what a request and a scope need.
	require.Equal(t, allocations(small), allocations(md))
	require.LessOrEqual(t, allocations(md), 20.0)
}
