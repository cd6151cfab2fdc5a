package chdb

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// One engine serves a process once, so everything about it is in one test. This
// process is not confined and uses an unguarded engine: no foreign SQL here.
func TestEngine(t *testing.T) {
	root := "."
	for {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		root = filepath.Join(root, "..")
	}
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	path := filepath.Join(root, "node_modules/@chdb/lib-linux-"+arch+"-gnu/libchdb.so")
	_, err := os.Stat(path)
	require.NoError(t, err, "the embedded engine is missing, run `make deps`")
	config := filepath.Join(t.TempDir(), "config.xml")
	require.NoError(t, os.WriteFile(config, []byte("<clickhouse/>"), 0o600))
	lib, err := Open(path)
	require.NoError(t, err)
	conn, err := lib.Connect("--path="+t.TempDir(), "--config-file="+config)
	require.NoError(t, err)
	defer conn.Close()

	t.Run("a nil dereference is still Go's", func(t *testing.T) {
		read := func(p *int) int { return *p }
		assert.Panics(t, func() { read(nil) })
	})
	t.Run("query", func(t *testing.T) {
		r, err := conn.Query("SELECT {a:UInt8} + 1, {s:String}", "TSV", Param{"a", "4"}, Param{"s", ""})
		require.NoError(t, err)
		defer r.Close()
		assert.Equal(t, "5\t\n", string(r.Bytes()))
		assert.Equal(t, uint64(1), r.Stats().ResultRows)
	})
	t.Run("error", func(t *testing.T) {
		_, err := conn.Query("SELECT nothing", "TSV")
		var e *Error
		require.ErrorAs(t, err, &e)
		assert.Equal(t, 47, e.Code)
		assert.Contains(t, e.Message, "(UNKNOWN_IDENTIFIER)")
	})
	t.Run("stream", func(t *testing.T) {
		s, err := conn.Stream("SELECT number FROM numbers(100) SETTINGS max_block_size = 10", "RowBinary")
		require.NoError(t, err)
		defer s.Close()
		total, chunks := 0, 0
		for {
			r, err := s.Next()
			require.NoError(t, err)
			if r == nil {
				break
			}
			total += len(r.Bytes())
			chunks++
			r.Close()
		}
		assert.Equal(t, 800, total)
		assert.Greater(t, chunks, 1)
		_, err = conn.Stream("DESCRIBE system.one", "TSV")
		assert.ErrorContains(t, err, "Code: 36.")
	})
	t.Run("insert", func(t *testing.T) {
		require.NoError(t, conn.Exec("CREATE TABLE t (s String) ENGINE = Memory"))
		in, err := conn.Insert("INSERT INTO t", "JSONEachRow")
		require.NoError(t, err)
		for _, piece := range []string{`{"s":"a`, "\"}\n\n{\"s\"", `:"b"}`} {
			_, err := in.Write([]byte(piece))
			require.NoError(t, err)
		}
		stats, err := in.Done()
		require.NoError(t, err)
		in.Close()
		assert.Equal(t, uint64(2), stats.WrittenRows)

		in, err = conn.Insert("INSERT INTO t", "JSONEachRow")
		require.NoError(t, err)
		_, err = in.Write([]byte(`{"s":"never"}`))
		require.NoError(t, err)
		in.Close() // without Done
		r, err := conn.Query("SELECT count() FROM t", "TSV")
		require.NoError(t, err)
		defer r.Close()
		assert.Equal(t, "2\n", string(r.Bytes()))
	})
	t.Run("classify", func(t *testing.T) {
		for sql, want := range map[string]Class{
			"SELECT 1": ReadOnly, "INSERT INTO t VALUES (1)": Mutating, "CREATE USER u": MutatingGlobal,
			"SYSTEM SHUTDOWN": Control, "SELECT 1 INTO OUTFILE 'x'": Control, `\i x`: Unknown, "SELEC 1": Unknown,
		} {
			class, _, err := conn.Classify(sql)
			require.NoError(t, err)
			assert.Equal(t, want, class, sql)
		}
		_, count, err := conn.Classify("SELECT 1; SELECT 2")
		require.NoError(t, err)
		assert.Equal(t, 2, count)
	})
}

func TestParseError(t *testing.T) {
	for text, want := range map[string]Error{
		"Code: 62. DB::Exception: x. (SYNTAX_ERROR)": {62, "Code: 62. DB::Exception: x. (SYNTAX_ERROR)"},
		"Error: Code: 60. DB::Exception: y":          {60, "Code: 60. DB::Exception: y"},
		"Code: 1. DB::A: Code: 2. DB::B: z. (A)":     {1, "Code: 1. DB::A: Code: 2. DB::B: z. (A)"},
		"Invalid or closed connection":               {0, "Invalid or closed connection"},
	} {
		assert.Equal(t, want, *parseError(text))
	}
}
