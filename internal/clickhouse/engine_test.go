package clickhouse

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pitwall-otel/pitwall/internal/enginetest"
)

// Every test below runs on the real engine; they share one, with a database each.
func TestOnTheEngine(t *testing.T) {
	engine := enginetest.Start(t)
	for name, test := range map[string]func(*testing.T, *rig){
		"first migration makes the seed's table":     testSeedTable,
		"all migrations keep the seed's contract":    testSeedContract,
		"seed's query runs":                          testSeedQuery,
		"migrating again changes nothing":            testMigrateTwice,
		"user's own table keeps its rows":            testUsersTable,
		"delete still works beside the projection":   testDelete,
		"several migrators at once":                  testConcurrentMigrators,
		"two tables in one database":                 testTwoTables,
		"names of any kind":                          testNames,
		"dropped table is made again":                testDroppedTable,
		"half a migration is finished":               testHalfMigration,
		"newer schema":                               testNewerSchema,
		"user-made table of the right columns":       testCheckAccepts,
		"table that breaks the contract":             testCheckRefuses,
		"same token is stored once":                  testToken,
		"rows are found whole":                       testStored,
		"answered inserts are on the disk":           testSynced,
		"errors as the engine gives them":            testErrors,
		"cluster's statements parse":                 testClusterParses,
		"cluster's local tables work":                testClusterLocal,
		"traces and logs tables as upstream's":       testUpstreamTables,
		"upstream's exporter writes into the tables": testUpstreamWrites,
	} {
		t.Run(name, func(t *testing.T) {
			database := strings.NewReplacer(" ", "_", "'", "", "-", "").Replace(name)
			test(t, &rig{
				engine: engine,
				client: newTestClient(t, engine.Endpoint(), "", ""),
				target: Target{Database: database, Table: DefaultTable},
			})
		})
	}
}

// rig is a test's share of the engine.
type rig struct {
	engine *enginetest.Engine
	client *Client
	target Target
}

func (r *rig) migrate(t *testing.T) {
	t.Helper()
	require.NoError(t, Migrate(t.Context(), r.client, r.target))
}

// query replaces DB in the statement with the test's database.
func (r *rig) query(t *testing.T, statement string) [][]string {
	t.Helper()
	rows, err := r.client.Query(t.Context(), strings.ReplaceAll(statement, "DB", r.target.Database), nil)
	require.NoError(t, err, statement)
	return rows
}

func (r *rig) exec(t *testing.T, statement string) {
	t.Helper()
	require.NoError(t, r.client.Exec(t.Context(), strings.ReplaceAll(statement, "DB", r.target.Database), nil), statement)
}

// seed makes the table by the owner's own statement, in the test's database.
func (r *rig) seed(t *testing.T) {
	t.Helper()
	r.exec(t, "CREATE DATABASE DB")
	r.exec(t, strings.Replace(seedDDL(t), "training_observability.", "DB.", 1))
}

func seedDDL(t *testing.T) string {
	t.Helper()
	ddl, err := os.ReadFile("testdata/seed.sql")
	require.NoError(t, err)
	return string(ddl)
}

func testSeedTable(t *testing.T, r *rig) {
	migrations, err := Migrations(r.target)
	require.NoError(t, err)
	for _, statement := range migrations[0].Statements {
		r.exec(t, statement)
	}
	r.exec(t, "CREATE DATABASE DB_seed")
	r.exec(t, strings.Replace(seedDDL(t), "training_observability.", "DB_seed.", 1))

	ours := r.query(t, "SHOW CREATE TABLE DB.metric_points")[0][0]
	seeds := r.query(t, "SHOW CREATE TABLE DB_seed.metric_points")[0][0]
	assert.Equal(t, strings.Replace(seeds, r.target.Database+"_seed.", r.target.Database+".", 1), ours)
}

func testSeedContract(t *testing.T, r *rig) {
	r.migrate(t)
	r.exec(t, "CREATE DATABASE DB_seed")
	r.exec(t, strings.Replace(seedDDL(t), "training_observability.", "DB_seed.", 1))

	columns := "SELECT * EXCEPT(database) FROM system.columns WHERE database = '%s' AND table = 'metric_points' ORDER BY position"
	assert.Equal(t, r.query(t, fmt.Sprintf(columns, "DB_seed")), r.query(t, fmt.Sprintf(columns, "DB")))
	table := "SELECT engine, partition_key, sorting_key, primary_key, sampling_key, storage_policy " +
		"FROM system.tables WHERE database = '%s' AND name = 'metric_points'"
	assert.Equal(t, r.query(t, fmt.Sprintf(table, "DB_seed")), r.query(t, fmt.Sprintf(table, "DB")))
}

func testSeedQuery(t *testing.T, r *rig) {
	r.migrate(t)
	r.exec(t, "INSERT INTO DB.metric_points (run_id, metric, value) VALUES ('r', 'loss', 1), ('r', 'loss', 2), ('', 'sys.cpu_percent', 5)")
	assert.Equal(t, [][]string{{"loss", "2", "1.5"}, {"sys.cpu_percent", "1", "5"}},
		r.query(t, "SELECT metric, count(), avg(value) FROM DB.metric_points GROUP BY metric ORDER BY metric"))
	assert.Equal(t, [][]string{{"r", "", "0", "65535", "0", "loss", "1", "", ""}},
		r.query(t, "SELECT * EXCEPT(event_time) FROM DB.metric_points WHERE metric = 'loss' AND value = 1"))
}

func testToken(t *testing.T, r *rig) {
	r.migrate(t)
	insert := func(token, rows string) {
		t.Helper()
		require.NoError(t, r.client.Insert(t.Context(),
			"INSERT INTO "+r.target.Ident("metric_points")+" (event_time, run_id, metric, value) FORMAT TabSeparated",
			map[string]string{"insert_deduplication_token": token}, [][]byte{[]byte(rows)}, ""))
	}
	// Two months, so two parts.
	const rows = "2026-10-01 00:00:00.000\tr\tloss\t1\n2026-11-01 00:00:00.000\tr\tloss\t2\n"
	insert("first", rows)
	insert("first", rows)
	assert.Equal(t, [][]string{{"2"}}, r.query(t, "SELECT count() FROM DB.metric_points"), "sent again")
	insert("second", rows)
	assert.Equal(t, [][]string{{"4"}}, r.query(t, "SELECT count() FROM DB.metric_points"), "equal rows of their own")
}

func testErrors(t *testing.T, r *rig) {
	r.migrate(t)
	f := func(statement string, code int, want Class) {
		t.Helper()
		err := r.client.Exec(t.Context(), strings.ReplaceAll(statement, "DB", r.target.Database), nil)
		var answered *Error
		require.ErrorAs(t, err, &answered, statement)
		assert.Equal(t, code, answered.Code, statement)
		assert.NotEmpty(t, answered.Name, statement)
		assert.Equal(t, r.engine.Endpoint(), answered.Address)
		assert.Equal(t, want, Classify(err), statement)
	}
	f("INSERT INTO DB.metric_points (nope) VALUES (1)", 16, Permanent)
	f("INSERT INTO DB.metric_points (run_id, metric, value) SELECT 'r', 'm', toFloat64('abc')", 72, Permanent)
	f("INSERT INTO DB.nope VALUES (1)", 60, Configuration)
	f("INSERT INTO nowhere.nope VALUES (1)", 81, Configuration)
	f("ALTER TABLE DB.metric_points MODIFY SETTING nope = 1", 115, Configuration)
	f("SELECT count() FROM numbers(1e12) WHERE cityHash64(number) = 1 SETTINGS max_execution_time = 0.1", 159, Retryable)

	err := r.client.Exec(t.Context(), "INSERT INTO "+r.target.Ident("metric_points")+
		" (event_time, run_id, metric, value) SELECT toDateTime64('1980-01-01 00:00:00', 3) + toIntervalMonth(number), 'r', 'm', 1 FROM numbers(200)", nil)
	require.ErrorIs(t, err, ErrTooManyPartitions)
	assert.Equal(t, Permanent, Classify(err))
}

func TestWrongPasswordIsOneLineWithoutThePassword(t *testing.T) {
	engine := enginetest.Start(t, enginetest.WithPassword("right-secret"))
	client := newTestClient(t, engine.Endpoint(), "default", "wrong-secret")

	err := Migrate(t.Context(), client, Target{Database: "d", Table: "t"})
	require.Error(t, err)
	assert.Equal(t, Configuration, Classify(err))
	assert.Contains(t, err.Error(), engine.Endpoint()+": user default: code 516 AUTHENTICATION_FAILED")
	assert.NotContains(t, err.Error(), "secret")
	assert.NotContains(t, err.Error(), "\n")

	require.NoError(t, Migrate(t.Context(), newTestClient(t, engine.Endpoint(), "default", "right-secret"), Target{Database: "d", Table: "t"}))
}

// A refusal in the middle of a large body must not look like a broken network, or a wrong password would be
// reported as one for ever.
func TestRefusalOfALargeBodyKeepsItsReason(t *testing.T) {
	engine := enginetest.Start(t, enginetest.WithPassword("right-secret"))
	body := [][]byte{make([]byte, 20<<20)}
	for range 20 {
		err := newTestClient(t, engine.Endpoint(), "default", "wrong-secret").Insert(t.Context(), "INSERT INTO d.t FORMAT Native", nil, body, "")
		require.ErrorContains(t, err, "code 516 AUTHENTICATION_FAILED")
		err = newTestClient(t, engine.Endpoint(), "default", "right-secret").Insert(t.Context(), "INSERT INTO d.t FORMAT Native", nil, body, "")
		require.ErrorContains(t, err, "code 81 UNKNOWN_DATABASE")
	}
}
