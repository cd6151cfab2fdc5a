package faults

import (
	"fmt"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pitwall-otel/pitwall/internal/clickhouse"
)

// The account's profile turns the recognition of repeated INSERTs off, as some do for producers without tokens.
func TestProfileWithoutDeduplication(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.proxy.profile = url.Values{"insert_deduplicate": {"0"}, "deduplicate_insert": {"disable"}, "async_insert": {"1"}}
	r.collector.Start()
	clients := r.send(usual)
	r.proxy.inject(every(2, loseAnswer))
	r.until(func() bool { return r.proxy.broken.Load() >= 10 }, "answers lost")
	clients.stop()
	r.proxy.heal()
	r.finish(0)
}

// Somebody works on the table while INSERTs are under way. What was accepted waits, and is stored once when the table is as it was.
func TestTableUnderRepair(t *testing.T) {
	t.Parallel()
	r := newRig(t, "exporters: {metricpoints: {create_schema: false}}")
	r.prepareTables()
	r.collector.Start()
	clients := r.send(usual)
	f := func(name string, breaks, mends string) {
		t.Helper()
		for range rounds(3) {
			r.acknowledges(2000)
			_, err := r.engine.Exec(breaks)
			require.NoError(t, err, name)
			r.acknowledges(4000)
			_, err = r.engine.Exec(mends)
			require.NoError(t, err, name)
			inserts := r.proxy.inserts.Load()
			r.until(func() bool { return r.proxy.inserts.Load() > inserts }, "%s: INSERTs go on", name)
		}
		assert.Zero(t, r.now()["points_dropped"], name)
	}
	f("renamed", "RENAME TABLE "+table+" TO "+table+"_away", "RENAME TABLE "+table+"_away TO "+table)
	f("a column gone", fmt.Sprintf("ALTER TABLE %s RENAME COLUMN unit TO units", table), fmt.Sprintf("ALTER TABLE %s RENAME COLUMN units TO unit", table))
	clients.stop()
	r.finish(0)
}

// A view behind the table fails. The table's rows are sound, so none of them is given up.
func TestBrokenView(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.collector.Start()
	clients := r.send(usual)
	r.acknowledges(2000)
	_, err := r.engine.Exec("CREATE TABLE training_observability.behind (step UInt64) ENGINE = MergeTree ORDER BY step")
	require.NoError(t, err)
	for _, expression := range []string{"toUInt64(tags_json)", "throwIf(step > 0)", "toUInt64(toDate(tags_json))"} {
		inserts := r.proxy.inserts.Load()
		r.until(func() bool { return r.proxy.inserts.Load() > inserts }, "INSERTs go on")
		_, err = r.engine.Exec("CREATE MATERIALIZED VIEW training_observability.view TO training_observability.behind AS SELECT " + expression + " AS step FROM " + table)
		require.NoError(t, err)
		r.acknowledges(4000)
		r.until(func() bool { return r.now()["insert_failures"] > 3 }, "INSERTs fail")
		_, err = r.engine.Exec("DROP TABLE training_observability.view SYNC")
		require.NoError(t, err)
	}
	clients.stop()
	r.finish(0)
	assert.Zero(t, r.now()["points_dropped"])
}

// prepareTables makes the tables, as somebody does whose collectors may not.
func (r *rig) prepareTables() {
	r.t.Helper()
	migrations, err := clickhouse.Migrations(clickhouse.Target{Database: "training_observability", Table: "metric_points"})
	require.NoError(r.t, err)
	for _, migration := range migrations {
		for _, statement := range append(migration.Statements, migration.Record) {
			_, err := r.engine.Exec(statement)
			require.NoError(r.t, err)
		}
	}
}
