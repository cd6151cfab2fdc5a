-- "What is alive now" reads the last minutes' granules instead of every run. For new parts.
ALTER TABLE {{.Local .Table}}{{.OnCluster}}
    ADD INDEX IF NOT EXISTS ix_time event_time TYPE minmax GRANULARITY 1;
