-- Spans as the upstream ClickHouse exporter inserts them with create_schema: false.
CREATE TABLE IF NOT EXISTS {{.Local "otel_traces"}}{{.OnCluster}}
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
ENGINE = {{.Engine "MergeTree"}}
PARTITION BY toDate(Timestamp)
ORDER BY (ServiceName, SpanName, toDateTime(Timestamp));

-- When each trace was, so that one trace is found without reading every day.
CREATE TABLE IF NOT EXISTS {{.Local "otel_traces_trace_id_ts"}}{{.OnCluster}}
(
    `TraceId` String CODEC(ZSTD(1)),
    `Start` DateTime CODEC(Delta(4), ZSTD(1)),
    `End` DateTime CODEC(Delta(4), ZSTD(1)),
    INDEX ix_trace TraceId TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = {{.Engine "MergeTree"}}
PARTITION BY toDate(Start)
ORDER BY (TraceId, Start);

CREATE MATERIALIZED VIEW IF NOT EXISTS {{.Ident "otel_traces_trace_id_ts_mv"}}{{.OnCluster}}
TO {{.Local "otel_traces_trace_id_ts"}} AS
SELECT
    TraceId,
    min(Timestamp) AS Start,
    max(Timestamp) AS End
FROM {{.Local "otel_traces"}}
WHERE TraceId != ''
GROUP BY TraceId;
{{- if .Cluster}}

CREATE TABLE IF NOT EXISTS {{.Ident "otel_traces"}}{{.OnCluster}} AS {{.Local "otel_traces"}}
ENGINE = {{.Distributed "otel_traces" "cityHash64(TraceId)"}};

CREATE TABLE IF NOT EXISTS {{.Ident "otel_traces_trace_id_ts"}}{{.OnCluster}} AS {{.Local "otel_traces_trace_id_ts"}}
ENGINE = {{.Distributed "otel_traces_trace_id_ts" "cityHash64(TraceId)"}};
{{- end}}
