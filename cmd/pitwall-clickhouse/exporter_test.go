package main

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/open-telemetry/opentelemetry-collector-contrib/exporter/clickhouseexporter"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// TestContribExporter stores traces and logs through the collector's own exporter,
// which makes its tables at start.
func TestContribExporter(t *testing.T) {
	h := start(t, t.TempDir())
	for _, compression := range []string{"none", "lz4", "zstd", "gzip"} {
		t.Run(compression, func(t *testing.T) {
			ctx := context.Background()
			factory := clickhouseexporter.NewFactory()
			cfg := factory.CreateDefaultConfig()
			require.NoError(t, confmap.NewFromStringMap(map[string]any{
				"endpoint": h.url, "database": "otel_" + compression, "create_schema": true, "compress": compression,
				"sending_queue": map[string]any{"enabled": false}, "async_insert": true,
			}).Unmarshal(cfg))
			settings := exportertest.NewNopSettings(factory.Type())
			traces, err := factory.CreateTraces(ctx, settings, cfg)
			require.NoError(t, err)
			logs, err := factory.CreateLogs(ctx, settings, cfg)
			require.NoError(t, err)
			for _, e := range []exporter.Logs{logs} {
				require.NoError(t, e.Start(ctx, componenttest.NewNopHost()))
				defer func() { require.NoError(t, e.Shutdown(ctx)) }()
			}
			require.NoError(t, traces.Start(ctx, componenttest.NewNopHost()))
			defer func() { require.NoError(t, traces.Shutdown(ctx)) }()

			const n = 500
			require.NoError(t, traces.ConsumeTraces(ctx, someSpans(n)))
			require.NoError(t, logs.ConsumeLogs(ctx, someLogs(n)))
			db := "otel_" + compression
			assert.Equal(t, "500\t500\tstep\tpitwall\t1500\t500\tErr", h.query("SELECT count(), uniqExact(SpanId), any(SpanName), any(ServiceName), "+
				"any(Duration), countIf(SpanAttributes['n'] != ''), substring(any(StatusCode), 1, 3) FROM "+db+".otel_traces"))
			assert.Equal(t, expectedIndexes(n), h.query("SELECT groupArray(n) FROM (SELECT toUInt32(SpanAttributes['n']) AS n FROM "+db+".otel_traces ORDER BY n)"))
			assert.Equal(t, "500\t1\tINFO\ttrainer", h.query("SELECT count(), uniqExact(TraceId), any(SeverityText), any(ResourceAttributes['host.name']) FROM "+db+".otel_logs"))
			assert.Equal(t, expectedIndexes(n), h.query("SELECT groupArray(n) FROM (SELECT toUInt32(extract(Body, 'line ([0-9]+)')) AS n FROM "+db+".otel_logs ORDER BY n)"))
			assert.Equal(t, "1", h.query("SELECT count() FROM "+db+".otel_traces_trace_id_ts"), "the materialized view filled its table")
		})
	}
}

func expectedIndexes(n int) string {
	text := make([]string, n)
	for i := range n {
		text[i] = fmt.Sprint(i)
	}
	return "[" + strings.Join(text, ",") + "]"
}

func someSpans(n int) ptrace.Traces {
	td := ptrace.NewTraces()
	r := td.ResourceSpans().AppendEmpty()
	r.Resource().Attributes().PutStr("service.name", "pitwall")
	spans := r.ScopeSpans().AppendEmpty().Spans()
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for i := range n {
		s := spans.AppendEmpty()
		s.SetName("step")
		s.SetTraceID(pcommon.TraceID{1, 2, 3})
		s.SetSpanID(pcommon.SpanID{byte(i >> 8), byte(i), 9})
		s.SetStartTimestamp(pcommon.NewTimestampFromTime(at))
		s.SetEndTimestamp(pcommon.NewTimestampFromTime(at.Add(1500)))
		s.Status().SetCode(ptrace.StatusCodeError)
		s.Attributes().PutInt("n", int64(i))
		e := s.Events().AppendEmpty()
		e.SetName("event")
		e.Attributes().PutStr("k", "it's")
	}
	return td
}

func someLogs(n int) plog.Logs {
	ld := plog.NewLogs()
	r := ld.ResourceLogs().AppendEmpty()
	r.Resource().Attributes().PutStr("host.name", "trainer")
	records := r.ScopeLogs().AppendEmpty().LogRecords()
	for i := range n {
		l := records.AppendEmpty()
		l.SetTimestamp(pcommon.NewTimestampFromTime(time.Date(2026, 11, 20, 12, 0, 0, i, time.UTC)))
		l.SetSeverityText("INFO")
		l.SetTraceID(pcommon.TraceID{7})
		l.Body().SetStr(fmt.Sprintf("line %d\nwith 'quotes'", i))
	}
	return ld
}
