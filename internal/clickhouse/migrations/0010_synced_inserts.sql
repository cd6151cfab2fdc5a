-- An INSERT is answered when its rows are on the disk and not only in the kernel's memory: after the answer nobody else has
-- them. What merges write is not synced, because their sources stay for minutes more (old_parts_lifetime).
ALTER TABLE {{.Local .Table}}{{.OnCluster}}
    MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1;
ALTER TABLE {{.Local "otel_traces"}}{{.OnCluster}}
    MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1;
ALTER TABLE {{.Local "otel_traces_trace_id_ts"}}{{.OnCluster}}
    MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1;
ALTER TABLE {{.Local "otel_logs"}}{{.OnCluster}}
    MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1;
ALTER TABLE {{.Local "run_events"}}{{.OnCluster}}
    MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1;
