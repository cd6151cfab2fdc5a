-- The name of an event, which some exporters write as an attribute only. Computed from what is stored, also for old rows.
ALTER TABLE {{.Local "otel_logs"}}{{.OnCluster}}
    ADD COLUMN IF NOT EXISTS `event` LowCardinality(String)
    MATERIALIZED if(EventName != '', EventName, LogAttributes['event.name']);
-- Events are few among the lines: whoever reads one kind of them skips the rest. For new parts.
ALTER TABLE {{.Local "otel_logs"}}{{.OnCluster}}
    ADD INDEX IF NOT EXISTS ix_event event TYPE set(100) GRANULARITY 4;
{{- if .Cluster}}
ALTER TABLE {{.Ident "otel_logs"}}{{.OnCluster}}
    ADD COLUMN IF NOT EXISTS `event` LowCardinality(String)
    MATERIALIZED if(EventName != '', EventName, LogAttributes['event.name']);
{{- end}}

-- Every event of a run with what it is told apart by. The event's own attributes win over those of its process. The time
-- and the event are the table's own columns, so bounding them bounds what is read.
CREATE VIEW IF NOT EXISTS {{.Ident "run_events"}}{{.OnCluster}} AS
SELECT
    Timestamp AS event_time,
    event,
    if(LogAttributes['rl.run.id'] != '', LogAttributes['rl.run.id'], ResourceAttributes['rl.run.id']) AS run_id,
    toUInt32OrZero(if(LogAttributes['rl.run.attempt'] != '', LogAttributes['rl.run.attempt'], ResourceAttributes['rl.run.attempt'])) AS attempt,
    if(LogAttributes['host.name'] != '', LogAttributes['host.name'], ResourceAttributes['host.name']) AS host,
    if(LogAttributes['rl.role'] != '', LogAttributes['rl.role'], ResourceAttributes['rl.role']) AS role,
    toUInt32OrZero(multiIf(
        LogAttributes['rl.rank.global'] != '', LogAttributes['rl.rank.global'],
        ResourceAttributes['rl.rank.global'] != '', ResourceAttributes['rl.rank.global'],
        LogAttributes['rl.rank'] != '', LogAttributes['rl.rank'],
        ResourceAttributes['rl.rank']
    )) AS rank,
    toUInt64OrZero(LogAttributes['rl.step']) AS step,
    SeverityText AS severity,
    Body AS body,
    TraceId AS trace_id,
    SpanId AS span_id,
    LogAttributes AS attributes,
    ResourceAttributes AS resource
FROM {{.Ident "otel_logs"}}
WHERE event != '';
