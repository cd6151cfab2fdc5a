package schemaprocessor

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAttributes(t *testing.T) {
	r := small(t)
	f := func(want string, attributes ...any) {
		t.Helper()
		md := gauge("sglang", "rl.score", "1", 1, attributes...)
		got, err := newTest(t, r, metricsSignal, nil).processMetrics(t.Context(), md)
		require.NoError(t, err)
		_, rest, _ := strings.Cut(lines(got)[0], "rl.score Gauge 1 1")
		assert.Equal(t, want, strings.TrimSpace(rest))
	}
	// Every type made to fit, and what is the type already.
	f("rl.step=int:3", "rl.step", "3")
	f("rl.step=int:3", "rl.step", 3.0)
	f("rl.step=int:-3", "rl.step", -3)
	f("rl.ratio=double:0.5", "rl.ratio", "0.5")
	f("rl.ratio=double:2", "rl.ratio", 2)
	f("rl.flag=bool:true", "rl.flag", "True")
	f("rl.flag=bool:false", "rl.flag", 0)
	f("rl.note=3", "rl.note", 3)
	f("rl.note=true", "rl.note", true)
	f(`rl.list=slice:["a"]`, "rl.list", []any{"a"})
	// Empty text is no number: it is left out.
	f("", "rl.step", "")
	f("rl.note=", "rl.note", "")
	// Aliases, and which of several wins.
	f("rl.step=int:3", "step", 3)
	f("rl.step=int:3", "global_step", "3")
	f("rl.step=int:3", "global_step", 3, "step", 3)
	f("global_step=int:4 rl.step=int:3", "global_step", 4, "step", 3)
	f("rl.step=int:3 step=int:4", "rl.step", 3, "step", 4)
	f("rl.step=int:3", "rl.step", 3, "step", "3")
	f("rl.run.id=r", "run_id", "r")
	// A key that means something itself stays beside the one that it stands for.
	f("rl.run.id=w wandb.run.id=w", "wandb.run.id", "w")
	f("rl.run.id=r wandb.run.id=w", "wandb.run.id", "w", "run_id", "r")
	// "rank" is anybody's word: what is no number is no rank.
	f("rank=gold", "rank", "gold")
	f("rl.rank=int:3", "rank", "3")
}

// The producer's values become ours, and the labels that chose the metric are gone.
func TestAMetricIsSplitByItsLabels(t *testing.T) {
	md := gauge("sglang", "tokens_total", "", 1, "mode", "decode")
	m := md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0)
	for i, mode := range []string{"compute", "cache", "decode", "elsewhere"} {
		p := m.Gauge().DataPoints().AppendEmpty()
		p.SetDoubleValue(float64(i + 2))
		p.Attributes().PutStr("mode", mode)
	}
	m.Gauge().DataPoints().AppendEmpty().SetDoubleValue(9)
	p := newTest(t, small(t), metricsSignal, nil)
	got, err := p.processMetrics(t.Context(), md)
	require.NoError(t, err)
	assert.Equal(t, []string{
		"rl.tokens.output Gauge {token} 1",
		"rl.tokens.output Gauge {token} 4",
		"rl.tokens.prompt Gauge {token} 2 rl.tier=none",
		"rl.tokens.prompt Gauge {token} 3 rl.tier=device",
		"tokens_total Gauge  5 mode=elsewhere",
		"tokens_total Gauge  9",
	}, lines(got))
	md = gauge("sglang", "prompt_total", "", 1, "source", "local_cache_hit")
	got, err = p.processMetrics(t.Context(), md)
	require.NoError(t, err)
	assert.Equal(t, []string{"rl.tokens.prompt Gauge {token} 1 rl.tier=device"}, lines(got))
}
