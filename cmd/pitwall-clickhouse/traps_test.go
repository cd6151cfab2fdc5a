package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestStatementsOfEveryKindAnswer(t *testing.T) {
	h := start(t, t.TempDir())
	h.query("CREATE TABLE t (a UInt8, b String) ENGINE = MergeTree ORDER BY a")
	for sql, want := range map[string]string{
		"SELECT 1":                          "1",
		"(SELECT 1) UNION ALL (SELECT 1)":   "1\n1",
		"WITH 2 AS two SELECT two":          "2",
		"FROM system.one SELECT dummy":      "0",
		"SELECT 1;":                         "1",
		"-- comment\nSELECT /* x */ 1":      "1",
		"DESCRIBE t":                        "a\tUInt8\t\t\t\t\t\nb\tString\t\t\t\t\t",
		"SHOW TABLES":                       "t",
		"EXISTS t":                          "1",
		"EXPLAIN AST SELECT 1 FORMAT CSV":   "",
		"SHOW CREATE TABLE t FORMAT TSVRaw": "CREATE TABLE default.t\n(\n    `a` UInt8,\n    `b` String\n)\nENGINE = MergeTree\nORDER BY a\nSETTINGS index_granularity = 8192",
		"SELECT displayName(), timezone()":  "pitwall-clickhouse\t" + h.query("SELECT serverTimezone()"),
		"SELECT count() FROM system.columns WHERE table = 't' AND database = currentDatabase()": "2",
		"SELECT 'FORMAT JSON'": "FORMAT JSON",
		"CHECK TABLE t SETTINGS check_query_single_value_result = 1": "1",
	} {
		got := h.query(sql)
		if want != "" {
			assert.Equal(t, want, got, sql)
		}
	}
}

// A streamed chunk is a document of its own: with a header or a footer there would
// be one per chunk.
func TestLongResultsAreOneDocument(t *testing.T) {
	h := start(t, t.TempDir())
	const rows = 200_000
	sql := fmt.Sprintf("SELECT number AS n FROM numbers(%d) SETTINGS max_block_size = 10000", rows)
	for format, header := range map[string]int{
		"TSV": 0, "CSV": 0, "JSONEachRow": 0, "JSONCompactEachRow": 0, "CSVWithNames": 1, "TSVWithNamesAndTypes": 2,
		"JSONCompactEachRowWithNames": 1, "TabSeparatedRaw": 0,
	} {
		got := h.send(sql, "default_format="+format)
		assert.Equal(t, rows+header, strings.Count(got.body, "\n"), format)
		assert.Equal(t, format, got.header.Get("X-ClickHouse-Format"))
	}
	json := h.send(sql + " FORMAT JSON")
	assert.Equal(t, 1, strings.Count(json.body, `"meta"`))
	assert.Contains(t, json.body, `"rows": 200000`)
	assert.Equal(t, "application/json; charset=UTF-8", json.header.Get("Content-Type"))
	values := h.send(sql + " FORMAT Parquet")
	assert.Equal(t, 2, strings.Count(values.body, "PAR1"), "one file")
}

func TestResponseHeaders(t *testing.T) {
	h := start(t, t.TempDir())
	a := h.send("SELECT number FROM numbers(5)", "query_id=my-id")
	assert.Equal(t, "my-id", a.header.Get("X-ClickHouse-Query-Id"))
	assert.Equal(t, "TabSeparated", a.header.Get("X-ClickHouse-Format"))
	assert.Equal(t, "pitwall-clickhouse", a.header.Get("X-ClickHouse-Server-Display-Name"))
	assert.Equal(t, h.query("SELECT serverTimezone()"), a.header.Get("X-ClickHouse-Timezone"))
	assert.Contains(t, a.header.Get("X-ClickHouse-Summary"), `"read_rows":"5"`)
	assert.Contains(t, a.header.Get("X-ClickHouse-Summary"), `"result_rows":"5"`)
	h.query("CREATE TABLE t (a UInt64) ENGINE = MergeTree ORDER BY a")
	a = h.send("INSERT INTO t SELECT number FROM numbers(7)")
	assert.Contains(t, a.header.Get("X-ClickHouse-Summary"), `"written_rows":"7"`)
	a = h.send("INSERT INTO t FORMAT CSV\n1\n2\n")
	assert.Contains(t, a.header.Get("X-ClickHouse-Summary"), `"written_rows":"2"`)
	first, second := h.send("SELECT 1").header.Get("X-ClickHouse-Query-Id"), h.send("SELECT 1").header.Get("X-ClickHouse-Query-Id")
	assert.NotEqual(t, first, second)
}

func TestErrorsHaveClickHousesStatus(t *testing.T) {
	h := start(t, t.TempDir())
	h.refused(400, 62, "SELEC 1")
	h.refused(400, 62, "SELECT 1; SELECT 2")
	h.refused(400, 62, "")
	h.refused(404, 60, "SELECT * FROM nowhere")
	h.refused(404, 81, "SELECT 1", "database=nowhere")
	h.refused(404, 115, "SELECT 1", "no_such_setting=1")
	h.refused(404, 47, "SELECT nothing")
	h.refused(404, 46, "SELECT nofunction()")
	h.refused(400, 36, "SELECT toDateTime(now(), 'No/Zone')")
	h.refused(408, 159, "SELECT count() FROM numbers(100000000000) WHERE rand() = 1", "max_execution_time=1")
	h.refused(500, 395, "SELECT throwIf(1)")
	h.refused(400, 595, "SELECT 1", "bad;name=1")
	h.refused(403, 497, "SYSTEM SHUTDOWN")
	a := h.send("SELECT 1", "compress=1", "no_such_setting=1")
	assert.Equal(t, 404, a.status)
	resp, err := http.Get(h.url + "/nothing")
	require.NoError(t, err)
	resp.Body.Close()
	assert.Equal(t, 404, resp.StatusCode)
}

// Once bytes are out an error can only follow them, marked and with the connection cut.
func TestErrorInTheMiddleOfAResult(t *testing.T) {
	h := start(t, t.TempDir())
	sql := "SELECT throwIf(number = 500000, 'too late') FROM numbers(1000000) FORMAT TSV SETTINGS max_block_size = 10000, max_threads = 1"
	resp, err := http.Post(h.url, "", strings.NewReader(sql))
	require.NoError(t, err)
	defer resp.Body.Close()
	assert.Equal(t, 200, resp.StatusCode)
	tag := resp.Header.Get("X-ClickHouse-Exception-Tag")
	require.Len(t, tag, 16)
	body, err := io.ReadAll(resp.Body)
	assert.ErrorIs(t, err, io.ErrUnexpectedEOF, "a cut result must not look whole")
	_, block, found := strings.Cut(string(body), "\r\n__exception__\r\n"+tag+"\r\n")
	require.True(t, found)
	message, rest, found := strings.Cut(block, "\n")
	require.True(t, found)
	assert.Contains(t, message, "Code: 395. DB::Exception: too late")
	assert.Equal(t, fmt.Sprintf("%d %s\r\n__exception__\r\n", len(message)+1, tag), rest)
}

func TestGetOnlyReads(t *testing.T) {
	h := start(t, t.TempDir())
	h.query("CREATE TABLE t (a UInt8) ENGINE = MergeTree ORDER BY a")
	get := func(sql string, params ...string) answer {
		return h.request(http.MethodGet, nil, nil, append(params, "query="+sql)...)
	}
	assert.Equal(t, "1\n", get("SELECT 1").body)
	assert.Equal(t, "77\n", get("SELECT getSetting('max_block_size')", "max_block_size=77").body)
	for _, sql := range []string{"DROP TABLE t", "INSERT INTO t VALUES (1)", "INSERT INTO t SELECT 1"} {
		for _, session := range []string{"", "session_id=s"} {
			a := get(sql, session)
			assert.Equal(t, "164", a.header.Get("X-ClickHouse-Exception-Code"), "%s: %s", sql, a.body)
		}
	}
	// A GET leaves the session it ran in as it was.
	h.query("INSERT INTO t VALUES (1)", "session_id=s")
	assert.Equal(t, "1", h.query("SELECT count() FROM t"))
}

func TestParameters(t *testing.T) {
	h := start(t, t.TempDir())
	assert.Equal(t, "7\tit\\'s \\\\ x", h.query("SELECT {n:UInt8} + 2, {s:String}", "param_n=5", `param_s=it's \\ x`))
	assert.Equal(t, "[1,2]", h.query("SELECT {a:Array(UInt8)}", "param_a=[1,2]"))
	assert.Equal(t, "\\N", h.query("SELECT {n:Nullable(String)}", `param_n=\N`))
	assert.Equal(t, "0", h.query("SELECT * FROM {t:Identifier}", "param_t=one", "database=system"))
	h.query("CREATE TABLE t (a UInt8, s String) ENGINE = MergeTree ORDER BY a")
	h.query("INSERT INTO t SELECT {n:UInt8}, {s:String}", "param_n=5", "param_s=x'); DROP TABLE t; --")
	assert.Equal(t, "5\tx\\'); DROP TABLE t; --", h.query("SELECT * FROM t"))
	h.refused(500, 456, "SELECT {missing:UInt8}")
}

func TestSessions(t *testing.T) {
	h := start(t, t.TempDir())
	s := func(more ...string) []string { return append([]string{"session_id=one"}, more...) }
	h.refused(404, 372, "SELECT 1", s("session_check=1")...)
	h.query("CREATE TEMPORARY TABLE mine (a UInt8)", s()...)
	h.query("INSERT INTO mine VALUES (3)", s()...)
	h.query("SET max_block_size = 123", s()...)
	h.query("USE system", s()...)
	assert.Equal(t, "3\t123\tsystem", h.query("SELECT a, getSetting('max_block_size'), currentDatabase() FROM mine", s("session_check=1")...))
	// What the URL sets is for one request.
	assert.Equal(t, "5\tdefault", h.query("SELECT getSetting('max_block_size'), currentDatabase()", s("max_block_size=5", "database=default")...))
	assert.Equal(t, "123\tsystem", h.query("SELECT getSetting('max_block_size'), currentDatabase()", s()...))
	h.refused(404, 60, "SELECT * FROM mine")
	h.refused(404, 60, "SELECT * FROM mine", "session_id=another")

	var wg sync.WaitGroup
	wg.Go(func() {
		for status := 0; status != 200; { // the question below may have the session
			status = h.send("SELECT sleep(1)", s()...).status
		}
	})
	require.Eventually(t, func() bool {
		return h.send("SELECT 1", s()...).header.Get("X-ClickHouse-Exception-Code") == "373"
	}, 5*time.Second, 5*time.Millisecond, "a session runs one statement at a time")
	wg.Wait()

	h.query("SELECT 1", s("close_session=1")...)
	h.refused(404, 372, "SELECT 1", s("session_check=1")...)
	h.refused(400, 374, "SELECT 1", s("session_timeout=100000")...)
	// Asking keeps a session alive, so it is asked less often than it times out.
	h.query("SELECT 1", s("session_timeout=1")...)
	require.Eventually(t, func() bool {
		return h.send("SELECT 1", s("session_check=1", "session_timeout=1")...).status == 404
	}, 20*time.Second, 1500*time.Millisecond, "an idle session ends")
}

func TestClientThatGoesAwayEndsItsStatement(t *testing.T) {
	h := start(t, t.TempDir())
	running := func() string {
		return h.query("SELECT count() FROM system.processes WHERE query LIKE '%gone-away%' AND query NOT LIKE '%processes%'")
	}
	for _, format := range []string{"TSV", "JSON"} {
		ctx, cancel := context.WithCancel(context.Background())
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url, strings.NewReader(
			"SELECT count(), 'gone-away' FROM numbers(1000000000000) WHERE rand() = 1 FORMAT "+format))
		require.NoError(t, err)
		over := make(chan struct{})
		go func() {
			defer close(over)
			if resp, err := http.DefaultClient.Do(r); err == nil {
				resp.Body.Close()
			}
		}()
		require.Eventually(t, func() bool { return running() == "1" }, 10*time.Second, 10*time.Millisecond)
		cancel()
		<-over
		assert.Eventually(t, func() bool { return running() == "0" }, 5*time.Second, 10*time.Millisecond, format)
	}
}

func TestMemoryLimitEndsTheStatementNotTheServer(t *testing.T) {
	h := start(t, t.TempDir(), "--max-memory", "400000000")
	for _, sql := range []string{
		"SELECT number, toString(number) FROM numbers(100000000) FORMAT JSON", // larger than memory as text
		"SELECT groupArray(toString(number)) FROM numbers(100000000) FORMAT Null",
	} {
		a := h.send(sql)
		assert.Equal(t, "241", a.header.Get("X-ClickHouse-Exception-Code"), "%s: %.200s", sql, a.body)
		assert.Equal(t, "1", h.query("SELECT 1"))
	}
}

func TestSlowAndEndlessClients(t *testing.T) {
	h := start(t, t.TempDir())
	conn, err := net.Dial("tcp", strings.TrimPrefix(h.url, "http://"))
	require.NoError(t, err)
	defer conn.Close()
	_, err = fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Long: %s\r\n\r\n", strings.Repeat("x", 3<<20))
	if err == nil {
		line := make([]byte, 12)
		_, err = io.ReadFull(conn, line)
		assert.NoError(t, err)
		assert.Equal(t, "HTTP/1.1 431", string(line))
	}
	a := h.send("SELECT '" + strings.Repeat("x", 17<<20) + "'")
	assert.Equal(t, 413, a.status)
	assert.Equal(t, "1", h.query("SELECT 1"))
}
