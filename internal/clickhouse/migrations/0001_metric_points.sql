-- The database, the record of what was applied, and the table of the row contract.
CREATE DATABASE IF NOT EXISTS {{.Quote .Database}}{{.OnCluster}};

-- One row per applied migration and table. A binary older than oldest_writer must not write.
CREATE TABLE IF NOT EXISTS {{.Ident .RecordsTable}}{{.OnCluster}}
(
    `table_name` String,
    `version` UInt32,
    `name` String,
    `checksum` String,
    `oldest_writer` UInt32,
    `applied_at` DateTime64(3) DEFAULT now64(3)
)
ENGINE = {{.Engine "ReplacingMergeTree"}}
ORDER BY (table_name, version);

CREATE TABLE IF NOT EXISTS {{.Local .Table}}{{.OnCluster}}
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
ENGINE = {{.Engine "MergeTree"}}
PARTITION BY toYYYYMM(event_time)
ORDER BY (run_id, metric, host, rank, device, step, event_time);
{{- if .Cluster}}

-- All points of a run are on one shard.
CREATE TABLE IF NOT EXISTS {{.Ident .Table}}{{.OnCluster}} AS {{.Local .Table}}
ENGINE = {{.Distributed .Table "cityHash64(run_id)"}};
{{- end}}
