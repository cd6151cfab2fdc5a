package test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pitwall-otel/pitwall/internal/collectortest"
	"github.com/pitwall-otel/pitwall/internal/enginetest"
)

// TestSeedContract: the table that its owner made before Pitwall came is used as it is, its rows stay, and the owner's
// statements, unchanged, go on working beside the collector.
func TestSeedContract(t *testing.T) {
	ddl, query := seedFile(t, "seed_table.sql"), seedFile(t, "seed_query.sql")
	c := collectortest.New(t, "config/single-node.yaml")

	engine := enginetest.Start(t, enginetest.WithDataDir(filepath.Join(c.Dir, "data", "clickhouse")))
	for _, statement := range []string{
		"CREATE DATABASE training_observability", ddl,
		"INSERT INTO training_observability.metric_points (run_id, metric, value) VALUES ('old', 'loss', 2), ('old', 'loss', 4)",
	} {
		_, err := engine.Exec(statement)
		require.NoError(t, err)
	}
	const columns = `SELECT name, type, default_kind, default_expression FROM system.columns
		WHERE database = 'training_observability' AND table = 'metric_points' ORDER BY position FORMAT TabSeparated`
	const keys = `SELECT engine, partition_key, sorting_key, primary_key, uuid FROM system.tables
		WHERE database = 'training_observability' AND name = 'metric_points' FORMAT TabSeparated`
	wantColumns, wantKeys := ask(t, engine.Exec, columns), ask(t, engine.Exec, keys)
	engine.Stop()

	started := time.Now()
	c.Start()
	var averages map[string]string
	require.Eventually(t, func() bool {
		answer, err := c.Query(query)
		averages = map[string]string{}
		for line := range strings.Lines(answer) {
			metric, rest, _ := strings.Cut(strings.TrimSpace(line), "\t")
			averages[metric] = rest
		}
		return err == nil && averages["sys.cpu_percent"] != "" && averages["sys.net.lo.sent_bytes_per_s"] != ""
	}, time.Minute, 200*time.Millisecond, "no live rows within a minute")
	t.Logf("the host's rates are in the table %s after the start", time.Since(started).Round(100*time.Millisecond))
	assert.Equal(t, "2\t3", averages["loss"], "the owner's own rows")
	names := slices.Collect(maps.Keys(averages))
	for _, name := range []string{
		"sys.cpu_percent", "sys.mem_percent", "sys.disk./.percent", "sys.net.lo.sent_bytes_per_s", "sys.net.lo.recv_bytes_per_s",
	} {
		assert.Contains(t, names, name)
	}

	assert.Empty(t, ask(t, c.Query, ddl), "the owner's DDL runs again")
	assert.Equal(t, wantColumns, ask(t, c.Query, columns), "the owner's columns")
	assert.Equal(t, wantKeys, ask(t, c.Query, keys), "the owner's table itself, not a copy")
	// The owner's own writer, too, goes on: fewer columns than the table has, defaults for the rest.
	ask(t, c.Query, "INSERT INTO training_observability.metric_points (run_id, metric, value) VALUES ('old', 'loss', 6)")
	assert.Equal(t, "3\t4\t65535", ask(t, c.Query,
		"SELECT count(), avg(value), max(device) FROM training_observability.metric_points WHERE run_id = 'old' AND event_time > now() - 3600"))
	assert.NotContains(t, c.Log(), complaint)
}

// seedFile returns a statement of the table's owner, letter for letter.
func seedFile(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return strings.TrimSpace(string(content))
}

func ask(t *testing.T, run queryFunc, statement string) string {
	t.Helper()
	answer, err := run(statement)
	require.NoError(t, err, statement)
	return strings.TrimSpace(answer)
}
