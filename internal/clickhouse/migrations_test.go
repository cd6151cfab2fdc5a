package clickhouse

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTargetValidate(t *testing.T) {
	f := func(target Target, want ...string) {
		t.Helper()
		err := target.Validate()
		_, renderErr := Migrations(target)
		if len(want) == 0 {
			require.NoError(t, err)
			require.NoError(t, renderErr)
			return
		}
		for _, text := range want {
			require.ErrorContains(t, err, text)
			require.ErrorContains(t, renderErr, text)
		}
	}
	f(Target{Database: "d", Table: "t"})
	f(Target{Database: "d-1", Table: "мой 't`", Cluster: "{cluster}"})
	f(Target{}, "database: must not be empty", "table: must not be empty")
	f(Target{Database: "d\n", Table: "t\x00", Cluster: "\xff"}, `database: "d\n"`, `table: "t\x00"`, `cluster: "\xff"`)
	f(Target{Database: strings.Repeat("d", 129), Table: "t"}, "database: longer than 128 bytes")
	f(Target{Database: "d", Table: "otel_logs"}, "table: otel_logs is the name of another")
	f(Target{Database: "d", Table: "schema_migrations"}, "table: schema_migrations is the name of another")
}

func TestMigrationsAreNumberedAndNamed(t *testing.T) {
	migrations, err := Migrations(Target{Database: "d", Table: "t"})
	require.NoError(t, err)
	checksums := map[string]bool{}
	for i, m := range migrations {
		assert.Equal(t, i+1, m.Version)
		assert.NotEmpty(t, m.Name)
		assert.NotEmpty(t, m.Statements, m.Name)
		checksums[m.Checksum] = true
		for _, statement := range m.Statements {
			assert.NotContains(t, statement, ";", "%s: one statement per request", m.Name)
			assert.Regexp(t, `(?m)^(CREATE \w+( VIEW)? IF NOT EXISTS|ALTER TABLE) `, statement)
		}
	}
	assert.Len(t, checksums, len(migrations))
}

// A checksum is the template's, so collectors with different targets agree on what was applied.
func TestChecksumDoesNotDependOnTheTarget(t *testing.T) {
	one, err := Migrations(Target{Database: "d", Table: "t"})
	require.NoError(t, err)
	other, err := Migrations(Target{Database: "e", Table: "u", Cluster: "c"})
	require.NoError(t, err)
	for i := range one {
		assert.Equal(t, one[i].Checksum, other[i].Checksum)
	}
}

func TestSplitStatements(t *testing.T) {
	f := func(sql string, want ...string) {
		t.Helper()
		assert.Equal(t, want, splitStatements(sql))
	}
	f("")
	f("\n\n")
	f("A", "A")
	f("A;", "A")
	f("-- why\nA\n  B;\n\nC 'x; y';\n", "-- why\nA\n  B", "C 'x; y'")
}
