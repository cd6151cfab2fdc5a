package clickhouse

import (
	"context"
	"testing"
	"time"

	"github.com/open-telemetry/opentelemetry-collector-contrib/exporter/clickhouseexporter"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// upstream starts contrib's exporters against the engine.
func upstream(t *testing.T, r *rig, database string, createSchema bool) (exporter.Traces, exporter.Logs) {
	t.Helper()
	factory := clickhouseexporter.NewFactory()
	config := factory.CreateDefaultConfig().(*clickhouseexporter.Config)
	config.Endpoint = r.engine.Endpoint()
	config.Database = database
	config.CreateSchema = createSchema
	config.QueueSettings = configoptional.None[exporterhelper.QueueBatchConfig]()
	require.NoError(t, config.Validate())
	settings := exportertest.NewNopSettings(factory.Type())
	traces, err := factory.CreateTraces(t.Context(), settings, config)
	require.NoError(t, err)
	logs, err := factory.CreateLogs(t.Context(), settings, config)
	require.NoError(t, err)
	for _, c := range []component.Component{traces, logs} {
		require.NoError(t, c.Start(t.Context(), componenttest.NewNopHost()))
		t.Cleanup(func() { assert.NoError(t, c.Shutdown(context.WithoutCancel(t.Context()))) })
	}
	return traces, logs
}

func testUpstreamTables(t *testing.T, r *rig) {
	r.migrate(t)
	theirs := r.target.Database + "_upstream"
	upstream(t, r, theirs, true)

	describe := func(database string) [][]string {
		return r.query(t, "SELECT table, name, type, compression_codec, default_kind, default_expression FROM system.columns "+
			"WHERE database = '"+database+"' AND startsWith(table, 'otel_') AND name != 'event' ORDER BY table, position") // event is ours, computed
	}
	want := describe(theirs)
	require.Len(t, want, 24+22+3+3, "logs, traces, trace times and their view")
	assert.Equal(t, want, describe(r.target.Database))

	keys := func(database string) [][]string {
		return r.query(t, "SELECT name, engine, partition_key, sorting_key, primary_key FROM system.tables "+
			"WHERE database = '"+database+"' AND startsWith(name, 'otel_') ORDER BY name")
	}
	assert.Equal(t, keys(theirs), keys(r.target.Database))
}

func testUpstreamWrites(t *testing.T, r *rig) {
	r.migrate(t)
	traces, logs := upstream(t, r, r.target.Database, false)
	at := time.Date(2026, 11, 20, 12, 0, 0, 123456789, time.UTC)

	td := ptrace.NewTraces()
	resource := td.ResourceSpans().AppendEmpty()
	resource.Resource().Attributes().PutStr("service.name", "trainer")
	span := resource.ScopeSpans().AppendEmpty().Spans().AppendEmpty()
	span.SetTraceID(pcommon.TraceID{1})
	span.SetSpanID(pcommon.SpanID{2})
	span.SetName("rollout")
	span.SetStartTimestamp(pcommon.NewTimestampFromTime(at))
	span.SetEndTimestamp(pcommon.NewTimestampFromTime(at.Add(time.Second)))
	span.Attributes().PutInt("rl.step", 7)
	event := span.Events().AppendEmpty()
	event.SetName("reward")
	event.SetTimestamp(pcommon.NewTimestampFromTime(at))
	span.Links().AppendEmpty().SetTraceID(pcommon.TraceID{3})
	require.NoError(t, traces.ConsumeTraces(t.Context(), td))

	ld := plog.NewLogs()
	record := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
	record.SetTimestamp(pcommon.NewTimestampFromTime(at))
	record.SetEventName("checkpoint")
	record.Body().SetStr("saved")
	require.NoError(t, logs.ConsumeLogs(t.Context(), ld))

	assert.Equal(t, [][]string{{"2026-11-20 12:00:00.123456789", "trainer", "rollout", "1000000000", "7", "reward", "03000000000000000000000000000000"}},
		r.query(t, "SELECT Timestamp, ServiceName, SpanName, Duration, SpanAttributes['rl.step'], Events.Name[1], Links.TraceId[1] FROM DB.otel_traces"))
	assert.Equal(t, [][]string{{"01000000000000000000000000000000", "2026-11-20 12:00:00"}},
		r.query(t, "SELECT TraceId, Start FROM DB.otel_traces_trace_id_ts"))
	assert.Equal(t, [][]string{{"saved", "checkpoint"}}, r.query(t, "SELECT Body, EventName FROM DB.otel_logs"))
}
