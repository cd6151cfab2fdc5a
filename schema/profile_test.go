package schema_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pitwall-otel/pitwall/schema"
)

// small is a registry with every kind of source.
func small(t testing.TB) *schema.Registry {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "small.yaml"))
	require.NoError(t, err)
	return of(t, string(text))
}

// text shows mappings on one line: what it becomes, scale, the labels it needs, the attributes it gets.
func text(mappings []schema.Mapping) string {
	var all []string
	for _, m := range mappings {
		name := ""
		switch {
		case m.Metric != nil:
			name = m.Metric.Name
		case m.Span != nil:
			name = m.Span.Name
		case m.Event != nil:
			name = m.Event.Name
		}
		if m.Scale != 1 {
			name += fmt.Sprintf(" *%g", m.Scale)
		}
		for _, c := range m.When {
			name += fmt.Sprintf(" if %s=%s", c.Attribute, c.Value)
		}
		for _, s := range m.Set {
			name += fmt.Sprintf(" %s=%s", s.Attribute.Name, s.Value)
		}
		all = append(all, name)
	}
	return strings.Join(all, "; ")
}

func TestProfileMetric(t *testing.T) {
	r := small(t)
	f := func(producer, name string, kind schema.SourceType, want string) {
		t.Helper()
		assert.Equal(t, want, text(r.Profile(producer).Metric(name, kind)), "%s:%s as %s", producer, name, kind)
	}
	// One name, and its unit.
	f("verl", "critic/score", schema.Gauge, "rl.score *0.01")
	f("verl", "critic/scores", schema.Gauge, "")
	f("slime", "critic/score", schema.Gauge, "")
	// Enums take their members, values their keys, everything else is unknown.
	f("verl", "critic/score/mean", schema.Gauge, "rl.score rl.stat=mean")
	f("verl", "critic/score/median", schema.Gauge, "")
	f("verl", "val/avg", schema.Gauge, "rl.score rl.stat=mean")
	f("verl", "val/mean", schema.Gauge, "")
	// Free text ends at "/"; ints are digits; set comes first.
	f("verl", "eval/math/max", schema.Gauge, "rl.eval rl.dataset=math rl.stat=max")
	f("verl", "eval/a/b/max", schema.Gauge, "")
	f("verl", "eval//max", schema.Gauge, "")
	f("verl", "eval/"+strings.Repeat("x", 512)+"/max", schema.Gauge, "")
	f("verl", "eval/math/count", schema.Gauge, "rl.score rl.dataset=math rl.layer=0")
	f("verl", "layer_12", schema.Gauge, "rl.score rl.stat=max rl.layer=12")
	f("verl", "layer_x", schema.Gauge, "")
	f("verl", "layer_", schema.Gauge, "")
	// The more literal name wins, wherever it stands in the file.
	f("slime", "eval/step", schema.Gauge, "rl.score rl.stat=mean")
	f("slime", "eval/gsm8k", schema.Gauge, "rl.eval rl.dataset=gsm8k")
	f("slime", "eval/gsm8k-layer8", schema.Gauge, "rl.eval rl.dataset=gsm8k rl.layer=8")
	f("slime", "eval/a-layer8-layer9", schema.Gauge, "rl.eval rl.dataset=a-layer8 rl.layer=9")
	f("slime", "eval/gsm8k-layerx", schema.Gauge, "rl.eval rl.dataset=gsm8k-layerx")
	// The type on the wire decides between two.
	f("sglang", "latency", schema.Histogram, "rl.time *0.001")
	f("sglang", "latency", schema.Gauge, "rl.score")
	f("sglang", "latency", schema.Counter, "")
	// The producer's own label decides, per point.
	f("sglang", "tokens", schema.Counter, "rl.score if mode=decode; rl.time if mode=prefill rl.dataset=d")
	// What is derived is not renamed.
	f("sglang", "ratio", schema.Gauge, "")
}

func TestProfileOfAVersion(t *testing.T) {
	r := small(t)
	f := func(version, want string) {
		t.Helper()
		assert.Equal(t, want, text(r.Profile("vllm").At(version).Metric("usage", schema.Gauge)), version)
	}
	f("0.1", "rl.time")
	f("0.12", "rl.time")
	f("0.13", "rl.score")
	f("1", "rl.score")
	f("", "rl.score")
	assert.Equal(t, "rl.score", text(r.Profile("vllm").Metric("usage", schema.Gauge)), "the newest meaning")
	assert.Equal(t, "rl.time", text(r.Profile("vllm").At("7").Metric("old_name", schema.Gauge)), "a name that only the past had is still known")
}

func TestProfileSpanAndEvent(t *testing.T) {
	p := small(t).Profile("roll")
	assert.Equal(t, "rl.rollout", text(p.Span("generate/rollout")))
	assert.Equal(t, "rl.rollout rl.dataset=math", text(p.Span("generate/rollout/math")))
	assert.Empty(t, p.Span("generate"))
	assert.Equal(t, "rl.state", text(p.Event("state changed")))
	assert.Empty(t, p.Event("generate/rollout"))
}

func TestProfileAttribute(t *testing.T) {
	r := small(t)
	score, time := r.Metric("rl.score"), r.Metric("rl.time")
	f := func(producer, key, value string, metric *schema.Metric, want string) {
		t.Helper()
		got := ""
		if m, ok := r.Profile(producer).Attribute(key, metric); ok {
			translated, known := m.Value(value)
			got = fmt.Sprintf("%s=%s", m.Name, translated)
			if !known {
				got = m.Name + " has no such value"
			}
		}
		assert.Equal(t, want, got)
	}
	f("sglang", "status", "OK", score, "rl.stat=mean")
	f("sglang", "status", "bad", score, "rl.stat has no such value")
	f("sglang", "status", "OK", time, "rl.status=OK")
	f("sglang", "status", "OK", nil, "")
	f("sglang", "model_name", "m", score, "")
	// What identifies an entity may stand anywhere, and has aliases of any producer.
	f("sglang", "run", "7", nil, "rl.run.id=7")
	f("sglang", "run", "7", time, "rl.run.id=7")
	f("", "run", "7", nil, "rl.run.id=7")
	f("vllm", "run_id", "7", nil, "rl.run.id=7")

	first, _ := r.Profile("vllm").Attribute("run", nil)
	second, _ := r.Profile("vllm").Attribute("run_id", nil)
	assert.Less(t, first.Preference, second.Preference)
}

// A known name costs a look-up: the processor asks once per metric of a request.
func TestExactNamesDoNotAllocate(t *testing.T) {
	p := load(t).Profile("verl")
	require.NotEmpty(t, p.Metric("actor/pg_loss", schema.Gauge))
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		p.Metric("actor/pg_loss", schema.Gauge)
		p.Attribute("run_id", nil)
	}))
}

func BenchmarkProfileMetric(b *testing.B) {
	r := load(b)
	for _, c := range []struct{ name, producer, metric string }{
		{"exact", "verl", "actor/pg_loss"},
		{"expanded", "verl", "critic/rewards/mean"},
		{"captured", "verl", "rollout/moe/max_vio/layer_17"},
		{"unknown", "verl", "no/such/name/as/this"},
	} {
		p := r.Profile(c.producer)
		b.Run(c.name, func(b *testing.B) {
			if (p.Metric(c.metric, schema.Gauge) == nil) != (c.name == "unknown") {
				b.Fatalf("%s is not what the benchmark is for", c.metric)
			}
			b.ReportAllocs()
			for range b.N {
				p.Metric(c.metric, schema.Gauge)
			}
		})
	}
}
