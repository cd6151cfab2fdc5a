-- A quarter to a third less on disk than LZ4, for new parts. ClickHouse knows this setting since 25.4.
ALTER TABLE {{.Local .Table}}{{.OnCluster}}
    MODIFY SETTING default_compression_codec = 'ZSTD(3)';
