package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/ch-go/compress"
	"github.com/ClickHouse/ch-go/proto"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// nativeBlock is what a client posts behind INSERT ... FORMAT Native: rows of
// (a UInt64, month Date), from first on, spread over so many months.
func nativeBlock(t testing.TB, first, rows, months int) []byte {
	t.Helper()
	var a proto.ColUInt64
	var day proto.ColDate
	for i := first; i < first+rows; i++ {
		a.Append(uint64(i))
		day.Append(time.Date(2026, time.Month(1+i%months), 1, 0, 0, 0, 0, time.UTC))
	}
	var buf proto.Buffer
	block := proto.Block{Columns: 2, Rows: rows}
	require.NoError(t, block.EncodeRawBlock(&buf, 0, []proto.InputColumn{{Name: "a", Data: &a}, {Name: "day", Data: &day}}))
	return buf.Buf
}

const createRows = "CREATE TABLE rows (a UInt64, day Date) ENGINE = MergeTree PARTITION BY toYYYYMM(day) ORDER BY a " +
	"SETTINGS non_replicated_deduplication_window = 1000"

func (h *helper) insertNative(block []byte, params ...string) {
	h.t.Helper()
	a := h.request(http.MethodPost, bytes.NewReader(block), nil, append(params, "query=INSERT INTO rows FORMAT Native")...)
	require.Equal(h.t, http.StatusOK, a.status, a.body)
}

// The data of an INSERT must reach the engine as it is, wherever it stands. A text
// engine call would cut each of these at a line end or take it for something else.
func TestInsertDataIsBinarySafe(t *testing.T) {
	h := start(t, t.TempDir())
	h.query("CREATE TABLE lines (n UInt32, s String) ENGINE = MergeTree ORDER BY n")
	reset := func() { h.query("TRUNCATE TABLE lines") }
	content := func() string { return h.query("SELECT n, s FROM lines ORDER BY n FORMAT JSONCompactEachRow") }

	for name, sql := range map[string]string{
		"blank line between rows":    "INSERT INTO lines FORMAT JSONEachRow\n{\"n\":1,\"s\":\"a\"}\n\n{\"n\":2,\"s\":\"b\"}\n",
		"data on the format's line":  "INSERT INTO lines FORMAT JSONEachRow {\"n\":1,\"s\":\"a\"}{\"n\":2,\"s\":\"b\"}",
		"settings before the format": "INSERT INTO lines (n, s) SETTINGS async_insert = 1 FORMAT CSV\n1,a\n2,b\n",
		"settings behind the format": "INSERT INTO lines FORMAT CSV SETTINGS format_csv_delimiter = ';'\n1;a\n2;b\n",
		"values over lines":          "insert /* FORMAT x */ into lines\nvalues\n(1,'a'),\n\n(2,'b')",
		"values with expressions":    "INSERT INTO lines VALUES (1, lower('A')), (1 + 1, concat('', 'b'))",
		"windows line ends":          "INSERT INTO lines FORMAT CSV\r\n1,a\r\n2,b\r\n",
	} {
		reset()
		h.query(sql)
		assert.Equal(t, "[1, \"a\"]\n[2, \"b\"]", content(), name)
		head, data, found := strings.Cut(sql, "\n")
		if !found || strings.Contains(name, "values") {
			continue
		}
		reset()
		h.query(strings.TrimPrefix(data, "\n"), "query="+strings.TrimSuffix(head, "\r"))
		assert.Equal(t, "[1, \"a\"]\n[2, \"b\"]", content(), "%s, statement in the URL", name)
	}
	reset()
	h.query("(1,'x\ny\x00z')", "query=INSERT INTO lines VALUES")
	assert.Equal(t, `[1, "x\ny\u0000z"]`, content())
	reset()
	h.query("", "query=INSERT INTO lines FORMAT CSV\n1,a")
	assert.Equal(t, `[1, "a"]`, content(), "all in the URL")
	h.query("INSERT INTO lines SELECT 2, 'b'")
	assert.Equal(t, "[1, \"a\"]\n[2, \"b\"]", content(), "a statement without data")
	h.refused(400, 27, "INSERT INTO lines FORMAT CSV\nx,a\n")
	h.refused(404, 73, "INSERT INTO lines FORMAT Nonesuch\nx")
	h.refused(404, 60, "INSERT INTO nowhere FORMAT CSV\n1,a\n")
}

func TestNativeBlocksOfManySizesArriveWhole(t *testing.T) {
	h := start(t, t.TempDir())
	h.query(createRows)
	want := 0
	for i, rows := range []int{0, 1, 10, 100_000, 300_000} {
		h.insertNative(nativeBlock(t, want, rows, 1), fmt.Sprintf("insert_deduplication_token=t%d", i))
		want += rows
		assert.Equal(t, fmt.Sprintf("%d\t%d", want, want*(want-1)/2), h.query("SELECT count(), sum(a) FROM rows"), "%d rows", rows)
	}
}

func TestRequestCompressions(t *testing.T) {
	h := start(t, t.TempDir())
	h.query(createRows)
	block := nativeBlock(t, 0, 1000, 1)
	frames := func(method compress.Method) []byte {
		w := compress.NewWriter(compress.LevelZero, method)
		require.NoError(t, w.Compress(block[:100]))
		first := bytes.Clone(w.Data)
		require.NoError(t, w.Compress(block[100:]))
		return append(first, w.Data...)
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, err := z.Write(block)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	tests := map[string]struct {
		body   []byte
		header map[string]string
		params []string
	}{
		"lz4 frames":  {body: frames(compress.LZ4), params: []string{"decompress=1"}},
		"zstd frames": {body: frames(compress.ZSTD), params: []string{"decompress=1"}},
		"none frames": {body: frames(compress.None), params: []string{"decompress=1"}},
		"gzip":        {body: zipped.Bytes(), header: map[string]string{"Content-Encoding": "gzip"}},
	}
	for name, tt := range tests {
		h.query("TRUNCATE TABLE rows")
		send := func(body []byte) answer {
			return h.request(http.MethodPost, bytes.NewReader(body), tt.header,
				append(tt.params, "query=INSERT INTO rows FORMAT Native", "insert_deduplication_token="+name)...)
		}
		a := send(tt.body[:len(tt.body)-5])
		assert.Equal(t, 400, a.status, "%s, cut: %s", name, a.body)
		assert.Equal(t, "0", h.query("SELECT count() FROM rows"), "%s: a cut body must store nothing", name)
		a = send(tt.body)
		assert.Equal(t, 200, a.status, "%s: %s", name, a.body)
		assert.Equal(t, "1000\t499500", h.query("SELECT count(), sum(a) FROM rows"), name)
	}
	damaged := frames(compress.LZ4)
	damaged[40] ^= 1
	a := h.request(http.MethodPost, bytes.NewReader(damaged), nil, "decompress=1", "query=INSERT INTO rows FORMAT Native")
	assert.Equal(t, 400, a.status)
	assert.Contains(t, a.body, "checksum")
	a = h.request(http.MethodPost, strings.NewReader("x"), map[string]string{"Content-Encoding": "snappy"}, "query=INSERT INTO rows FORMAT Native")
	assert.Equal(t, 400, a.status)
	assert.Contains(t, a.body, `"snappy"`)
}

// The promise of exactly once stands on this.
func TestRepeatedTokenStoresNothing(t *testing.T) {
	dir := t.TempDir()
	h := start(t, dir)
	h.query(createRows)
	block := nativeBlock(t, 0, 30_000, 3)
	count := func() string { return h.query("SELECT count(), uniqExact(toYYYYMM(day)) FROM rows") }
	for range 3 {
		h.insertNative(block, "insert_deduplication_token=one")
		assert.Equal(t, "30000\t3", count())
	}
	h.insertNative(block, "insert_deduplication_token=two")
	assert.Equal(t, "60000\t3", count(), "equal rows under another token are kept")
	h.stop()

	h = start(t, dir)
	h.insertNative(block, "insert_deduplication_token=one")
	h.insertNative(block, "insert_deduplication_token=two")
	assert.Equal(t, "60000\t3", count(), "after a restart")
	h.kill()

	h = start(t, dir)
	h.insertNative(block, "insert_deduplication_token=one", "async_insert=1", "wait_for_async_insert=1")
	assert.Equal(t, "60000\t3", count(), "after a crash")
	h.insertNative(nativeBlock(t, 30_000, 30_000, 3), "insert_deduplication_token=three", "async_insert=1")
	assert.Equal(t, "90000\t3", count())
	// The same in a kept session, where the token must not stay behind.
	h.insertNative(block, "insert_deduplication_token=four", "session_id=s")
	h.insertNative(block, "insert_deduplication_token=five", "session_id=s")
	assert.Equal(t, "150000\t3", count())
	assert.Empty(t, h.query("SELECT getSetting('insert_deduplication_token')", "session_id=s"))
}

func TestSchemaStatementsAreAllowed(t *testing.T) {
	h := start(t, t.TempDir())
	for _, sql := range []string{
		"CREATE DATABASE IF NOT EXISTS training_observability",
		`CREATE TABLE IF NOT EXISTS training_observability.points (event_time DateTime64(3) DEFAULT now64(3), run_id LowCardinality(String),
			value Float64, tags_json String DEFAULT '') ENGINE = MergeTree PARTITION BY toYYYYMM(event_time) ORDER BY (run_id, event_time)`,
		"ALTER TABLE training_observability.points MODIFY SETTING non_replicated_deduplication_window = 1000, default_compression_codec = 'ZSTD(3)'",
		"ALTER TABLE training_observability.points ADD INDEX IF NOT EXISTS ix_time event_time TYPE minmax GRANULARITY 1",
		"ALTER TABLE training_observability.points ADD PROJECTION IF NOT EXISTS p_runs (SELECT run_id, max(event_time), count() GROUP BY run_id)",
		"CREATE TABLE training_observability.by_run (run_id String, n AggregateFunction(count)) ENGINE = AggregatingMergeTree ORDER BY run_id",
		`CREATE MATERIALIZED VIEW training_observability.mv TO training_observability.by_run AS
			SELECT run_id, countState() AS n FROM training_observability.points GROUP BY run_id`,
		"CREATE VIEW training_observability.v AS SELECT run_id, count() FROM training_observability.points GROUP BY run_id",
		"INSERT INTO training_observability.points (run_id, value) VALUES ('r', 1), ('r', nan), ('s', inf)",
		"OPTIMIZE TABLE training_observability.points FINAL",
		"ALTER TABLE training_observability.points MODIFY COLUMN tags_json CODEC(ZSTD(3))",
		"ALTER TABLE training_observability.points MATERIALIZE INDEX ix_time",
		"ALTER TABLE training_observability.points DELETE WHERE run_id = 's' SETTINGS mutations_sync = 1",
		"RENAME TABLE training_observability.v TO training_observability.w",
	} {
		h.query(sql)
	}
	assert.Equal(t, "r\t2", h.query("SELECT * FROM training_observability.w"))
	assert.Equal(t, "r\t2\ns\t1", h.query("SELECT run_id, countMerge(n) FROM training_observability.by_run GROUP BY run_id ORDER BY run_id"))
	assert.Equal(t, "by_run\nmv\npoints\nw", h.query("SELECT name FROM system.tables WHERE database = 'training_observability' ORDER BY name"))
	assert.Contains(t, h.query("SHOW CREATE TABLE training_observability.points FORMAT TSVRaw"), "PROJECTION p_runs")
	assert.Equal(t, "event_time\nrun_id\nvalue\ntags_json",
		h.query("SELECT name FROM system.columns WHERE table = 'points' AND database = 'training_observability' ORDER BY position"))
	h.query("DROP DATABASE training_observability")
}
