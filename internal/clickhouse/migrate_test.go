package clickhouse

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

const (
	recordsQuery = "SELECT version, name, checksum, toUnixTimestamp64Milli(applied_at) FROM DB.schema_migrations " +
		"WHERE table_name = 'metric_points' ORDER BY version, applied_at"
	indexQuery = "SELECT 'index', name, type_full FROM system.data_skipping_indices WHERE database = 'DB' AND table = 'metric_points' " +
		"UNION ALL SELECT 'projection', name, type::String FROM system.projections WHERE database = 'DB' AND table = 'metric_points' ORDER BY 1"
	settingsQuery = "SELECT extract(engine_full, 'SETTINGS (.*)') FROM system.tables WHERE database = 'DB' AND name = 'metric_points'"
)

func testMigrateTwice(t *testing.T, r *rig) {
	r.migrate(t)
	records, settings, indices := r.query(t, recordsQuery), r.query(t, settingsQuery), r.query(t, indexQuery)
	assert.Len(t, records, newest(t))
	assert.Equal(t, [][]string{{"index", "ix_time", "minmax"}, {"projection", "p_runs", "Aggregate"}}, indices)
	assert.Equal(t, [][]string{{"index_granularity = 8192, non_replicated_deduplication_window = 10000, " +
		"default_compression_codec = 'ZSTD(3)', lightweight_mutation_projection_mode = 'rebuild', " +
		"fsync_after_insert = 1, fsync_part_directory = 1"}}, settings)

	// A setting the owner changed stays as it is, because what is recorded is not run again.
	r.exec(t, "ALTER TABLE DB.metric_points MODIFY SETTING default_compression_codec = 'ZSTD(6)'")
	r.migrate(t)
	assert.Equal(t, records, r.query(t, recordsQuery))
	assert.Contains(t, r.query(t, settingsQuery)[0][0], "ZSTD(6)")
	assert.Equal(t, indices, r.query(t, indexQuery))
}

func testUsersTable(t *testing.T, r *rig) {
	r.seed(t)
	r.exec(t, "INSERT INTO DB.metric_points (event_time, run_id, metric, value) SELECT now() - number, 'old', 'loss', number FROM numbers(1000)")
	before := r.query(t, "SELECT sum(cityHash64(*)), count() FROM DB.metric_points")
	columns := r.query(t, "DESCRIBE TABLE DB.metric_points")

	r.migrate(t)
	assert.Equal(t, before, r.query(t, "SELECT sum(cityHash64(*)), count() FROM DB.metric_points"))
	assert.Equal(t, columns, r.query(t, "DESCRIBE TABLE DB.metric_points"))
	assert.Len(t, r.query(t, indexQuery), 2)

	info, err := CheckTable(t.Context(), r.client, r.target)
	require.NoError(t, err)
	assert.Equal(t, TableInfo{Engine: "MergeTree", DeduplicationWindow: 10000, DeduplicateInsert: true, SchemaVersion: newest(t)}, info)
	insert := func() {
		require.NoError(t, r.client.Insert(t.Context(), "INSERT INTO "+r.target.Ident("metric_points")+" (run_id, metric, value) FORMAT TabSeparated",
			map[string]string{"insert_deduplication_token": "x"}, [][]byte{[]byte("new\tloss\t1\n")}, ""))
	}
	insert()
	insert()
	assert.Equal(t, [][]string{{"1"}}, r.query(t, "SELECT count() FROM DB.metric_points WHERE run_id = 'new'"))
}

func testDelete(t *testing.T, r *rig) {
	r.migrate(t)
	r.exec(t, "INSERT INTO DB.metric_points (run_id, metric, value) VALUES ('keep', 'loss', 1), ('drop', 'loss', 2)")
	r.exec(t, "DELETE FROM DB.metric_points WHERE run_id = 'drop'")
	assert.Equal(t, [][]string{{"keep", "1"}}, r.query(t, "SELECT run_id, count() FROM DB.metric_points GROUP BY run_id"))
}

func testConcurrentMigrators(t *testing.T, r *rig) {
	var group errgroup.Group
	for range 4 {
		client := newTestClient(t, r.engine.Endpoint(), "", "")
		group.Go(func() error { return Migrate(t.Context(), client, r.target) })
	}
	require.NoError(t, group.Wait())
	assert.Equal(t, [][]string{{strconv.Itoa(newest(t))}}, r.query(t, "SELECT uniqExact(version) FROM DB.schema_migrations"))
	assert.Len(t, r.query(t, indexQuery), 2)
	_, err := CheckTable(t.Context(), r.client, r.target)
	require.NoError(t, err)
}

func testTwoTables(t *testing.T, r *rig) {
	r.migrate(t)
	second := Target{Database: r.target.Database, Table: "other_points"}
	require.NoError(t, Migrate(t.Context(), r.client, second))
	info, err := CheckTable(t.Context(), r.client, second)
	require.NoError(t, err)
	assert.Equal(t, 10000, info.DeduplicationWindow, "the other table's records must not stand for this one")
}

func testNames(t *testing.T, r *rig) {
	for _, name := range []string{"with-dash", "with space", "with'quote", "with`backtick", `with\backslash`, "ä", "select", "9"} {
		target := Target{Database: "db " + name, Table: "table " + name}
		require.NoError(t, Migrate(t.Context(), r.client, target), name)
		require.NoError(t, Migrate(t.Context(), r.client, target), name)
		info, err := CheckTable(t.Context(), r.client, target)
		require.NoError(t, err, name)
		assert.Equal(t, newest(t), info.SchemaVersion, name)
	}
}

func testDroppedTable(t *testing.T, r *rig) {
	r.migrate(t)
	r.exec(t, "DROP TABLE DB.metric_points SYNC")
	r.migrate(t)
	assert.Contains(t, r.query(t, settingsQuery)[0][0], "non_replicated_deduplication_window = 10000")
	assert.Len(t, r.query(t, indexQuery), 2)

	r.exec(t, "DROP TABLE DB.otel_logs SYNC")
	r.migrate(t)
	assert.Equal(t, [][]string{{"0"}}, r.query(t, "SELECT count() FROM DB.otel_logs"))
}

func testHalfMigration(t *testing.T, r *rig) {
	migrations, err := Migrations(r.target)
	require.NoError(t, err)
	// As a collector leaves it that was killed at any point.
	for _, m := range migrations {
		for i, statement := range m.Statements {
			r.exec(t, statement)
			target := Target{Database: r.target.Database, Table: r.target.Table}
			if i < len(m.Statements)-1 {
				continue
			}
			require.NoError(t, Migrate(t.Context(), r.client, target), m.Name)
			r.exec(t, "TRUNCATE TABLE DB.schema_migrations")
		}
	}
	assert.Len(t, r.query(t, indexQuery), 2)
}

func testNewerSchema(t *testing.T, r *rig) {
	r.migrate(t)
	r.exec(t, "INSERT INTO DB.schema_migrations (table_name, version, name, oldest_writer) VALUES ('metric_points', 99, 'from_the_future', 5)")
	r.migrate(t)
	info, err := CheckTable(t.Context(), r.client, r.target)
	require.NoError(t, err)
	assert.Equal(t, 99, info.SchemaVersion)
	require.Len(t, info.Warnings, 1)
	assert.Contains(t, info.Warnings[0], fmt.Sprintf("version 99, made by a newer Pitwall; this one knows version %d", newest(t)))

	r.exec(t, "INSERT INTO DB.schema_migrations (table_name, version, name, oldest_writer) VALUES ('metric_points', 100, 'a_break', 100)")
	for _, err := range []error{Migrate(t.Context(), r.client, r.target), second(CheckTable(t.Context(), r.client, r.target))} {
		require.ErrorIs(t, err, ErrIncompatibleSchema)
		require.ErrorContains(t, err, fmt.Sprintf("at version 100 and want Pitwall with version 100 or later, this one has %d", newest(t)))
		assert.Equal(t, Configuration, Classify(err))
	}
}

// newest is the number of the last migration.
func newest(t *testing.T) int {
	t.Helper()
	migrations, err := Migrations(Target{Database: "d", Table: "t"})
	require.NoError(t, err)
	return len(migrations)
}

func second[T any](_ T, err error) error { return err }

// The engine here has no cluster, so it can only say that it understands the statements.
func testClusterParses(t *testing.T, r *rig) {
	migrations, err := Migrations(Target{Database: "d", Table: "t", Cluster: "it's `mine`"})
	require.NoError(t, err)
	for _, m := range migrations {
		for _, statement := range append(m.Statements, m.Record) {
			formatted := r.query(t, "SELECT formatQuery("+quoteLiteral(statement)+")")[0][0]
			if statement != m.Record {
				assert.Contains(t, formatted, "ON CLUSTER `it's \\`mine\\``", "%04d %s", m.Version, m.Name)
			}
		}
	}
}

// What the cluster's statements do to one server, with the words taken out that need the others: what reads a distributed
// table reads its local part here.
func testClusterLocal(t *testing.T, r *rig) {
	cluster := r.target
	cluster.Cluster = "c"
	migrations, err := Migrations(cluster)
	require.NoError(t, err)
	for _, m := range migrations {
		for _, statement := range append(m.Statements, m.Record) {
			statement = strings.NewReplacer(" ON CLUSTER `c`", "", "ENGINE = Replicated", "ENGINE = ").Replace(statement)
			if !strings.Contains(statement, "ENGINE = Distributed") {
				for _, table := range []string{"otel_logs", "run_events"} {
					statement = strings.ReplaceAll(statement, cluster.Ident(table), cluster.Ident(table+"_local"))
				}
				r.exec(t, statement)
			}
		}
	}
	assert.Equal(t, [][]string{
		{"metric_points_local"},
		{"otel_logs_local"},
		{"otel_traces_local"},
		{"otel_traces_trace_id_ts_local"},
		{"otel_traces_trace_id_ts_mv"},
		{"run_benchmarks"},
		{"run_checkpoints"},
		{"run_events_local"},
		{"run_events_mv"},
		{"run_milestones"},
		{"run_samples"},
		{"run_state_events"},
		{"schema_migrations"},
	},
		r.query(t, "SELECT name FROM system.tables WHERE database = 'DB' ORDER BY name"))
	local := Target{Database: r.target.Database, Table: "metric_points_local"}
	_, err = CheckTable(t.Context(), r.client, local)
	require.NoError(t, err)
}
