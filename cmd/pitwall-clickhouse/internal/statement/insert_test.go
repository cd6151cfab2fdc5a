package statement

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestScanInsert(t *testing.T) {
	data := func(sql, head, format, rest string) {
		t.Helper()
		in, verdict := ScanInsert(sql, true)
		assert.Equal(t, Data, verdict, sql)
		assert.Equal(t, head, in.Head, sql)
		assert.Equal(t, format, in.Format, sql)
		assert.Equal(t, rest, sql[min(in.Data, len(sql)):], sql)
	}
	data("INSERT INTO t FORMAT Native\n\x00\x01", "INSERT INTO t ", "Native", "\x00\x01")
	data("INSERT INTO t FORMAT Native", "INSERT INTO t ", "Native", "")
	data("insert into t format CSV 1,2", "insert into t ", "CSV", "1,2")
	data("INSERT INTO t FORMAT CSV\r\n1\n", "INSERT INTO t ", "CSV", "1\n")
	data("INSERT INTO t FORMAT CSV\n\n1\n", "INSERT INTO t ", "CSV", "\n1\n")
	data("INSERT INTO t VALUES (1)", "INSERT INTO t ", "Values", " (1)")
	data("INSERT INTO TABLE db.t (a, `b c`) VALUES(1)", "INSERT INTO TABLE db.t (a, `b c`) ", "Values", "(1)")
	data("INSERT INTO values VALUES (1)", "INSERT INTO values ", "Values", " (1)")
	data(`INSERT INTO "for" . "mat" FORMAT JSON{}`, `INSERT INTO "for" . "mat" `, "JSON", "{}")
	data("INSERT INTO {d:Identifier}.{t:Identifier} FORMAT CSV\nx", "INSERT INTO {d:Identifier}.{t:Identifier} ", "CSV", "x")
	data("INSERT INTO t SETTINGS a = 'FORMAT x', b=1 FORMAT CSV\nx", "INSERT INTO t SETTINGS a = 'FORMAT x', b=1 ", "CSV", "x")
	data("INSERT INTO t FORMAT CSV SETTINGS a = -1.5, b = 'x'\n1", "INSERT INTO t  SETTINGS a = -1.5, b = 'x'", "CSV", "1")
	data("/* INSERT */ INSERT -- x\nINTO t FORMAT TSV\nFORMAT CSV", "/* INSERT */ INSERT -- x\nINTO t ", "TSV", "FORMAT CSV")
	data("INSERT INTO FUNCTION null('a UInt8') VALUES (1)", "INSERT INTO FUNCTION null('a UInt8') ", "Values", " (1)")
	data("INSERT INTO t (* EXCEPT(a)) FORMAT CSV\n1", "INSERT INTO t (* EXCEPT(a)) ", "CSV", "1")

	plain := func(sql string) {
		t.Helper()
		_, verdict := ScanInsert(sql, true)
		assert.Equal(t, Plain, verdict, sql)
	}
	plain("")
	plain("SELECT 'INSERT INTO t VALUES (1)'")
	plain("INSERT INTO t SELECT 1 FORMAT CSV")
	plain("INSERT INTO t (a) WITH 1 AS x SELECT x")
	plain("INSERT INTO t (SELECT 1)")
	plain("INSERT INTO t FROM INFILE 'x' FORMAT CSV")
	plain("INSERT INTO t")
	plain("INSERT INTO t FORMAT 'x'")
	plain("EXPLAIN INSERT INTO t VALUES (1)")
	plain("INSERT INTO 't' VALUES (1)")
}

func TestKeywordAndFormat(t *testing.T) {
	keyword := func(sql, want string) { t.Helper(); assert.Equal(t, want, Keyword(sql), sql) }
	keyword(" -- x\n ((select 1))", "SELECT")
	keyword("/* a */ WITH x AS (SELECT 1) SELECT 1", "WITH")
	keyword("'x'", "")
	keyword("/* open", "")

	format := func(sql, want string) { t.Helper(); assert.Equal(t, want, OutputFormat(sql), sql) }
	format("SELECT 1 FORMAT JSON", "JSON")
	format("SELECT 1 format Native;", "Native")
	format("SELECT 1 FORMAT CSV SETTINGS a = 1", "CSV")
	format("SELECT 1 FORMAT TSV -- JSON", "TSV")
	format("SELECT 1", "")
	format("SELECT 'x' AS format", "")
	format("SELECT format FROM t", "")
	format("SELECT * FROM (SELECT 1 FORMAT CSV)", "")
	format("SELECT ' FORMAT JSON'", "")
	format("SELECT format('{}', a) FROM t FORMAT Vertical", "Vertical")
}

func TestForbidden(t *testing.T) {
	check := func(sql, want string) { t.Helper(); assert.Equal(t, want, Forbidden(sql), sql) }
	check("SELECT file('x')", "file()")
	check("SELECT `file` ('x')", "file()")
	check("SELECT arrayMap(file, x)", "the function file")
	check("SELECT * APPLY(file)", "the function file")
	check("SELECT * APPLY file", "the function file")
	check("INSERT INTO t FROM INFILE 'x'", "FROM INFILE")
	check("SELECT 1 INTO OUTFILE 'x'", "INTO OUTFILE")
	check("CREATE TABLE t SETTINGS disk = disk(type = web)", "disk()")
	check("SELECT file, disk FROM files", "")
	check("SELECT count(file), 'file(1)', profile('x') FROM t", "")
	check("SELECT 'INTO OUTFILE', `INTO` AS OUTFILE FROM t", "")
}

func TestSessionOnly(t *testing.T) {
	for sql, want := range map[string]bool{
		"SET a = 1": true, "USE x": true, "KILL QUERY WHERE 1": true, "CREATE TEMPORARY TABLE t (a UInt8)": true,
		"CREATE OR REPLACE TEMPORARY TABLE t (a UInt8)": true, "DROP TEMPORARY TABLE t": true,
		"SET ROLE ALL": false, "SET DEFAULT ROLE x TO y": false, "SYSTEM SHUTDOWN": false, "KILL MUTATION WHERE 1": false,
		"ATTACH TABLE t": false, "CREATE TABLE t (a UInt8)": false, "SELECT 1 INTO OUTFILE 'x'": false, "": false,
	} {
		assert.Equal(t, want, SessionOnly(sql), sql)
	}
	for sql, want := range map[string]bool{
		"INSERT INTO t SETTINGS async_insert = 1 SELECT 1": true, "INSERT INTO FUNCTION file('x') SELECT 1": false,
		"ALTER TABLE t DELETE WHERE 1 SETTINGS mutations_sync = 1": true, "ALTER TABLE t FREEZE": false,
		"DELETE FROM t WHERE 1 SETTINGS mutations_sync = 1": true, "ALTER USER u": false,
	} {
		assert.Equal(t, want, ChangesTable(sql), sql)
	}
}

// However a statement is cut, the verdict is either "more is needed" or the final one.
func TestScanInsertOfCutText(t *testing.T) {
	for _, sql := range seeds() {
		want, final := ScanInsert(sql, true)
		for i := range len(sql) {
			got, verdict := ScanInsert(sql[:i], false)
			if verdict == More {
				continue
			}
			assert.Equal(t, final, verdict, "%q cut to %q", sql, sql[:i])
			if verdict == Data {
				assert.Equal(t, want, got, "%q cut to %q", sql, sql[:i])
			}
		}
	}
}

func seeds() []string {
	return []string{
		"INSERT INTO t FORMAT Native\n\x00\x01", "INSERT INTO db.t (a, b) SETTINGS x = 'y', z = 1 FORMAT CSV\r\n1,2\n",
		"INSERT INTO t FORMAT CSV SETTINGS a = [1, 2], b = -1.5\n1", "INSERT INTO `va``lues` VALUES (1, 'VALUES')",
		"/* c */ insert -- d\ninto {t:Identifier} format TSV x", "SELECT 1 FORMAT JSON", "INSERT INTO t SELECT 1",
		"INSERT INTO t $tag$ x $tag$ ‘u’ “v” 'w\\'' VALUES", "INSERT INTO t (* EXCEPT(a)) VALUES ()", "WITH 1 AS x INSERT INTO t SELECT x",
	}
}

func FuzzScanInsert(f *testing.F) {
	for _, sql := range seeds() {
		f.Add(sql, len(sql)/2)
	}
	f.Fuzz(func(t *testing.T, sql string, cut int) {
		in, verdict := ScanInsert(sql, true)
		if verdict == More {
			t.Fatalf("a whole text leaves nothing to wait for: %q", sql)
		}
		if verdict == Data {
			if in.Data < 0 || in.Data > len(sql) || in.Format == "" {
				t.Fatalf("%q: %+v", sql, in)
			}
			// The head is the beginning of the text, and SETTINGS that stood behind the format.
			head, _, _ := strings.Cut(in.Head, " SETTINGS")
			if !strings.HasPrefix(sql, head) || len(in.Head) > len(sql) {
				t.Fatalf("%q: head %q", sql, in.Head)
			}
		}
		if cut < 0 || cut > len(sql) {
			return
		}
		if early, v := ScanInsert(sql[:cut], false); v != More && (v != verdict || v == Data && early != in) {
			t.Fatalf("%q cut at %d: %v %+v, whole: %v %+v", sql, cut, v, early, verdict, in)
		}
		Keyword(sql)
		OutputFormat(sql)
		Forbidden(sql)
	})
}

func BenchmarkScanInsert(b *testing.B) {
	sql := "INSERT INTO training_observability.metric_points (event_time, run_id, host, rank) SETTINGS async_insert = 0 FORMAT Native\n" +
		strings.Repeat("\x01", 64<<10)
	b.ReportAllocs()
	for range b.N {
		if _, v := ScanInsert(sql, false); v != Data {
			b.Fatal(v)
		}
	}
}
