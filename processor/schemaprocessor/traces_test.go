package schemaprocessor

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/pitwall-otel/pitwall/schema"
)

func span(scope, name string, attributes ...any) ptrace.Traces {
	td := ptrace.NewTraces()
	ss := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty()
	ss.Scope().SetName(scope)
	s := ss.Spans().AppendEmpty()
	s.SetName(name)
	put2(s.Attributes(), attributes)
	return td
}

func spanLines(td ptrace.Traces) []string {
	var all []string
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, s := range ss.Spans().All() {
				all = append(all, reasonOf(text(rs.Resource().Attributes(), reasonKey))+s.Name()+": "+show(s.Attributes()))
			}
		}
	}
	return all
}

func reasonOf(text string) string {
	if text == "" {
		return ""
	}
	return "(" + text + ") "
}

func TestSpans(t *testing.T) {
	f := func(r *schema.Registry, modes string, td ptrace.Traces, want ...string) {
		t.Helper()
		got, err := newTest(t, r, tracesSignal, only(t, modes)).processTraces(t.Context(), td)
		assert.Equal(t, want == nil, err != nil)
		assert.Equal(t, want, spanLines(got))
	}
	// Frameworks' phases, from rlinsight.md's table of names: the phase, and what the framework calls it.
	r := shipped(t)
	f(r, "", span("verl", "gen", "step", 7), "rl.rollout: pitwall.source.name=gen rl.phase=rollout rl.state.name=gen rl.step=int:7")
	f(r, "", span("slime", "train_wait"), "rl.wait: pitwall.source.name=train_wait rl.phase=wait rl.state.name=train_wait")
	f(r, "", span("skyrl", "sync_weights"), "rl.weight_sync: pitwall.source.name=sync_weights rl.phase=weight_sync rl.state.name=sync_weights")
	f(r, "", span("roll", "pipeline_step", "global_step", "7"), "rl.loop: pitwall.source.name=pipeline_step rl.step=int:7")
	f(r, "", span("nemo-rl", "rl.idle.refit_bubble", "rl.iteration", 7),
		"rl.wait: pitwall.source.name=rl.idle.refit_bubble rl.phase=wait rl.state.name=refit_bubble rl.step=int:7")
	f(r, "", span("sdk", "rl.rollout", "rl.phase", "rollout", "rl.step", 7), "rl.rollout: rl.phase=rollout rl.step=int:7")
	// Nobody named the producer, and "train" is anybody's: it stays, with its own attributes.
	f(r, "", span("railway", "train", "step", "boarding"), "train: step=boarding")

	r = small(t)
	f(r, "", span("sglang", "generate", "step", "x"), `(attribute_type: step = "x") generate: step=x`)
	f(r, "attribute_missing=quarantine", span("sglang", "generate"), "(attribute_missing: rl.step) generate: ")
	f(r, "attribute_missing=reject", span("sglang", "generate"))
	f(r, "unknown_name=quarantine", span("sglang", "think"), "(unknown_name: the registry does not have it) think: ")
	f(r, "", span("sglang", ""), `(bad_name: "" is not a name) : `)
}

func record(scope, event string, attributes ...any) plog.Logs {
	ld := plog.NewLogs()
	sl := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty()
	sl.Scope().SetName(scope)
	r := sl.LogRecords().AppendEmpty()
	r.SetEventName(event)
	put2(r.Attributes(), attributes)
	return ld
}

func recordLines(ld plog.Logs) []string {
	var all []string
	for _, rl := range ld.ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			for _, r := range sl.LogRecords().All() {
				all = append(all, reasonOf(text(rl.Resource().Attributes(), reasonKey))+r.EventName()+": "+show(r.Attributes()))
			}
		}
	}
	return all
}

func TestLogs(t *testing.T) {
	r := small(t)
	f := func(modes string, ld plog.Logs, want ...string) {
		t.Helper()
		got, err := newTest(t, r, logsSignal, only(t, modes)).processLogs(t.Context(), ld)
		require.Equal(t, want == nil, err != nil)
		assert.Equal(t, want, recordLines(got))
	}
	f("", record("sglang", "saved", "step", "7"), "rl.saved: pitwall.source.name=saved rl.step=int:7")
	f("", record("sglang", "", "event.name", "saved", "step", 7), "rl.saved: pitwall.source.name=saved rl.step=int:7")
	f("", record("sdk", "rl.saved", "rl.step", 7), "rl.saved: rl.step=int:7")
	f("attribute_missing=quarantine", record("sdk", "rl.saved"), "(attribute_missing: rl.step) rl.saved: ")
	f("attribute_missing=reject", record("sdk", "rl.saved"))
	f("unknown_name=reject", record("sdk", "my.event"))
	f("", record("sdk", "my.event", "step", "boarding"), "my.event: step=boarding")
	// A line of a log is no event: no rule of names applies, and only its identity is ours.
	f("unknown_name=reject", record("sdk", "", "run_id", "r", "rank", "3", "colour", "red"), ": colour=red rl.rank=int:3 rl.run.id=r")
	f("attribute_unknown=reject", record("sdk", "", "colour", "red"), ": colour=red")
}
