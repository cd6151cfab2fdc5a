-- Pitwall's tables around metrics.points. Running this again changes nothing.

-- Migration 0001: metric points
-- The database, the record of what was applied, and the table of the row contract.
CREATE DATABASE IF NOT EXISTS `metrics` ON CLUSTER `main`;
-- One row per applied migration and table. A binary older than oldest_writer must not write.
CREATE TABLE IF NOT EXISTS `metrics`.`schema_migrations` ON CLUSTER `main`
(
    `table_name` String,
    `version` UInt32,
    `name` String,
    `checksum` String,
    `oldest_writer` UInt32,
    `applied_at` DateTime64(3) DEFAULT now64(3)
)
ENGINE = ReplicatedReplacingMergeTree
ORDER BY (table_name, version);
CREATE TABLE IF NOT EXISTS `metrics`.`points_local` ON CLUSTER `main`
(
    `event_time` DateTime64(3) DEFAULT now64(3),
    `run_id` LowCardinality(String),
    `host` LowCardinality(String) DEFAULT '',
    `rank` UInt32 DEFAULT 0,
    `device` UInt16 DEFAULT 65535,
    `step` UInt64 DEFAULT 0,
    `metric` LowCardinality(String),
    `value` Float64,
    `unit` LowCardinality(String) DEFAULT '',
    `tags_json` String DEFAULT ''
)
ENGINE = ReplicatedMergeTree
PARTITION BY toYYYYMM(event_time)
ORDER BY (run_id, metric, host, rank, device, step, event_time);
-- All points of a run are on one shard.
CREATE TABLE IF NOT EXISTS `metrics`.`points` ON CLUSTER `main` AS `metrics`.`points_local`
ENGINE = Distributed('main', 'metrics', 'points_local', cityHash64(run_id));
INSERT INTO `metrics`.`schema_migrations` (table_name, version, name, checksum, oldest_writer) VALUES ('points', 1, 'metric_points', 'e4c3eb0d41c6de57', 1);

-- Migration 0002: deduplication
-- An INSERT that is sent again after a lost answer is recognised by its token among this many of a shard's last
-- INSERTs, and for a week of them: newer servers keep an hour by default.
ALTER TABLE `metrics`.`points_local` ON CLUSTER `main`
    MODIFY SETTING replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;
INSERT INTO `metrics`.`schema_migrations` (table_name, version, name, checksum, oldest_writer) VALUES ('points', 2, 'deduplication', 'da2039f2e5955ade', 1);

-- Migration 0003: compression
-- A quarter to a third less on disk than LZ4, for new parts. ClickHouse knows this setting since 25.4.
ALTER TABLE `metrics`.`points_local` ON CLUSTER `main`
    MODIFY SETTING default_compression_codec = 'ZSTD(3)';
INSERT INTO `metrics`.`schema_migrations` (table_name, version, name, checksum, oldest_writer) VALUES ('points', 3, 'compression', '8275d676677758b8', 1);

-- Migration 0004: time index
-- "What is alive now" reads the last minutes' granules instead of every run. For new parts.
ALTER TABLE `metrics`.`points_local` ON CLUSTER `main`
    ADD INDEX IF NOT EXISTS ix_time event_time TYPE minmax GRANULARITY 1;
INSERT INTO `metrics`.`schema_migrations` (table_name, version, name, checksum, oldest_writer) VALUES ('points', 4, 'time_index', '503d671abf73b45d', 1);

-- Migration 0005: runs projection
-- Without this setting a table with a projection refuses DELETE FROM, which worked before.
ALTER TABLE `metrics`.`points_local` ON CLUSTER `main`
    MODIFY SETTING lightweight_mutation_projection_mode = 'rebuild';
-- The list of runs and the latest values. It is used by queries that ask for these very aggregates. For new parts.
ALTER TABLE `metrics`.`points_local` ON CLUSTER `main`
    ADD PROJECTION IF NOT EXISTS p_runs
    (
        SELECT
            run_id,
            metric,
            min(event_time),
            max(event_time),
            max(step),
            count(),
            sum(value),
            argMax(value, event_time)
        GROUP BY
            run_id,
            metric
    );
INSERT INTO `metrics`.`schema_migrations` (table_name, version, name, checksum, oldest_writer) VALUES ('points', 5, 'runs_projection', 'b940289ca38d40b5', 1);

-- Migration 0006: traces
-- Spans as the upstream ClickHouse exporter inserts them with create_schema: false.
CREATE TABLE IF NOT EXISTS `metrics`.`otel_traces_local` ON CLUSTER `main`
(
    `Timestamp` DateTime64(9) CODEC(Delta(8), ZSTD(1)),
    `TraceId` String CODEC(ZSTD(1)),
    `SpanId` String CODEC(ZSTD(1)),
    `ParentSpanId` String CODEC(ZSTD(1)),
    `TraceState` String CODEC(ZSTD(1)),
    `SpanName` LowCardinality(String) CODEC(ZSTD(1)),
    `SpanKind` LowCardinality(String) CODEC(ZSTD(1)),
    `ServiceName` LowCardinality(String) CODEC(ZSTD(1)),
    `ResourceAttributes` Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    `ScopeName` String CODEC(ZSTD(1)),
    `ScopeVersion` String CODEC(ZSTD(1)),
    `SpanAttributes` Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    `Duration` UInt64 CODEC(ZSTD(1)),
    `StatusCode` LowCardinality(String) CODEC(ZSTD(1)),
    `StatusMessage` String CODEC(ZSTD(1)),
    `Events.Timestamp` Array(DateTime64(9)) CODEC(ZSTD(1)),
    `Events.Name` Array(LowCardinality(String)) CODEC(ZSTD(1)),
    `Events.Attributes` Array(Map(LowCardinality(String), String)) CODEC(ZSTD(1)),
    `Links.TraceId` Array(String) CODEC(ZSTD(1)),
    `Links.SpanId` Array(String) CODEC(ZSTD(1)),
    `Links.TraceState` Array(String) CODEC(ZSTD(1)),
    `Links.Attributes` Array(Map(LowCardinality(String), String)) CODEC(ZSTD(1)),
    INDEX ix_trace TraceId TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX ix_resource_keys mapKeys(ResourceAttributes) TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX ix_resource_values mapValues(ResourceAttributes) TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX ix_span_keys mapKeys(SpanAttributes) TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX ix_span_values mapValues(SpanAttributes) TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX ix_duration Duration TYPE minmax GRANULARITY 1
)
ENGINE = ReplicatedMergeTree
PARTITION BY toDate(Timestamp)
ORDER BY (ServiceName, SpanName, toDateTime(Timestamp));
-- When each trace was, so that one trace is found without reading every day.
CREATE TABLE IF NOT EXISTS `metrics`.`otel_traces_trace_id_ts_local` ON CLUSTER `main`
(
    `TraceId` String CODEC(ZSTD(1)),
    `Start` DateTime CODEC(Delta(4), ZSTD(1)),
    `End` DateTime CODEC(Delta(4), ZSTD(1)),
    INDEX ix_trace TraceId TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ReplicatedMergeTree
PARTITION BY toDate(Start)
ORDER BY (TraceId, Start);
CREATE MATERIALIZED VIEW IF NOT EXISTS `metrics`.`otel_traces_trace_id_ts_mv` ON CLUSTER `main`
TO `metrics`.`otel_traces_trace_id_ts_local` AS
SELECT
    TraceId,
    min(Timestamp) AS Start,
    max(Timestamp) AS End
FROM `metrics`.`otel_traces_local`
WHERE TraceId != ''
GROUP BY TraceId;
CREATE TABLE IF NOT EXISTS `metrics`.`otel_traces` ON CLUSTER `main` AS `metrics`.`otel_traces_local`
ENGINE = Distributed('main', 'metrics', 'otel_traces_local', cityHash64(TraceId));
CREATE TABLE IF NOT EXISTS `metrics`.`otel_traces_trace_id_ts` ON CLUSTER `main` AS `metrics`.`otel_traces_trace_id_ts_local`
ENGINE = Distributed('main', 'metrics', 'otel_traces_trace_id_ts_local', cityHash64(TraceId));
INSERT INTO `metrics`.`schema_migrations` (table_name, version, name, checksum, oldest_writer) VALUES ('points', 6, 'traces', '621347fb20ade6e1', 1);

-- Migration 0007: logs
-- Log records as the upstream ClickHouse exporter inserts them with create_schema: false.
CREATE TABLE IF NOT EXISTS `metrics`.`otel_logs_local` ON CLUSTER `main`
(
    `Timestamp` DateTime64(9) CODEC(Delta(8), ZSTD(1)),
    `TraceId` String CODEC(ZSTD(1)),
    `SpanId` String CODEC(ZSTD(1)),
    `TraceFlags` UInt8,
    `SeverityText` LowCardinality(String) CODEC(ZSTD(1)),
    `SeverityNumber` UInt8,
    `ServiceName` LowCardinality(String) CODEC(ZSTD(1)),
    `Body` String CODEC(ZSTD(1)),
    `ResourceSchemaUrl` LowCardinality(String) CODEC(ZSTD(1)),
    `ResourceAttributes` Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    `ScopeSchemaUrl` LowCardinality(String) CODEC(ZSTD(1)),
    `ScopeName` String CODEC(ZSTD(1)),
    `ScopeVersion` LowCardinality(String) CODEC(ZSTD(1)),
    `ScopeAttributes` Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    `LogAttributes` Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    `EventName` String CODEC(ZSTD(1)),
    `__otel_materialized_k8s.cluster.name` LowCardinality(String) MATERIALIZED ResourceAttributes['k8s.cluster.name'] CODEC(ZSTD(1)),
    `__otel_materialized_k8s.container.name` LowCardinality(String) MATERIALIZED ResourceAttributes['k8s.container.name'] CODEC(ZSTD(1)),
    `__otel_materialized_k8s.deployment.name` LowCardinality(String) MATERIALIZED ResourceAttributes['k8s.deployment.name'] CODEC(ZSTD(1)),
    `__otel_materialized_k8s.namespace.name` LowCardinality(String) MATERIALIZED ResourceAttributes['k8s.namespace.name'] CODEC(ZSTD(1)),
    `__otel_materialized_k8s.node.name` LowCardinality(String) MATERIALIZED ResourceAttributes['k8s.node.name'] CODEC(ZSTD(1)),
    `__otel_materialized_k8s.pod.name` LowCardinality(String) MATERIALIZED ResourceAttributes['k8s.pod.name'] CODEC(ZSTD(1)),
    `__otel_materialized_k8s.pod.uid` LowCardinality(String) MATERIALIZED ResourceAttributes['k8s.pod.uid'] CODEC(ZSTD(1)),
    `__otel_materialized_deployment.environment.name` LowCardinality(String) MATERIALIZED ResourceAttributes['deployment.environment.name'] CODEC(ZSTD(1)),
    INDEX ix_trace TraceId TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX ix_resource_keys mapKeys(ResourceAttributes) TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX ix_resource_values mapValues(ResourceAttributes) TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX ix_scope_keys mapKeys(ScopeAttributes) TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX ix_scope_values mapValues(ScopeAttributes) TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX ix_log_keys mapKeys(LogAttributes) TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX ix_log_values mapValues(LogAttributes) TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX ix_body lower(Body) TYPE tokenbf_v1(32768, 3, 0) GRANULARITY 8
)
ENGINE = ReplicatedMergeTree
PARTITION BY toDate(Timestamp)
ORDER BY (toStartOfFiveMinutes(Timestamp), ServiceName, Timestamp);
CREATE TABLE IF NOT EXISTS `metrics`.`otel_logs` ON CLUSTER `main` AS `metrics`.`otel_logs_local`
ENGINE = Distributed('main', 'metrics', 'otel_logs_local', rand());
INSERT INTO `metrics`.`schema_migrations` (table_name, version, name, checksum, oldest_writer) VALUES ('points', 7, 'logs', '7572963b91aa45f2', 1);

-- Migration 0008: events
-- The name of an event, which some exporters write as an attribute only. Computed from what is stored, also for old rows.
ALTER TABLE `metrics`.`otel_logs_local` ON CLUSTER `main`
    ADD COLUMN IF NOT EXISTS `event` LowCardinality(String)
    MATERIALIZED if(EventName != '', EventName, LogAttributes['event.name']);
-- Whoever reads events skips what is lines only. For new parts.
ALTER TABLE `metrics`.`otel_logs_local` ON CLUSTER `main`
    ADD INDEX IF NOT EXISTS ix_event event TYPE set(100) GRANULARITY 4;
ALTER TABLE `metrics`.`otel_logs` ON CLUSTER `main`
    ADD COLUMN IF NOT EXISTS `event` LowCardinality(String)
    MATERIALIZED if(EventName != '', EventName, LogAttributes['event.name']);
-- Events of runs, sorted by run: in the logs, which are sorted by time, a run's checkpoints lie hours apart among its states.
-- The states stay there: they are a hundred times as many, and only recent ones are asked for. What is told twice, because
-- logs are delivered at least once, is here twice.
CREATE TABLE IF NOT EXISTS `metrics`.`run_events_local` ON CLUSTER `main`
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
ENGINE = ReplicatedMergeTree
PARTITION BY toYYYYMM(event_time)
ORDER BY (run_id, event, event_time);
-- The event's own attributes win over those of its process.
CREATE MATERIALIZED VIEW IF NOT EXISTS `metrics`.`run_events_mv` ON CLUSTER `main`
TO `metrics`.`run_events_local` AS
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
FROM `metrics`.`otel_logs_local`
WHERE event NOT IN ('', 'rl.state');
CREATE TABLE IF NOT EXISTS `metrics`.`run_events` ON CLUSTER `main` AS `metrics`.`run_events_local`
ENGINE = Distributed('main', 'metrics', 'run_events_local', cityHash64(run_id));
INSERT INTO `metrics`.`schema_migrations` (table_name, version, name, checksum, oldest_writer) VALUES ('points', 8, 'events', 'c2c00ffe858907cb', 1);

-- Migration 0009: run views
-- Lists of a run. What is told twice counts once.

-- A checkpoint, by all that was said of it.
CREATE VIEW IF NOT EXISTS `metrics`.`run_checkpoints` ON CLUSTER `main` AS
SELECT
    run_id,
    attributes['rl.checkpoint.id'] AS checkpoint_id,
    max(step) AS step,
    max(attempt) AS attempt,
    if(countIf(event = 'rl.checkpoint.saved') > 0, minIf(event_time, event = 'rl.checkpoint.saved'), NULL) AS saved_at,
    argMaxIf(attributes['rl.checkpoint.path'], event_time, event = 'rl.checkpoint.saved') AS path,
    argMaxIf(attributes['rl.checkpoint.format'], event_time, event = 'rl.checkpoint.saved') AS format,
    argMaxIf(toUInt64OrNull(attributes['rl.checkpoint.size']), event_time, event = 'rl.checkpoint.saved') AS size_bytes,
    argMaxIf(toUInt64OrNull(attributes['rl.checkpoint.files']), event_time, event = 'rl.checkpoint.saved') AS files,
    argMaxIf(toFloat64OrNull(attributes['rl.checkpoint.save.duration']), event_time, event = 'rl.checkpoint.saved') AS save_seconds,
    argMaxIf(attributes['rl.checkpoint.sha256'], event_time, attributes['rl.checkpoint.sha256'] != '') AS sha256,
    argMaxIf(attributes['rl.checkpoint.keep'], event_time, event = 'rl.checkpoint.saved') = 'true' AS keep,
    argMaxIf(attributes['rl.checkpoint.host'], event_time, event = 'rl.checkpoint.published') AS hosted_by,
    argMaxIf(attributes['rl.checkpoint.url'], event_time, event = 'rl.checkpoint.published') AS url,
    if(countIf(event = 'rl.checkpoint.published') > 0, minIf(event_time, event = 'rl.checkpoint.published'), NULL) AS published_at,
    multiIf(
        argMax(event = 'rl.checkpoint.deleted', (event_time, event = 'rl.checkpoint.deleted')), 'deleted',
        argMaxIf(attributes['rl.checkpoint.status'], event_time, event = 'rl.checkpoint.saved') != '',
        argMaxIf(attributes['rl.checkpoint.status'], event_time, event = 'rl.checkpoint.saved'),
        'complete'
    ) AS status
FROM `metrics`.`run_events`
WHERE event IN ('rl.checkpoint.saved', 'rl.checkpoint.deleted', 'rl.checkpoint.published')
GROUP BY run_id, checkpoint_id;
-- The latest score of a checkpoint at each task.
CREATE VIEW IF NOT EXISTS `metrics`.`run_benchmarks` ON CLUSTER `main` AS
SELECT
    run_id,
    attributes['rl.checkpoint.id'] AS checkpoint_id,
    attributes['rl.benchmark.suite'] AS suite,
    attributes['rl.benchmark.task'] AS task,
    attributes['rl.benchmark.harness'] AS harness,
    toUInt32OrZero(attributes['rl.k']) AS k,
    max(step) AS step,
    max(event_time) AS measured_at,
    argMax(toFloat64OrNull(attributes['rl.benchmark.score']), event_time) AS score
FROM `metrics`.`run_events`
WHERE event = 'rl.checkpoint.benchmark'
GROUP BY run_id, checkpoint_id, suite, task, harness, k;
-- A milestone as it was set last, and when it was reached first.
CREATE VIEW IF NOT EXISTS `metrics`.`run_milestones` ON CLUSTER `main` AS
SELECT
    run_id,
    attributes['rl.milestone.name'] AS milestone,
    argMaxIf(toUInt64OrNull(attributes['rl.milestone.target_tokens']), event_time, attributes['rl.milestone.target_tokens'] != '') AS target_tokens,
    argMaxIf(toUInt64OrNull(attributes['rl.milestone.target_step']), event_time, attributes['rl.milestone.target_step'] != '') AS target_step,
    if(countIf(attributes['rl.milestone.status'] = 'reached') > 0, minIf(event_time, attributes['rl.milestone.status'] = 'reached'), NULL) AS reached_at
FROM `metrics`.`run_events`
WHERE event = 'rl.milestone'
GROUP BY run_id, milestone;
-- Generated samples. Their texts are there only under the producer's content policy. Bound the time.
CREATE VIEW IF NOT EXISTS `metrics`.`run_samples` ON CLUSTER `main` AS
SELECT
    event_time,
    run_id,
    attempt,
    step,
    attributes['rl.sample.id'] AS sample_id,
    attributes['rl.prompt.id'] AS prompt_id,
    attributes['rl.group.id'] AS group_id,
    attributes['rl.environment.name'] AS environment,
    attributes['rl.sample.split'] AS split,
    toFloat64OrNull(attributes['rl.sample.reward']) AS reward,
    toFloat64OrNull(attributes['rl.sample.advantage']) AS advantage,
    toUInt64OrNull(attributes['rl.sample.length']) AS length,
    toUInt64OrNull(attributes['rl.sample.prompt_length']) AS prompt_length,
    attributes['rl.sample.finish_reason'] AS finish_reason,
    attributes['rl.sample.prompt'] AS prompt,
    attributes['rl.sample.completion'] AS completion,
    attributes['rl.sample.golden'] AS golden,
    attributes['rl.sample.text.policy'] AS text_policy,
    attributes['rl.sample.text.truncated'] = 'true' AS text_truncated,
    trace_id
FROM `metrics`.`run_events`
WHERE event = 'rl.sample';
-- What is said of states: that they began, are still open, ended. A state without an end is open. Bound the time.
CREATE VIEW IF NOT EXISTS `metrics`.`run_state_events` ON CLUSTER `main` AS
SELECT
    Timestamp AS event_time,
    if(LogAttributes['rl.run.id'] != '', LogAttributes['rl.run.id'], ResourceAttributes['rl.run.id']) AS run_id,
    toUInt32OrZero(if(LogAttributes['rl.run.attempt'] != '', LogAttributes['rl.run.attempt'], ResourceAttributes['rl.run.attempt'])) AS attempt,
    LogAttributes['rl.state.id'] AS state_id,
    LogAttributes['rl.state.op'] AS op,
    LogAttributes['rl.state.name'] AS state,
    LogAttributes['rl.phase'] AS phase,
    multiIf(
        LogAttributes['rl.lane'] != '', LogAttributes['rl.lane'],
        ResourceAttributes['rl.role'] != '', concat(ResourceAttributes['rl.role'], '/', ResourceAttributes['rl.rank']),
        concat(LogAttributes['rl.role'], '/', LogAttributes['rl.rank'])
    ) AS lane,
    if(LogAttributes['host.name'] != '', LogAttributes['host.name'], ResourceAttributes['host.name']) AS host,
    toUInt64OrZero(LogAttributes['rl.step']) AS step,
    toFloat64OrNull(LogAttributes['rl.state.expected']) AS expected_seconds
FROM `metrics`.`otel_logs`
WHERE event = 'rl.state';
INSERT INTO `metrics`.`schema_migrations` (table_name, version, name, checksum, oldest_writer) VALUES ('points', 9, 'run_views', '20ad1e79fd7008c2', 1);

-- Migration 0010: synced inserts
-- An INSERT is answered when its rows are on the disk and not only in the kernel's memory: after the answer nobody else has
-- them. What merges write is not synced, because their sources stay for minutes more (old_parts_lifetime).
ALTER TABLE `metrics`.`points_local` ON CLUSTER `main`
    MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1;
ALTER TABLE `metrics`.`otel_traces_local` ON CLUSTER `main`
    MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1;
ALTER TABLE `metrics`.`otel_traces_trace_id_ts_local` ON CLUSTER `main`
    MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1;
ALTER TABLE `metrics`.`otel_logs_local` ON CLUSTER `main`
    MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1;
ALTER TABLE `metrics`.`run_events_local` ON CLUSTER `main`
    MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1;
INSERT INTO `metrics`.`schema_migrations` (table_name, version, name, checksum, oldest_writer) VALUES ('points', 10, 'synced_inserts', '5c809128ca920183', 1);
