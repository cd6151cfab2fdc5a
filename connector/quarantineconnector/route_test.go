package quarantineconnector

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/connector"
	"go.opentelemetry.io/collector/connector/connectortest"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pipeline"

	"github.com/pitwall-otel/pitwall/connector/quarantineconnector/internal/metadata"
)

// A request in these tests is a list of resources, each written as the names of its records: "a b" is a resource with
// two records, "?a b" one that the schema processor marked. fill puts the mark.
func fill(r pcommon.Resource, text string) []string {
	r.Attributes().PutStr("service.name", text)
	names, marked := strings.CutPrefix(text, "?")
	if marked {
		r.Attributes().PutStr("pitwall.quarantine.reason", "version_unknown")
	}
	return strings.Fields(names)
}

// read is the inverse of fill, without relying on the text that fill left.
func read(r pcommon.Resource, names []string) string {
	text := strings.Join(names, " ")
	if reason, marked := r.Attributes().Get("pitwall.quarantine.reason"); marked && reason.Str() == "version_unknown" {
		return "?" + text
	}
	return text
}

func metrics(resources ...string) pmetric.Metrics {
	md := pmetric.NewMetrics()
	for _, text := range resources {
		rm := md.ResourceMetrics().AppendEmpty()
		for _, name := range fill(rm.Resource(), text) {
			m := rm.ScopeMetrics().AppendEmpty().Metrics().AppendEmpty()
			m.SetName(name)
			m.SetEmptyGauge().DataPoints().AppendEmpty().SetDoubleValue(1)
		}
	}
	return md
}

func metricNames(sink *consumertest.MetricsSink) []string {
	var resources []string
	for _, md := range sink.AllMetrics() {
		for _, rm := range md.ResourceMetrics().All() {
			var names []string
			for _, sm := range rm.ScopeMetrics().All() {
				for _, m := range sm.Metrics().All() {
					names = append(names, m.Name())
				}
			}
			resources = append(resources, read(rm.Resource(), names))
		}
	}
	return resources
}

func traces(resources ...string) ptrace.Traces {
	td := ptrace.NewTraces()
	for _, text := range resources {
		rs := td.ResourceSpans().AppendEmpty()
		for _, name := range fill(rs.Resource(), text) {
			rs.ScopeSpans().AppendEmpty().Spans().AppendEmpty().SetName(name)
		}
	}
	return td
}

func spanNames(sink *consumertest.TracesSink) []string {
	var resources []string
	for _, td := range sink.AllTraces() {
		for _, rs := range td.ResourceSpans().All() {
			var names []string
			for _, ss := range rs.ScopeSpans().All() {
				for _, span := range ss.Spans().All() {
					names = append(names, span.Name())
				}
			}
			resources = append(resources, read(rs.Resource(), names))
		}
	}
	return resources
}

func logs(resources ...string) plog.Logs {
	ld := plog.NewLogs()
	for _, text := range resources {
		rl := ld.ResourceLogs().AppendEmpty()
		for _, name := range fill(rl.Resource(), text) {
			rl.ScopeLogs().AppendEmpty().LogRecords().AppendEmpty().SetEventName(name)
		}
	}
	return ld
}

func eventNames(sink *consumertest.LogsSink) []string {
	var resources []string
	for _, ld := range sink.AllLogs() {
		for _, rl := range ld.ResourceLogs().All() {
			var names []string
			for _, sl := range rl.ScopeLogs().All() {
				for _, record := range sl.LogRecords().All() {
					names = append(names, record.EventName())
				}
			}
			resources = append(resources, read(rl.Resource(), names))
		}
	}
	return resources
}

// Every record of a request arrives once, on its side, in order, with its resource.
func TestConnector_RoutesByMark(t *testing.T) {
	f := func(request, wantGood, wantBad []string) {
		t.Helper()
		t.Run(strings.Join(request, ","), func(t *testing.T) {
			for signal, route := range map[pipeline.Signal]func(*testing.T, []string) (good, bad []string){
				pipeline.SignalMetrics: routeMetrics, pipeline.SignalTraces: routeTraces, pipeline.SignalLogs: routeLogs,
			} {
				good, bad := route(t, request)
				assert.Equal(t, wantGood, good, "%s: good", signal)
				assert.Equal(t, wantBad, bad, "%s: quarantined", signal)
			}
		})
	}
	f([]string{"a b", "c"}, []string{"a b", "c"}, nil)
	f([]string{"?a b", "?c"}, nil, []string{"?a b", "?c"})
	f([]string{"a b", "?c", "d", "?e f"}, []string{"a b", "d"}, []string{"?c", "?e f"})
	f([]string{"?a", "b"}, []string{"b"}, []string{"?a"})
	f(nil, nil, nil)

	var request, good, bad []string
	for i := range 500 {
		text := strings.Repeat("x", i+1)
		if i%7 == 3 {
			bad = append(bad, "?"+text)
			text = "?" + text
		} else {
			good = append(good, text)
		}
		request = append(request, text)
	}
	wantGood, wantBad := slices.Clone(good), slices.Clone(bad)
	gotGood, gotBad := routeMetrics(t, request)
	assert.Equal(t, wantGood, gotGood)
	assert.Equal(t, wantBad, gotBad)
}

func routeMetrics(t *testing.T, request []string) (_, _ []string) {
	good, bad := new(consumertest.MetricsSink), new(consumertest.MetricsSink)
	made := startMetrics(t, &Config{Quarantine: []pipeline.ID{id(pipeline.SignalMetrics, "bad")}},
		map[string]consumer.Metrics{"good": good, "bad": bad})
	require.NoError(t, made.ConsumeMetrics(t.Context(), metrics(request...)))
	return metricNames(good), metricNames(bad)
}

func routeTraces(t *testing.T, request []string) (_, _ []string) {
	good, bad := new(consumertest.TracesSink), new(consumertest.TracesSink)
	toBad := id(pipeline.SignalTraces, "bad")
	made, err := NewFactory().CreateTracesToTraces(t.Context(), connectortest.NewNopSettings(metadata.Type),
		&Config{Quarantine: []pipeline.ID{toBad}},
		connector.NewTracesRouter(map[pipeline.ID]consumer.Traces{id(pipeline.SignalTraces, "good"): good, toBad: bad}))
	require.NoError(t, err)
	start(t, made)
	require.NoError(t, made.ConsumeTraces(t.Context(), traces(request...)))
	return spanNames(good), spanNames(bad)
}

func routeLogs(t *testing.T, request []string) (_, _ []string) {
	good, bad := new(consumertest.LogsSink), new(consumertest.LogsSink)
	toBad := id(pipeline.SignalLogs, "bad")
	made, err := NewFactory().CreateLogsToLogs(t.Context(), connectortest.NewNopSettings(metadata.Type),
		&Config{Quarantine: []pipeline.ID{toBad}},
		connector.NewLogsRouter(map[pipeline.ID]consumer.Logs{id(pipeline.SignalLogs, "good"): good, toBad: bad}))
	require.NoError(t, err)
	start(t, made)
	require.NoError(t, made.ConsumeLogs(t.Context(), logs(request...)))
	return eventNames(good), eventNames(bad)
}
