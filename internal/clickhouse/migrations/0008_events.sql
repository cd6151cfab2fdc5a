-- The name of an event, which some exporters write as an attribute only. Computed from what is stored, also for old rows.
ALTER TABLE {{.Local "otel_logs"}}{{.OnCluster}}
    ADD COLUMN IF NOT EXISTS `event` LowCardinality(String)
    MATERIALIZED if(EventName != '', EventName, LogAttributes['event.name']);
-- Whoever reads events skips what is lines only. For new parts.
ALTER TABLE {{.Local "otel_logs"}}{{.OnCluster}}
    ADD INDEX IF NOT EXISTS ix_event event TYPE set(100) GRANULARITY 4;
{{- if .Cluster}}
ALTER TABLE {{.Ident "otel_logs"}}{{.OnCluster}}
    ADD COLUMN IF NOT EXISTS `event` LowCardinality(String)
    MATERIALIZED if(EventName != '', EventName, LogAttributes['event.name']);
{{- end}}

-- Events of runs, sorted by run: in the logs, which are sorted by time, a run's checkpoints lie hours apart among its states.
-- The states stay there: they are a hundred times as many, and only recent ones are asked for. What is told twice, because
-- logs are delivered at least once, is here twice.
CREATE TABLE IF NOT EXISTS {{.Local "run_events"}}{{.OnCluster}}
(
    `event_time` DateTime64(9) CODEC(Delta(8), ZSTD(1)),
    `event` LowCardinality(String),
    `run_id` LowCardinality(String),
    `attempt` UInt32,
    `host` LowCardinality(String),
    `role` LowCardinality(String),
    `rank` UInt32,
    `step` UInt64,
    `severity` LowCardinality(String),
    `body` String CODEC(ZSTD(1)),
    `trace_id` String CODEC(ZSTD(1)),
    `span_id` String CODEC(ZSTD(1)),
    `attributes` Map(LowCardinality(String), String) CODEC(ZSTD(1))
)
ENGINE = {{.Engine "MergeTree"}}
PARTITION BY toYYYYMM(event_time)
ORDER BY (run_id, event, event_time);

-- The event's own attributes win over those of its process.
CREATE MATERIALIZED VIEW IF NOT EXISTS {{.Ident "run_events_mv"}}{{.OnCluster}}
TO {{.Local "run_events"}} AS
SELECT
    Timestamp AS event_time,
    if(EventName != '', EventName, LogAttributes['event.name']) AS event,
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
    LogAttributes AS attributes
FROM {{.Local "otel_logs"}}
WHERE event NOT IN ('', 'rl.state');
{{- if .Cluster}}

CREATE TABLE IF NOT EXISTS {{.Ident "run_events"}}{{.OnCluster}} AS {{.Local "run_events"}}
ENGINE = {{.Distributed "run_events" "cityHash64(run_id)"}};
{{- end}}
