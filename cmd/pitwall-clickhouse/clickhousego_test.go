package main

import (
	"context"
	"net/url"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/ext"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// driverConn is the official Go client over HTTP, which Grafana's plugin is built on.
func driverConn(t testing.TB, h *helper, method clickhouse.CompressionMethod, settings clickhouse.Settings) driver.Conn {
	t.Helper()
	u, err := url.Parse(h.url)
	require.NoError(t, err)
	if settings == nil {
		settings = clickhouse.Settings{}
	}
	switch method {
	case clickhouse.CompressionGZIP, clickhouse.CompressionDeflate, clickhouse.CompressionBrotli:
		settings["enable_http_compression"] = 1
	}
	conn, err := clickhouse.Open(&clickhouse.Options{
		Protocol: clickhouse.HTTP, Addr: []string{u.Host}, Settings: settings, ReadTimeout: time.Minute,
		Compression: &clickhouse.Compression{Method: method, Level: 3},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	return conn
}

func TestClickhouseGo(t *testing.T) {
	h := start(t, t.TempDir())
	for name, method := range map[string]clickhouse.CompressionMethod{
		"none": clickhouse.CompressionNone, "lz4": clickhouse.CompressionLZ4, "zstd": clickhouse.CompressionZSTD,
		"gzip": clickhouse.CompressionGZIP, "deflate": clickhouse.CompressionDeflate, "br": clickhouse.CompressionBrotli,
	} {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			conn := driverConn(t, h, method, nil)
			require.NoError(t, conn.Ping(ctx))
			require.NoError(t, conn.Exec(ctx, "CREATE DATABASE IF NOT EXISTS go_"+name))
			t.Run("server", func(t *testing.T) {
				v, err := conn.ServerVersion()
				require.NoError(t, err)
				assert.Equal(t, "pitwall-clickhouse", v.DisplayName)
				assert.GreaterOrEqual(t, v.Version.Major, uint64(26))
			})
			t.Run("types", func(t *testing.T) { goTypes(t, conn, "go_"+name) })
			t.Run("batches", func(t *testing.T) { goBatches(t, conn, "go_"+name) })
			t.Run("queries", func(t *testing.T) { goQueries(t, conn) })
			t.Run("errors", func(t *testing.T) { goErrors(t, conn) })
			t.Run("cancel", func(t *testing.T) { goCancel(t, h, conn, name) })
		})
	}
}

// goTypes stores one row of every kind of column and reads it back.
func goTypes(t *testing.T, conn driver.Conn, database string) {
	ctx := context.Background()
	table := database + ".types"
	require.NoError(t, conn.Exec(ctx, `CREATE TABLE `+table+` (
		u8 UInt8, i64 Int64, f64 Float64, b Bool, s String, fs FixedString(3), lc LowCardinality(String),
		ns Nullable(String), dec Decimal(18, 4), e Enum8('a' = 1, 'b' = 2), u UUID, d Date, dt DateTime('UTC'), dt64 DateTime64(9, 'UTC'),
		arr Array(UInt32), aarr Array(Array(String)), m Map(LowCardinality(String), String), tup Tuple(a Int32, b String), j JSON,
		ip IPv4, u256 UInt128, lcn LowCardinality(Nullable(String))
	) ENGINE = MergeTree ORDER BY u8`))
	type row struct {
		u8          uint8
		i64         int64
		f64         float64
		b           bool
		s, fs, lc   string
		ns, lcn     *string
		dec         decimal.Decimal
		e           string
		u           uuid.UUID
		d, dt, dt64 time.Time
		arr         []uint32
		aarr        [][]string
		m           map[string]string
		tup         map[string]any
		j           clickhouse.JSON
	}
	at := time.Date(2026, 11, 20, 12, 34, 56, 123456789, time.UTC)
	id := uuid.MustParse("6ba7b810-9dad-11d1-80b4-00c04fd430c8")
	batch, err := conn.PrepareBatch(ctx, "INSERT INTO "+table+
		" (u8, i64, f64, b, s, fs, lc, ns, dec, e, u, d, dt, dt64, arr, aarr, m, tup, j, lcn)")
	require.NoError(t, err)
	require.NoError(t, batch.Append(uint8(7), int64(-1<<62), 2.5, true, "tab\t nl\n nul\x00 é", "abc", "low", nil,
		decimal.RequireFromString("12345.6789"), "b", id, at, at, at, []uint32{1, 2, 3}, [][]string{{"x"}, {}, {"y", "z"}},
		map[string]string{"k": "v", "": "empty"}, map[string]any{"a": int32(-5), "b": "in"}, `{"n":1,"o":{"p":["q"]}}`, nil))
	require.NoError(t, batch.Send())

	var got row
	require.NoError(t, conn.QueryRow(ctx, "SELECT u8, i64, f64, b, s, fs, lc, ns, dec, e, u, d, dt, dt64, arr, aarr, m, tup, j, lcn FROM "+table).Scan(
		&got.u8, &got.i64, &got.f64, &got.b, &got.s, &got.fs, &got.lc, &got.ns, &got.dec, &got.e, &got.u, &got.d, &got.dt, &got.dt64,
		&got.arr, &got.aarr, &got.m, &got.tup, &got.j, &got.lcn))
	assert.Equal(t, uint8(7), got.u8)
	assert.Equal(t, int64(-1<<62), got.i64)
	assert.Equal(t, 2.5, got.f64)
	assert.True(t, got.b)
	assert.Equal(t, "tab\t nl\n nul\x00 é", got.s)
	assert.Equal(t, "abc", got.fs)
	assert.Equal(t, "low", got.lc)
	assert.Nil(t, got.ns)
	assert.Nil(t, got.lcn)
	assert.Equal(t, "12345.6789", got.dec.String())
	assert.Equal(t, "b", got.e)
	assert.Equal(t, id, got.u)
	assert.Equal(t, "2026-11-20", got.d.Format(time.DateOnly))
	assert.True(t, got.dt.Equal(at.Truncate(time.Second)))
	assert.True(t, got.dt64.Equal(at))
	assert.Equal(t, []uint32{1, 2, 3}, got.arr)
	assert.Equal(t, [][]string{{"x"}, {}, {"y", "z"}}, got.aarr)
	assert.Equal(t, map[string]string{"k": "v", "": "empty"}, got.m)
	assert.Equal(t, map[string]any{"a": int32(-5), "b": "in"}, got.tup)
	text, err := got.j.MarshalJSON()
	require.NoError(t, err)
	assert.JSONEq(t, `{"n":1,"o":{"p":["q"]}}`, string(text))
}

func goBatches(t *testing.T, conn driver.Conn, database string) {
	ctx := context.Background()
	require.NoError(t, conn.Exec(ctx, "CREATE TABLE "+database+".batches (a UInt64, s String) ENGINE = MergeTree ORDER BY a"))
	const rows = 20_000
	batch, err := conn.PrepareBatch(ctx, "INSERT INTO "+database+".batches")
	require.NoError(t, err)
	for i := range uint64(rows) {
		require.NoError(t, batch.Append(i, "value"))
	}
	require.NoError(t, batch.Send())
	var count, sum uint64
	require.NoError(t, conn.QueryRow(ctx, "SELECT count(), sum(a) FROM "+database+".batches").Scan(&count, &sum))
	assert.Equal(t, uint64(rows), count)
	assert.Equal(t, uint64(rows*(rows-1)/2), sum)

	rs, err := conn.Query(ctx, "SELECT number, toString(number) FROM numbers(300000)")
	require.NoError(t, err)
	defer rs.Close()
	var n, total uint64
	for rs.Next() {
		var a uint64
		var s string
		require.NoError(t, rs.Scan(&a, &s))
		n++
		total += a
	}
	require.NoError(t, rs.Err())
	assert.Equal(t, uint64(300_000), n)
	assert.Equal(t, uint64(300_000*299_999/2), total)
}

func goQueries(t *testing.T, conn driver.Conn) {
	ctx := context.Background()
	var n uint64
	var s string
	require.NoError(t, conn.QueryRow(clickhouse.Context(ctx, clickhouse.WithParameters(clickhouse.Parameters{"n": "42", "s": `it's \ "x"`})),
		"SELECT {n:UInt64}, {s:String}").Scan(&n, &s))
	assert.Equal(t, uint64(42), n)
	assert.Equal(t, `it's \ "x"`, s)
	require.NoError(t, conn.QueryRow(ctx, "SELECT count() FROM numbers(10) WHERE number >= ? AND number < ?", 3, 10).Scan(&n), "positional")
	assert.Equal(t, uint64(7), n)

	var limited uint64
	require.NoError(t, conn.QueryRow(clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{"max_block_size": 77})),
		"SELECT toUInt64(getSetting('max_block_size'))").Scan(&limited))
	assert.Equal(t, uint64(77), limited)

	rs, err := conn.Query(ctx, "SELECT number FROM numbers(10) WHERE number > 100")
	require.NoError(t, err, "an empty result")
	assert.False(t, rs.Next())
	require.NoError(t, rs.Close())

	table, err := ext.NewTable("outer", ext.Column("id", "UInt64"), ext.Column("name", "String"))
	require.NoError(t, err)
	require.NoError(t, table.Append(uint64(1), "one"))
	require.NoError(t, table.Append(uint64(2), "two"))
	require.NoError(t, conn.QueryRow(clickhouse.Context(ctx, clickhouse.WithExternalTable(table)),
		"SELECT sum(id), max(name) FROM outer").Scan(&n, &s))
	assert.Equal(t, uint64(3), n)
	assert.Equal(t, "two", s)
	var left uint64
	require.NoError(t, conn.QueryRow(ctx, "SELECT count() FROM system.tables WHERE name = 'outer'").Scan(&left))
	assert.Zero(t, left)

	// Several statements of one session share its temporary tables and settings.
	session := clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{"session_id": uuid.NewString()}))
	require.NoError(t, conn.Exec(session, "CREATE TEMPORARY TABLE mine (a UInt64)"))
	require.NoError(t, conn.Exec(session, "INSERT INTO mine SELECT 5"))
	require.NoError(t, conn.Exec(session, "SET max_block_size = 99"))
	require.NoError(t, conn.QueryRow(session, "SELECT sum(a), toUInt64(getSetting('max_block_size')) FROM mine").Scan(&n, &limited))
	assert.Equal(t, uint64(5), n)
	assert.Equal(t, uint64(99), limited)
	_, err = conn.Query(ctx, "SELECT * FROM mine")
	assert.ErrorContains(t, err, "UNKNOWN_TABLE")
}

func goErrors(t *testing.T, conn driver.Conn) {
	ctx := context.Background()
	for sql, want := range map[string]string{
		"SELECT * FROM nowhere":           "Code: 60.",
		"SELEC 1":                         "Code: 62.",
		"SELECT nothing":                  "Code: 47.",
		"SELECT * FROM nodb.t":            "Code: 81.",
		"SELECT throwIf(1, 'on purpose')": "on purpose",
	} {
		_, err := conn.Query(ctx, sql)
		assert.ErrorContains(t, err, want, sql)
	}
	// Thrown after blocks have been sent.
	rs, err := conn.Query(ctx, "SELECT throwIf(number = 900000, 'late') FROM numbers(1000000) SETTINGS max_block_size = 10000, max_threads = 1")
	require.NoError(t, err)
	defer rs.Close()
	for rs.Next() {
	}
	assert.ErrorContains(t, rs.Err(), "late")
	assert.ErrorContains(t, rs.Err(), "395")
}

// goCancel ends a statement that would run for a minute by ending its context.
func goCancel(t *testing.T, h *helper, conn driver.Conn, name string) {
	ctx, cancel := context.WithCancel(context.Background())
	result := make(chan error, 1)
	go func() {
		result <- conn.Exec(ctx, "SELECT sleepEachRow(1), '"+name+"-cancelled' FROM numbers(60) FORMAT Null SETTINGS max_block_size = 1, function_sleep_max_microseconds_per_block = 0")
	}()
	running := func() bool {
		return h.query("SELECT count() FROM system.processes WHERE query LIKE '%"+name+"-cancelled%' AND query NOT LIKE '%system.processes%'") != "0"
	}
	require.Eventually(t, running, 10*time.Second, 20*time.Millisecond)
	cancel()
	err := <-result
	assert.ErrorIs(t, err, context.Canceled)
	assert.Eventually(t, func() bool { return !running() }, 10*time.Second, 20*time.Millisecond, "the statement goes on")
}
