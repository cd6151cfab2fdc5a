package schemaprocessor

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/processor/processortest"
	otelattribute "go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/pitwall-otel/pitwall/processor/schemaprocessor/internal/metadata"
)

// values are the counts that the collector shows, by metric and labels other than processor and signal.
func values(t *testing.T, tel *componenttest.Telemetry) map[string]int64 {
	t.Helper()
	all := map[string]int64{}
	for _, name := range []string{"checked", "converted", "findings", "quarantined", "rejected", "translated", "unknown_names", "upgraded"} {
		m, err := tel.GetMetric("otelcol_schema_" + name)
		if err != nil {
			continue
		}
		var points []metricdata.DataPoint[int64]
		switch data := m.Data.(type) {
		case metricdata.Sum[int64]:
			points = data.DataPoints
		case metricdata.Gauge[int64]:
			points = data.DataPoints
		}
		for _, p := range points {
			id, _ := p.Attributes.Value("processor")
			signal, _ := p.Attributes.Value("signal")
			require.Equal(t, "rlschema metrics", id.AsString()+" "+signal.AsString())
			rest, _ := p.Attributes.Filter(func(kv otelattribute.KeyValue) bool { return kv.Key != "processor" && kv.Key != "signal" })
			if p.Value > 0 {
				all[name+" "+rest.Encoded(otelattribute.DefaultEncoder())] = p.Value
			}
		}
	}
	return all
}

func TestCounts(t *testing.T) {
	tel := componenttest.NewTelemetry()
	t.Cleanup(func() { require.NoError(t, tel.Shutdown(context.WithoutCancel(t.Context()))) })
	p := newTestWith(t, small(t), metricsSignal, settings(tel), only(t, "attribute_value=reject"))
	process := func(url, scope, name, unit string, attributes ...any) {
		t.Helper()
		md := gauge(scope, name, unit, 1, attributes...)
		md.ResourceMetrics().At(0).ScopeMetrics().At(0).SetSchemaUrl(url)
		_, _ = p.processMetrics(t.Context(), md)
	}
	const ours = "https://example.com/1.0.0"
	process(ours, "sdk", "rl.score", "1", "rl.stat", "mean")
	process("", "sglang", "score", "", "step", 7)
	process("", "sglang", "memory_gb", "")
	process("", "sglang", "my.own", "")
	process("", "sglang", "my.own", "")
	process("", "sglang", "my.other", "")
	process(ours, "sdk", "rl.score", "s", "rl.stat", "mean")
	process(ours, "sdk", "rl.score", "1", "rl.stat", "p99")
	process("https://example.com/3.0.0", "sdk", "rl.score", "1", "rl.stat", "mean")
	assert.Equal(t, map[string]int64{
		"checked producer=,version=1.0.0":                                         3,
		"checked producer=sglang,version=0":                                       5,
		"checked producer=,version=other":                                         1,
		"translated producer=sglang,version=0":                                    2,
		"converted producer=sglang,version=0":                                     2,
		"findings action=observe,producer=sglang,rule=unknown_name,version=0":     3,
		"findings action=quarantine,producer=,rule=unit,version=1.0.0":            1,
		"findings action=reject,producer=,rule=attribute_value,version=1.0.0":     1,
		"findings action=quarantine,producer=,rule=version_unknown,version=other": 1,
		"quarantined producer=,version=1.0.0":                                     1,
		"quarantined producer=,version=other":                                     1,
		"rejected producer=,version=1.0.0":                                        1,
		"unknown_names ":                                                          2,
	}, values(t, tel))
}

// Offenders are named once a minute in all, however many there are and whatever they do.
func TestOffendersAreNamedOnceAMinute(t *testing.T) {
	core, logs := observer.New(zap.WarnLevel)
	set := processortest.NewNopSettings(metadata.Type)
	set.Logger = zap.New(core)
	p := newTestWith(t, small(t), metricsSignal, set, nil)
	now := time.Unix(1_790_000_000, 0)
	p.offenders.now = func() time.Time { return now }
	send := func(name string) {
		t.Helper()
		md := gauge("bridge", name, "", 1)
		md.ResourceMetrics().At(0).Resource().Attributes().PutStr("service.name", "trainer")
		_, err := p.processMetrics(t.Context(), md)
		require.NoError(t, err)
	}
	send("first")
	require.Equal(t, 1, logs.Len())
	assert.Equal(t, []any{`unknown_name, observe: "first", scope "bridge", service "trainer": 1`}, logs.TakeAll()[0].ContextMap()["offenders"])
	for range 3 {
		send("often")
	}
	for i := range 200 {
		send(fmt.Sprintf("some/%d", i))
	}
	assert.Zero(t, logs.Len(), "within the minute")
	now = now.Add(time.Minute)
	send("often")
	require.Equal(t, 1, logs.Len())
	fields := logs.TakeAll()[0].ContextMap()
	offenders := fields["offenders"].([]any)
	require.Len(t, offenders, namedOffenders)
	assert.Equal(t, `unknown_name, observe: "often", scope "bridge", service "trainer": 4`, offenders[0])
	assert.Equal(t, uint64(204-4-(namedOffenders-1)), fields["others"])
	// What the last minute left is said at the end.
	send("late")
	p.offenders.flush()
	require.Equal(t, 1, logs.Len())
	assert.Contains(t, logs.TakeAll()[0].ContextMap()["offenders"].([]any)[0], `"late"`)
}
