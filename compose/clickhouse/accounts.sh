#!/bin/bash
# Accounts of the stack, after each start of the server: pitwall writes and migrates, grafana reads within limits.
set -euo pipefail

password() {
	local value
	value=$(<"/run/secrets/$1")
	[[ $value =~ ^[[:alnum:]._-]+$ ]] || { echo "secret $1: only letters, digits, . _ and - can be used" >&2; exit 1; }
	printf %s "$value"
}

writer=$(password clickhouse_writer)
reader=$(password clickhouse_reader)

clickhouse-client --user "$CLICKHOUSE_USER" --password "$CLICKHOUSE_PASSWORD" --multiquery <<SQL
CREATE DATABASE IF NOT EXISTS training_observability;

CREATE USER IF NOT EXISTS pitwall;
ALTER USER pitwall IDENTIFIED WITH sha256_password BY '$writer';
GRANT SELECT, INSERT, ALTER, CREATE, DROP, SHOW ON training_observability.* TO pitwall;

-- 2 and not 1: Grafana's data source sends settings with each query. What limits a query cannot be raised by it.
CREATE SETTINGS PROFILE IF NOT EXISTS pitwall_reader;
ALTER SETTINGS PROFILE pitwall_reader SETTINGS
    readonly = 2,
    max_execution_time = 60 MAX 60,
    max_memory_usage = 4000000000 MAX 4000000000,
    max_result_rows = 1000000 MAX 1000000,
    max_concurrent_queries_for_user = 32 MAX 32;
CREATE USER IF NOT EXISTS grafana;
ALTER USER grafana IDENTIFIED WITH sha256_password BY '$reader' SETTINGS PROFILE 'pitwall_reader';
GRANT SELECT ON training_observability.* TO grafana;
SQL
