package test

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pitwall-otel/pitwall/internal/collectortest"
)

// schemas is what the schema URLs of every version begin with.
const schemas = "https://pitwall-otel.github.io/schemas/"

// TestProducersNames sends what training frameworks and engines send, under their own names, units and attribute keys, and
// requires the rows that testdata/producers says. The framework is known from the service, the scope, rl.system, or from
// nothing but its names.
func TestProducersNames(t *testing.T) {
	c := collectortest.New(t, "config/single-node.yaml", quiet)
	c.Start()
	wants := map[string][]row{}
	f := func(producer, scope string, resource, point map[string]any, like row, tags map[string]any) {
		t.Helper()
		all := figures(t, producer)
		md := pmetric.NewMetrics()
		rm := md.ResourceMetrics().AppendEmpty()
		require.NoError(t, rm.Resource().Attributes().FromRaw(resource))
		sm := rm.ScopeMetrics().AppendEmpty()
		sm.Scope().SetName(scope)
		var want []row
		like.millis, like.device = stepStart/1_000_000, noDevice
		for _, figure := range all {
			figure.add(sm.Metrics(), stepStart, "", point)
			want = append(want, figure.rows(t, like, tags)...)
		}
		postMetrics(t, c, md)
		wants[like.run] = want
	}
	f("verl", "", map[string]any{"service.name": "verl", "run_id": "verl-7", "host.name": "node-1", "rl.role": "controller"},
		map[string]any{"step": 120},
		row{run: "verl-7", host: "node-1", step: 120}, map[string]any{"rl.role": "controller", "service.name": "verl"})
	f("slime", "slime", map[string]any{"wandb.run.id": "slime-7", "host.name": "node-2", "dl.rank": 3, "rl.role": "trainer"},
		map[string]any{"global_step": 121},
		row{run: "slime-7", host: "node-2", rank: 3, step: 121}, map[string]any{"rl.role": "trainer"})
	f("prime-rl", "", map[string]any{"rl.system": "prime-rl", "rl.run.id": "prime-7", "host.name": "node-3", "global_rank": 5},
		map[string]any{"rl.step": 122},
		row{run: "prime-7", host: "node-3", rank: 5, step: 122}, nil)
	f("sglang", "", map[string]any{"rl.run.id": "sglang-7", "host.name": "node-4", "replica": 2, "service.instance.id": "10.0.0.4:30000"},
		nil, row{run: "sglang-7", host: "node-4"}, map[string]any{"rl.replica.id": 2, "service.instance.id": "10.0.0.4:30000"})
	f("vllm", "", map[string]any{"rl.run.id": "vllm-7", "host.name": "node-5", "rl.role": "engine"},
		nil, row{run: "vllm-7", host: "node-5"}, map[string]any{"rl.role": "engine"})
	requireRuns(t, c, wants)
}

// requireRuns compares all rows of each run, and requires that nothing was quarantined.
func requireRuns(t *testing.T, c *collectortest.Collector, wants map[string][]row) {
	t.Helper()
	waitStored(t, c)
	for run, want := range wants {
		t.Run(run, func(t *testing.T) { requireRows(t, want, storedRows(t, c.Query, "run_id = '"+run+"'")) })
	}
	requireQuarantined(t, c, nil)
}

// TestSchemaVersions sends the same measurements under a producer's names without a schema, and under canonical names
// without one, as 1.0.0, and as a later minor version: the rows are the same. Units on the wire are converted.
func TestSchemaVersions(t *testing.T) {
	type measurement struct {
		name, unit string
		value      float64
		attributes map[string]any
	}
	producers := []measurement{
		{"actor/loss", "", 0.11, nil},
		{"actor/perf/max_memory_allocated_gb", "", 62.5, nil},
		{"timing_s/gen", "", 51.5, nil},
		{"timing_per_token_ms/gen", "", 0.7, nil},
		{"critic/rewards/max", "", 1, nil},
		{"val-core/openai/gsm8k/reward/mean@4", "", 0.71, nil},
		{"perf/mfu/actor", "", 0.413, nil},
	}
	evaluation := map[string]any{
		"rl.dataset": "gsm8k", "rl.dataset.namespace": "openai", "rl.eval.metric": "reward", "rl.k": 4, "rl.k.pick": "mean", "rl.stat": "mean",
	}
	canonical := []measurement{
		{"rl.loss.total", "1", 0.11, nil},
		{"rl.memory.peak", "By", 67108864000, map[string]any{"rl.memory.kind": "allocated"}},
		{"rl.phase.duration", "s", 51.5, map[string]any{"rl.phase": "rollout", "rl.state.name": "gen"}},
		{"rl.phase.token.duration", "s", 0.0007, map[string]any{"rl.phase": "rollout"}},
		{"rl.reward", "1", 1, map[string]any{"rl.stat": "max"}},
		{"rl.eval.score", "1", 0.71, evaluation},
		{"rl.mfu", "1", 0.413, map[string]any{"rl.phase": "actor_update"}},
	}
	otherUnits := []measurement{
		{"rl.loss.total", "", 0.11, nil},
		{"rl.memory.peak", "GiBy", 62.5, map[string]any{"rl.memory.kind": "allocated"}},
		{"rl.phase.duration", "ms", 51500, map[string]any{"rl.phase": "rollout", "rl.state.name": "gen"}},
		{"rl.phase.token.duration", "us", 700, map[string]any{"rl.phase": "rollout"}},
		{"rl.reward", "1", 1, map[string]any{"rl.stat": "max"}},
		{"rl.eval.score", "%", 71, evaluation},
		{"rl.mfu", "%", 41.3, map[string]any{"rl.phase": "actor_update"}},
	}
	want := func(run string) []row {
		rows := []row{
			{metric: "loss", unit: "1", value: "0.11"},
			{metric: "rl.memory.peak", unit: "By", value: "6.7108864e+10", tags: `{"rl.memory.kind":"allocated"}`},
			{metric: "rl.phase.duration", unit: "s", value: "51.5", tags: `{"rl.phase":"rollout","rl.state.name":"gen"}`},
			{metric: "rl.phase.token.duration", unit: "s", value: "0.0007", tags: `{"rl.phase":"rollout"}`},
			{metric: "rl.reward", unit: "1", value: "1", tags: `{"rl.stat":"max"}`},
			{metric: "rl.eval.score", unit: "1", value: "0.71", tags: `{"rl.dataset":"gsm8k","rl.dataset.namespace":"openai",` +
				`"rl.eval.metric":"reward","rl.k":4,"rl.k.pick":"mean","rl.stat":"mean"}`},
			{metric: "rl.mfu", unit: "1", value: "0.413", tags: `{"rl.phase":"actor_update"}`},
		}
		for i := range rows {
			r := &rows[i]
			r.millis, r.run, r.rank, r.device, r.step = stepStart/1_000_000, run, 3, noDevice, 12
		}
		return rows
	}

	c := collectortest.New(t, "config/single-node.yaml", quiet)
	c.Start()
	wants := map[string][]row{}
	f := func(run, schema string, resource map[string]any, measurements []measurement) {
		t.Helper()
		md := pmetric.NewMetrics()
		rm := md.ResourceMetrics().AppendEmpty()
		require.NoError(t, rm.Resource().Attributes().FromRaw(resource))
		sm := rm.ScopeMetrics().AppendEmpty()
		if schema != "" {
			sm.SetSchemaUrl(schemas + schema)
		}
		for _, m := range measurements {
			attributes := map[string]any{"rl.step": 12}
			maps.Copy(attributes, m.attributes)
			figure{name: m.name, sent: m.value}.add(sm.Metrics(), stepStart, m.unit, attributes)
		}
		postMetrics(t, c, md)
		wants[run] = want(run)
	}
	f("names of a producer", "", map[string]any{"run_id": "names of a producer", "rank": 3}, producers)
	f("canonical names", "", map[string]any{"rl.run.id": "canonical names", "rl.rank": 3}, canonical)
	f("other units", "", map[string]any{"rl.run.id": "other units", "rl.rank": 3}, otherUnits)
	f("this version", "1.0.0", map[string]any{"rl.run.id": "this version", "rl.rank": 3}, canonical)
	f("a later one", "1.1.0", map[string]any{"rl.run.id": "a later one", "rl.rank": 3}, canonical)
	requireRuns(t, c, wants)
}
