package main

import (
	"bytes"
	"flag"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pitwall-otel/pitwall/internal/clickhouse"
	"github.com/pitwall-otel/pitwall/internal/enginetest"
)

// The golden files show a reviewer what a change of the migrations does to a server. A released migration must not
// change: its checksum is in the tables it was applied to.
func TestPrintedSQL(t *testing.T) {
	f := func(golden string, args ...string) {
		t.Helper()
		var out bytes.Buffer
		require.NoError(t, run(args, &out, &bytes.Buffer{}))
		path := "testdata/" + golden
		if update {
			require.NoError(t, os.WriteFile(path, out.Bytes(), 0o644))
		}
		want, err := os.ReadFile(path)
		require.NoError(t, err, "run the test with -update")
		assert.Equal(t, string(want), out.String())
	}
	f("single.sql")
	f("cluster.sql", "--database", "metrics", "--table", "points", "--cluster", "main")
}

var update bool

func TestMain(m *testing.M) {
	flag.BoolVar(&update, "update", false, "write the golden files")
	flag.Parse()
	os.Exit(m.Run())
}

func TestPrintedSQLRunsStatementByStatement(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run(nil, &out, &bytes.Buffer{}))
	engine := enginetest.Start(t)
	for range 2 {
		for statement := range strings.SplitSeq(out.String(), ";\n") {
			if strings.TrimSpace(statement) != "" {
				engine.Query(statement)
			}
		}
	}
	migrations, err := clickhouse.Migrations(clickhouse.Target{Database: clickhouse.DefaultDatabase, Table: clickhouse.DefaultTable})
	require.NoError(t, err)
	assert.Equal(t, [][]string{{strconv.Itoa(len(migrations))}}, engine.Query("SELECT uniqExact(version) FROM training_observability.schema_migrations"))
	assert.Equal(t, [][]string{{"0"}}, engine.Query("SELECT count() FROM training_observability.metric_points"))
}

func TestArguments(t *testing.T) {
	f := func(want string, args ...string) {
		t.Helper()
		var out, messages bytes.Buffer
		err := run(args, &out, &messages)
		require.ErrorContains(t, err, want)
		assert.Empty(t, out.String(), "half a schema must not be piped on")
	}
	f("table: must not be empty", "--table", "")
	f(`unexpected argument "x"`, "x")
	f("flag provided but not defined: -nope", "--nope")
	f("help requested", "--help")
}
