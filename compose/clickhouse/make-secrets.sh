#!/bin/bash
# Makes the stack's passwords once. The volume is root's on the host; the containers' accounts differ, so files are 0444.
set -euo pipefail
umask 022
for name in clickhouse_admin clickhouse_writer clickhouse_reader grafana_admin; do
	file=/run/secrets/$name
	[[ -s $file ]] && continue
	od -An -N24 -tx1 /dev/urandom | tr -d ' \n' >"$file.new"
	chmod 0444 "$file.new"
	mv "$file.new" "$file"
	echo "made $name"
done
