package clickhouse

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func testCheckAccepts(t *testing.T, r *rig) {
	r.seed(t)
	f := func(alter string, want TableInfo) {
		t.Helper()
		if alter != "" {
			r.exec(t, "ALTER TABLE DB.metric_points "+alter)
		}
		info, err := CheckTable(t.Context(), r.client, r.target)
		require.NoError(t, err)
		want.DeduplicateInsert = true // the engine is new enough
		assert.Equal(t, want, info)
	}
	f("", TableInfo{Engine: "MergeTree", Warnings: []string{"table " + r.target.String() +
		" (engine MergeTree) has no deduplication window in force: an INSERT sent again after a lost answer is stored twice"}})
	f("MODIFY SETTING non_replicated_deduplication_window = 123", TableInfo{Engine: "MergeTree", DeduplicationWindow: 123})
	f("ADD COLUMN mine String DEFAULT 'x' FIRST", TableInfo{Engine: "MergeTree", DeduplicationWindow: 123})
	f("ADD COLUMN day Date MATERIALIZED toDate(event_time)", TableInfo{Engine: "MergeTree", DeduplicationWindow: 123})
	f("MODIFY COLUMN unit LowCardinality(String) DEFAULT 'x' COMMENT 'mine' CODEC(ZSTD(9))", TableInfo{Engine: "MergeTree", DeduplicationWindow: 123})
}

func testCheckRefuses(t *testing.T, r *rig) {
	f := func(wants ...string) {
		t.Helper()
		_, err := CheckTable(t.Context(), r.client, r.target)
		var table *TableError
		require.ErrorAs(t, err, &table)
		assert.Equal(t, Configuration, Classify(err))
		for _, want := range append(wants, r.engine.Endpoint()) {
			require.ErrorContains(t, err, strings.ReplaceAll(want, "DB", r.target.Database))
		}
	}
	f("database DB does not exist")
	r.exec(t, "CREATE DATABASE DB")
	f("table DB.metric_points does not exist")

	r.exec(t, strings.Replace(seedDDL(t), "training_observability.", "DB.", 1))
	r.exec(t, "ALTER TABLE DB.metric_points MODIFY COLUMN value Float32")
	f("table DB.metric_points: column value is Float32, want Float64")
	r.exec(t, "ALTER TABLE DB.metric_points DROP COLUMN tags_json")
	f("table DB.metric_points: column value is Float32, want Float64", "table DB.metric_points: column tags_json is missing, want String")

	r.exec(t, "DROP TABLE DB.metric_points SYNC")
	r.exec(t, strings.NewReplacer("training_observability.", "DB.", "`tags_json` String DEFAULT ''", "`tags_json` String MATERIALIZED ''").Replace(seedDDL(t)))
	f("column tags_json is String MATERIALIZED, want String")
}

func TestParseDistributed(t *testing.T) {
	f := func(full, database, table string, ok bool) {
		t.Helper()
		gotDatabase, gotTable, gotOK := parseDistributed(full)
		assert.Equal(t, ok, gotOK)
		assert.Equal(t, database, gotDatabase)
		assert.Equal(t, table, gotTable)
	}
	f("Distributed('c', 'training_observability', 'metric_points_local', cityHash64(run_id))", "training_observability", "metric_points_local", true)
	f(`Distributed('it\'s', 'a\\b', 'c\'d')`, `a\b`, "c'd", true)
	f("Distributed(c, d, t)", "", "", false)
	f("MergeTree ORDER BY a", "", "", false)
}

// The server's side of a cluster, which the engine of the other tests does not have.
func TestTableInfoOfClusterTables(t *testing.T) {
	f := func(localEngine, localFull, serverDefault string, want TableInfo) {
		t.Helper()
		client := scriptedClient(t, map[string]string{
			"FROM system.columns":              contractAnswer(),
			"AND name = 'metric_points'":       `["Distributed", "Distributed('c', 'd', 'metric_points_local', cityHash64(run_id))"]`,
			"AND name = 'metric_points_local'": `["` + localEngine + `", "` + localFull + `"]`,
			"replicated_merge_tree_settings":   `["` + serverDefault + `"]`,
			"GROUP BY version ORDER BY":        `["7", "1"]`,
			"FROM system.settings":             `["deduplicate_insert"]`,
			"name IN":                          strings.Repeat("[\"x\"]\n", 8),
		})
		info, err := CheckTable(t.Context(), client, Target{Database: "d", Table: "metric_points", Cluster: "c"})
		require.NoError(t, err)
		want.DeduplicateInsert = true
		assert.Equal(t, want, info)
	}
	replicated := "ReplicatedMergeTree('/x', '{replica}') ORDER BY a SETTINGS index_granularity = 8192"
	f("ReplicatedMergeTree", replicated+", replicated_deduplication_window = 10000", "1000",
		TableInfo{Engine: "Distributed", Distributed: true, DeduplicationWindow: 10000, SchemaVersion: 7})
	f("ReplicatedMergeTree", replicated, "1000",
		TableInfo{Engine: "Distributed", Distributed: true, DeduplicationWindow: 1000, SchemaVersion: 7})
	f("ReplicatedMergeTree", replicated+", replicated_deduplication_window = 0", "1000",
		TableInfo{Engine: "Distributed", Distributed: true, SchemaVersion: 7, Warnings: []string{
			"table d.metric_points_local (engine ReplicatedMergeTree) has no deduplication window in force: " +
				"an INSERT sent again after a lost answer is stored twice",
		}})
	f("ReplicatedMergeTree", replicated+", non_replicated_deduplication_window = 5", "1000",
		TableInfo{Engine: "Distributed", Distributed: true, DeduplicationWindow: 1000, SchemaVersion: 7})
}

func contractAnswer() string {
	var b strings.Builder
	for _, column := range columns() {
		b.WriteString(`["` + column[0] + `", "` + column[1] + `", ""]` + "\n")
	}
	return b.String()
}

// An account that may insert and nothing else is a sound set-up.
func TestCheckTableWithoutRightsOnTheRest(t *testing.T) {
	const denied = "Code: 497. DB::Exception: writer: Not enough privileges. (ACCESS_DENIED)"
	client := scriptedClient(t, map[string]string{
		"FROM system.columns":       contractAnswer(),
		"FROM system.tables":        `["MergeTree", "MergeTree ORDER BY a SETTINGS index_granularity = 8192"]`,
		"FROM system.merge_tree":    denied,
		"FROM system.settings":      "",
		"GROUP BY version ORDER BY": denied,
	})
	info, err := CheckTable(t.Context(), client, Target{Database: "d", Table: "points"})
	require.NoError(t, err)
	assert.Zero(t, info.SchemaVersion)
	assert.False(t, info.DeduplicateInsert, "an older server")
	assert.Len(t, info.Warnings, 1, "no deduplication window to be seen")
}
