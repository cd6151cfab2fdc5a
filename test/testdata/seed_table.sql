CREATE TABLE IF NOT EXISTS training_observability.metric_points
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
ENGINE = MergeTree
PARTITION BY toYYYYMM(event_time)
ORDER BY (run_id, metric, host, rank, device, step, event_time);
