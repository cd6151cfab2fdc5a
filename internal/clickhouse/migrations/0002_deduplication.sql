{{- if .Cluster -}}
-- An INSERT that is sent again after a lost answer is recognised by its token among this many of a shard's last
-- INSERTs, and for a week of them: newer servers keep an hour by default.
ALTER TABLE {{.Local .Table}}{{.OnCluster}}
    MODIFY SETTING replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800;
{{- else -}}
-- An INSERT that is sent again after a lost answer is recognised by its token among this many last INSERTs.
ALTER TABLE {{.Local .Table}}
    MODIFY SETTING non_replicated_deduplication_window = 10000;
{{- end}}
