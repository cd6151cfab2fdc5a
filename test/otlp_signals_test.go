package test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploghttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/log"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/pitwall-otel/pitwall/internal/collectortest"
)

// stepStart is when the trace's step began, in nanoseconds: no digit may be lost. It is 2026-03-01 12:00 UTC and a bit.
const stepStart = 1772366400123456789

// TestSDKTracesAndLogs sends a small trace over gRPC and its log records over HTTP from the OpenTelemetry SDK, to
// tables that the metricpoints exporter's migrations made. Each column expected is written down here.
// (The SDK sends no trace state of links.)
func TestSDKTracesAndLogs(t *testing.T) {
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "")
	t.Setenv("OTEL_SERVICE_NAME", "")
	c := collectortest.New(t, "config/single-node.yaml", quiet)
	c.Start()
	process := resource.NewSchemaless(attribute.String("service.name", "rollout"), attribute.Int("rl.rank.global", 2))

	remote, root, child := sendTrace(t, c, process)
	sendLogs(t, c, process, child)

	wantTraces := []string{
		`{"Timestamp":"1772366400123456789","TraceId":"` + root.TraceID().String() + `","SpanId":"` + root.SpanID().String() + `",
		"ParentSpanId":"` + remote.SpanID().String() + `","TraceState":"rl=1","SpanName":"step","SpanKind":"Server","ServiceName":"rollout",
		"ResourceAttributes":{"service.name":"rollout","rl.rank.global":"2"},"ScopeName":"pitwall/test","ScopeVersion":"1.2.3",
		"SpanAttributes":{"rl.step":"12","rl.on_policy":"true","note":"größer ☃"},"Duration":"2500000001",
		"StatusCode":"Error","StatusMessage":"out of memory",
		"Events.Timestamp":["1772366401123456789"],"Events.Name":["exception"],
		"Events.Attributes":[{"exception.type":"*errors.errorString","exception.message":"CUDA out of memory"}],
		"Links.TraceId":[],"Links.SpanId":[],"Links.TraceState":[],"Links.Attributes":[]}`,
		`{"Timestamp":"1772366400123456790","TraceId":"` + root.TraceID().String() + `","SpanId":"` + child.SpanID().String() + `",
		"ParentSpanId":"` + root.SpanID().String() + `","TraceState":"rl=1","SpanName":"rollout","SpanKind":"Internal","ServiceName":"rollout",
		"ResourceAttributes":{"service.name":"rollout","rl.rank.global":"2"},"ScopeName":"pitwall/test","ScopeVersion":"1.2.3",
		"SpanAttributes":{},"Duration":"0","StatusCode":"Ok","StatusMessage":"",
		"Events.Timestamp":[],"Events.Name":[],"Events.Attributes":[],
		"Links.TraceId":["` + remote.TraceID().String() + `"],"Links.SpanId":["` + remote.SpanID().String() + `"],"Links.TraceState":[""],
		"Links.Attributes":[{"why":"cause"}]}`,
	}
	requireObjects(t, c, wantTraces, `SELECT * REPLACE (
		toString(toUnixTimestamp64Nano(Timestamp)) AS Timestamp, toString(Duration) AS Duration,
		arrayMap(at -> toString(toUnixTimestamp64Nano(at)), "Events.Timestamp") AS "Events.Timestamp")
		FROM training_observability.otel_traces ORDER BY otel_traces.Timestamp FORMAT JSONEachRow`)

	const current = schemas + "1.0.0"
	requireObjects(t, c, []string{
		`{"Timestamp":"1772366400123456789","TraceId":"","SpanId":"","TraceFlags":0,"SeverityText":"DEBUG2","SeverityNumber":6,
		"ServiceName":"rollout","Body":"{\"step\":12,\"text\":\"größer ☃\"}","ResourceSchemaUrl":"` + current + `",
		"ResourceAttributes":{"service.name":"rollout","rl.rank.global":"2"},
		"ScopeSchemaUrl":"` + current + `","ScopeName":"pitwall/test","ScopeVersion":"","ScopeAttributes":{"rl.schema.source_version":"0"},"LogAttributes":{},"EventName":""}`,
		`{"Timestamp":"1772366400123456790","TraceId":"` + child.TraceID().String() + `","SpanId":"` + child.SpanID().String() + `","TraceFlags":1,
		"SeverityText":"error","SeverityNumber":17,"ServiceName":"rollout","Body":"a checkpoint failed","ResourceSchemaUrl":"` + current + `",
		"ResourceAttributes":{"service.name":"rollout","rl.rank.global":"2"},
		"ScopeSchemaUrl":"` + current + `","ScopeName":"pitwall/test","ScopeVersion":"","ScopeAttributes":{"rl.schema.source_version":"0"},
		"LogAttributes":{"event.name":"rl.checkpoint.failed","rl.step":"12"},"EventName":"rl.checkpoint.failed"}`,
	}, `SELECT * REPLACE (toString(toUnixTimestamp64Nano(Timestamp)) AS Timestamp)
		FROM training_observability.otel_logs ORDER BY otel_logs.Timestamp FORMAT JSONEachRow`)

	// A materialized view's rows come after those of the table.
	require.EventuallyWithT(t, func(a *assert.CollectT) {
		answer, err := c.Query(`SELECT TraceId, count() FROM training_observability.otel_traces_trace_id_ts
			WHERE Start <= toDateTime(1772366400) AND End >= toDateTime(1772366400) GROUP BY TraceId FORMAT TabSeparated`)
		require.NoError(a, err)
		assert.Equal(a, root.TraceID().String()+"\t1", answer, "the look-up table of traces")
	}, storedWithin, 20*time.Millisecond)
}

func stepAt(after time.Duration) time.Time { return time.Unix(0, stepStart).Add(after) }

// sendTrace sends a span with a remote parent, an error and an event, and its child with a link.
func sendTrace(t *testing.T, c *collectortest.Collector, process *resource.Resource) (remote, root, child trace.SpanContext) {
	t.Helper()
	exporter, err := otlptracegrpc.New(t.Context(), otlptracegrpc.WithEndpoint(c.GRPC), otlptracegrpc.WithInsecure(),
		otlptracegrpc.WithCompressor("gzip"))
	require.NoError(t, err)
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(process))
	tracer := provider.Tracer("pitwall/test", trace.WithInstrumentationVersion("1.2.3"))
	state, err := trace.ParseTraceState("rl=1")
	require.NoError(t, err)
	remote = trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID{0xab, 15: 1}, SpanID: trace.SpanID{0xcd, 7: 1},
		TraceFlags: trace.FlagsSampled, TraceState: state, Remote: true,
	})

	ctx, outer := tracer.Start(trace.ContextWithRemoteSpanContext(t.Context(), remote), "step",
		trace.WithTimestamp(stepAt(0)), trace.WithSpanKind(trace.SpanKindServer),
		trace.WithAttributes(attribute.Int("rl.step", 12), attribute.Bool("rl.on_policy", true), attribute.String("note", "größer ☃")))
	_, inner := tracer.Start(ctx, "rollout", trace.WithTimestamp(stepAt(1)),
		trace.WithLinks(trace.Link{SpanContext: remote, Attributes: []attribute.KeyValue{attribute.String("why", "cause")}}))
	inner.SetStatus(codes.Ok, "")
	inner.End(trace.WithTimestamp(stepAt(1)))
	outer.RecordError(errors.New("CUDA out of memory"), trace.WithTimestamp(stepAt(time.Second)))
	outer.SetStatus(codes.Error, "out of memory")
	outer.End(trace.WithTimestamp(stepAt(2500000001)))
	require.NoError(t, provider.Shutdown(t.Context()))
	return remote, outer.SpanContext(), inner.SpanContext()
}

// sendLogs sends one record with a structured body and one event within a span.
func sendLogs(t *testing.T, c *collectortest.Collector, process *resource.Resource, span trace.SpanContext) {
	t.Helper()
	exporter, err := otlploghttp.New(t.Context(), otlploghttp.WithEndpoint(c.HTTP), otlploghttp.WithInsecure(),
		otlploghttp.WithCompression(otlploghttp.GzipCompression))
	require.NoError(t, err)
	provider := sdklog.NewLoggerProvider(sdklog.WithProcessor(sdklog.NewBatchProcessor(exporter)), sdklog.WithResource(process))
	logger := provider.Logger("pitwall/test")

	var plain log.Record
	plain.SetTimestamp(stepAt(0))
	plain.SetSeverity(log.SeverityDebug2)
	plain.SetSeverityText("DEBUG2")
	plain.SetBody(attribute.MapValue(attribute.Int("step", 12), attribute.String("text", "größer ☃")))
	logger.Emit(context.Background(), plain)

	var event log.Record
	event.SetTimestamp(stepAt(1))
	event.SetEventName("rl.checkpoint.failed")
	event.SetSeverity(log.SeverityError)
	event.SetSeverityText("error")
	event.SetBody(attribute.StringValue("a checkpoint failed"))
	event.AddAttributes(attribute.Int("rl.step", 12))
	logger.Emit(trace.ContextWithSpanContext(context.Background(), span), event)
	require.NoError(t, provider.Shutdown(t.Context()))
}

// requireObjects waits for as many rows as are wanted and compares them, as JSON objects.
func requireObjects(t *testing.T, c *collectortest.Collector, want []string, sql string) {
	t.Helper()
	var lines []string
	var err error
	arrived := assert.Eventually(t, func() bool {
		var answer string
		answer, err = c.Query(sql) // at the first start the table comes a moment later
		lines = strings.Split(answer, "\n")
		return err == nil && len(lines) >= len(want) && lines[0] != ""
	}, storedWithin, 100*time.Millisecond)
	require.NoError(t, err)
	require.True(t, arrived, "the rows do not arrive")
	require.Len(t, lines, len(want))
	for i := range want {
		require.True(t, json.Valid([]byte(want[i])), want[i])
		require.JSONEq(t, want[i], lines[i])
	}
}
