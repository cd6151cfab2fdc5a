package schemaprocessor

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/pitwall-otel/pitwall/schema"
)

func versions(t *testing.T, version string) *schema.Registry {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "versions_"+version+".yaml"))
	require.NoError(t, err)
	return registryOf(t, version+".0", string(text))
}

// The same value, sent by a producer that knows no schema, by one of 1.0.0 and by one of 1.1.0, which renamed the metric and its
// attribute, is the same row under a collector of 1.1.0.
func TestTheSameDataOfEveryVersion(t *testing.T) {
	r := versions(t, "1.1")
	const want = "rl.score Gauge 1 0.5 rl.stat=mean rl.step=int:7"
	f := func(name, url string, md pmetric.Metrics, want, version string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			sm := md.ResourceMetrics().At(0).ScopeMetrics().At(0)
			sm.SetSchemaUrl(url)
			got, err := newTest(t, r, metricsSignal, nil).processMetrics(t.Context(), md)
			require.NoError(t, err)
			assert.Equal(t, []string{want}, lines(got))
			assert.Equal(t, "https://example.com/1.1.0", sm.SchemaUrl())
			assert.Equal(t, "https://example.com/1.1.0", got.ResourceMetrics().At(0).SchemaUrl())
			assert.Equal(t, version, show(sm.Scope().Attributes()))
		})
	}
	const none, old, later = "rl.schema.source_version=0", "rl.schema.source_version=1.0.0", "rl.schema.source_version=1.2.0"
	f("a producer's names", "", gauge("verl", "critic/score/mean", "", 50, "step", 7), want, none)
	f("a producer's names, another family's URL", "https://opentelemetry.io/schemas/1.30.0", gauge("verl", "critic/score/mean", "", 50, "step", 7), want, none)
	f("our names without a version", "", gauge("sdk", "rl.score", "1", 0.5, "rl.stat", "mean", "rl.step", 7), want, none)
	f("our old names without a version", "", gauge("sdk", "rl.points", "1", 0.5, "rl.statistic", "mean", "rl.step", 7), want, none)
	f("1.0.0", "https://example.com/1.0.0", gauge("sdk", "rl.points", "1", 0.5, "rl.statistic", "mean", "rl.step", 7), want, old)
	f("1.0.0 from a producer", "https://example.com/1.0.0", gauge("verl", "critic/score/mean", "", 50, "step", 7), want, old)
	f("1.1.0", "https://example.com/1.1.0", gauge("sdk", "rl.score", "1", 0.5, "rl.stat", "mean", "rl.step", 7), want, "")
	f("1.1.0 with a name kept for a while", "https://example.com/1.1.0", gauge("sdk", "rl.points", "1", 0.5, "rl.statistic", "mean", "rl.step", 7), want, "")
	f("1.2.0", "https://example.com/1.2.0", gauge("sdk", "rl.score", "1", 0.5, "rl.stat", "mean", "rl.step", 7), want, later)
	f("1.2.0 with a name of its own", "https://example.com/1.2.0", gauge("sdk", "rl.grade", "", 0.5, "rl.step", 7),
		"rl.grade Gauge  0.5 rl.step=int:7", later)
	// A gateway behind an agent: what was done is not done again.
	f("twice", "https://example.com/1.0.0", func() pmetric.Metrics {
		md := gauge("verl", "critic/score/mean", "", 50, "step", 7)
		md.ResourceMetrics().At(0).ScopeMetrics().At(0).SetSchemaUrl("https://example.com/1.0.0")
		got, err := newTest(t, r, metricsSignal, nil).processMetrics(t.Context(), md)
		require.NoError(t, err)
		return got
	}(), want, old)
}

// The version of data that lost its URL stands in an attribute; the resource's URL counts where the scope has none.
func TestWhereTheVersionStands(t *testing.T) {
	r := versions(t, "1.1")
	f := func(want string, set func(pmetric.ResourceMetrics)) {
		t.Helper()
		md := gauge("sdk", "rl.score", "1", 1)
		rm := md.ResourceMetrics().At(0)
		set(rm)
		_, err := newTest(t, r, metricsSignal, nil).processMetrics(t.Context(), md)
		require.NoError(t, err)
		v, _ := rm.ScopeMetrics().At(0).Scope().Attributes().Get("rl.schema.source_version")
		assert.Equal(t, want, v.AsString())
	}
	f("1.0.0", func(rm pmetric.ResourceMetrics) { rm.SetSchemaUrl("https://example.com/1.0.0") })
	f("1.0.3", func(rm pmetric.ResourceMetrics) {
		rm.SetSchemaUrl("https://example.com/1.0.0")
		rm.ScopeMetrics().At(0).SetSchemaUrl("https://example.com/1.0.3")
	})
	f("1.0.1", func(rm pmetric.ResourceMetrics) { rm.Resource().Attributes().PutStr("rl.schema.version", "1.0.1") })
	f("1.0.2", func(rm pmetric.ResourceMetrics) {
		rm.Resource().Attributes().PutStr("rl.schema.version", "1.0.1")
		rm.ScopeMetrics().At(0).Scope().Attributes().PutStr("rl.schema.version", "1.0.2")
	})
	f("1.0.0", func(rm pmetric.ResourceMetrics) {
		rm.Resource().Attributes().PutStr("rl.schema.version", "1.0.1")
		rm.SetSchemaUrl("https://example.com/1.0.0")
	})
}

// Another major version, and what is no version, leave as they came.
func TestUnknownVersion(t *testing.T) {
	r := versions(t, "1.1")
	f := func(url string, mode ruleMode, want ...string) {
		t.Helper()
		p := newTest(t, r, metricsSignal, func(c *Config) { c.Rules.VersionUnknown = mode })
		md := gauge("verl", "critic/score/mean", "", 50, "step", 7)
		md.ResourceMetrics().At(0).ScopeMetrics().At(0).SetSchemaUrl(url)
		got, err := p.processMetrics(t.Context(), md)
		assert.Equal(t, want == nil, err != nil, "an empty request is skipped")
		assert.Equal(t, want, lines(got))
		if mode == modeQuarantine {
			assert.Equal(t, url, got.ResourceMetrics().At(0).ScopeMetrics().At(0).SchemaUrl())
		}
	}
	f("https://example.com/2.0.0", modeQuarantine, "(version_unknown: https://example.com/2.0.0) critic/score/mean Gauge  50 step=int:7")
	f("https://example.com/latest", modeQuarantine, "(version_unknown: https://example.com/latest) critic/score/mean Gauge  50 step=int:7")
	f("https://example.com/2.0.0", modeReject)
	f("https://example.com/2.0.0", modeObserve, "rl.score Gauge 1 0.5 rl.stat=mean rl.step=int:7")
}

// A hostile sender of versions fills a table of fixed size.
func TestVersionsAreBounded(t *testing.T) {
	o := newOrigins(versions(t, "1.1"))
	seen := map[string]int{}
	for minor := range 100 {
		seen[o.version("1."+string(rune('0'+minor%10))+"."+string(rune('0'+minor/10))).version]++
	}
	assert.Len(t, seen, maxVersions+1)
	assert.Equal(t, 100-maxVersions, seen["other"])
	assert.Equal(t, newer, o.version("1.9.99").lineage)
	assert.Equal(t, alien, o.version("9.0.0").lineage)
}

func TestSpansOfEveryVersion(t *testing.T) {
	r := versions(t, "1.1")
	f := func(scope, url, name, key string) {
		t.Helper()
		td := ptrace.NewTraces()
		ss := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty()
		ss.Scope().SetName(scope)
		ss.SetSchemaUrl(url)
		span := ss.Spans().AppendEmpty()
		span.SetName(name)
		span.Attributes().PutInt(key, 7)
		_, err := newTest(t, r, tracesSignal, nil).processTraces(t.Context(), td)
		require.NoError(t, err)
		span.Attributes().Remove("pitwall.source.name")
		assert.Equal(t, "rl.rollout rl.step=int:7", span.Name()+" "+show(span.Attributes()))
		assert.Equal(t, "https://example.com/1.1.0", ss.SchemaUrl())
	}
	f("verl", "", "gen", "step")
	f("sdk", "https://example.com/1.0.0", "rl.generate", "rl.step")
	f("sdk", "https://example.com/1.1.0", "rl.rollout", "rl.step")
}

func TestEventsOfEveryVersion(t *testing.T) {
	r := versions(t, "1.1")
	f := func(scope, url, key string, set func(plog.LogRecord)) {
		t.Helper()
		ld := plog.NewLogs()
		sl := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty()
		sl.Scope().SetName(scope)
		sl.SetSchemaUrl(url)
		record := sl.LogRecords().AppendEmpty()
		record.Attributes().PutInt(key, 7)
		set(record)
		_, err := newTest(t, r, logsSignal, nil).processLogs(t.Context(), ld)
		require.NoError(t, err)
		record.Attributes().Remove("pitwall.source.name")
		assert.Equal(t, "rl.checkpoint.saved rl.step=int:7", record.EventName()+" "+show(record.Attributes()))
	}
	named := func(name string) func(plog.LogRecord) { return func(r plog.LogRecord) { r.SetEventName(name) } }
	f("verl", "", "step", named("ckpt done"))
	f("verl", "", "step", func(r plog.LogRecord) { r.Attributes().PutStr("event.name", "ckpt done") })
	f("sdk", "https://example.com/1.0.0", "rl.step", named("rl.stored"))
	f("sdk", "https://example.com/1.1.0", "rl.step", named("rl.checkpoint.saved"))
}
