package schemaprocessor

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

func TestWhoseNames(t *testing.T) {
	r := shipped(t)
	f := func(want string, md pmetric.Metrics, rules ...ProducerConfig) {
		t.Helper()
		p := newTest(t, r, metricsSignal, func(c *Config) { c.Producers = rules })
		got, err := p.processMetrics(t.Context(), md)
		require.NoError(t, err)
		m := got.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics()
		assert.Equal(t, want, m.At(m.Len()-1).Name())
	}
	with := func(md pmetric.Metrics, resource ...any) pmetric.Metrics {
		put2(md.ResourceMetrics().At(0).Resource().Attributes(), resource)
		return md
	}
	and := func(md pmetric.Metrics, more ...string) pmetric.Metrics {
		for _, name := range more {
			m := md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().AppendEmpty()
			m.SetName(name)
			m.SetEmptyGauge().DataPoints().AppendEmpty().SetDoubleValue(1)
		}
		return md
	}
	// train/loss is slime's and NeMo-RL's; timing/step is SkyRL's alone.
	loss := func(scope string) pmetric.Metrics { return gauge(scope, "train/loss", "", 1) }
	f("rl.loss.total", loss("slime"))
	f("rl.loss.total", with(loss("bridge"), "service.name", "slime"))
	f("rl.loss.total", with(loss("bridge"), "rl.system", "nemo-rl"))
	f("train/loss", loss("bridge"))
	f("rl.clip.fraction", and(loss("bridge"), "train/pg_clipfrac"))
	f("rl.step.duration", gauge("bridge", "timing/step", "", 1))
	f("timing/step", gauge("slime", "timing/step", "", 1))
	// Only Telescope calls the entropy by this plain word, but anybody may.
	f("entropy", gauge("bridge", "entropy", "", 1))
	f("inference.requests.paused", gauge("bridge", "sglang_num_paused_reqs", "", 1))
	f("inference.requests.running", gauge("bridge", "ray_vllm_num_requests_running", "", 1))
	f("rl.entropy", gauge("telescope", "entropy", "", 1))
	// Names that are nobody's outvote one that may be chance; the registry's own names do not vote.
	f("timing/step", and(gauge("bridge", "a", "", 1), "b", "timing/step"))
	f("rl.step.duration", and(gauge("bridge", "rl.reward", "1", 1), "rl.score", "timing/step"))

	rule := ProducerConfig{Producer: "skyrl", Scope: "br*"}
	f("rl.step.duration", and(gauge("bridge", "a", "", 1), "b", "timing/step"), rule)
	f("timing/step", and(gauge("other", "a", "", 1), "b", "timing/step"), rule)
	f("timing/step", gauge("bridge", "timing/step", "", 1), ProducerConfig{Producer: noProducer, Scope: "br*"})
	f("system.memory.linux.available", gauge("github.com/x/receiver/hostmetricsreceiver/internal/memory", "system.linux.memory.available", "By", 1),
		ProducerConfig{Producer: "host_metrics", Scope: "*/hostmetricsreceiver/*"})
	service := ProducerConfig{Producer: "skyrl", Service: "*-trainer", Attribute: "team", Value: "rl"}
	f("rl.step.duration", with(gauge("slime", "timing/step", "", 1), "service.name", "a-trainer", "team", "rl"), service)
	f("timing/step", with(gauge("slime", "timing/step", "", 1), "service.name", "a-trainer", "team", "web"), service)
	f("timing/step", with(gauge("slime", "timing/step", "", 1), "service.name", "trainer", "team", "rl"), service)
}

// Two frameworks under one resource: each one's words for what identifies the sender are known.
func TestAResourceInTheWordsOfEachScope(t *testing.T) {
	md := gauge("slime", "train/loss", "", 1)
	other := md.ResourceMetrics().At(0).ScopeMetrics().AppendEmpty()
	other.Scope().SetName("verl")
	other.Metrics().AppendEmpty().SetName("actor/loss")
	put2(md.ResourceMetrics().At(0).Resource().Attributes(), []any{"project", "math", "experiment_name", "a", "rank", "3"})
	got, err := newTest(t, shipped(t), metricsSignal, nil).processMetrics(t.Context(), md)
	require.NoError(t, err)
	assert.Equal(t, "rl.experiment.name=a rl.project=math rl.rank=int:3", show(got.ResourceMetrics().At(0).Resource().Attributes()))
}

func TestGlob(t *testing.T) {
	f := func(pattern, text string, want bool) {
		t.Helper()
		assert.Equal(t, want, glob(pattern, text), "%s %s", pattern, text)
	}
	f("", "", true)
	f("a", "a", true)
	f("a", "ab", false)
	f("*", "", true)
	f("*", "a/b.c", true)
	f("a*", "ab", true)
	f("*b", "ab", true)
	f("a*a", "a", false)
	f("a*b*c", "axxbyyc", true)
	f("a*b*c", "acb", false)
	f("*/hostmetricsreceiver/*", "github.com/x/receiver/hostmetricsreceiver/internal/cpu", true)
}
