package httpserver

import (
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// bodies serves what the limits leave of a body: its length, or the error.
func bodies(t *testing.T, limits Limits) *httptest.Server {
	s := &Server{limits: limits}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := s.body(w, r, &request{})
		if err == nil {
			var b []byte
			b, err = io.ReadAll(body)
			fmt.Fprint(w, len(b))
		}
		if err != nil {
			fmt.Fprint(w, " ", err)
		}
	}))
	t.Cleanup(server.Close)
	return server
}

func TestBodyLimits(t *testing.T) {
	limits := Limits{WireBody: 10_000, Body: 50_000, Stall: time.Minute}
	server := bodies(t, limits)
	send := func(body io.Reader, encoding string) string {
		r, err := http.NewRequest(http.MethodPost, server.URL, body)
		require.NoError(t, err)
		r.Header.Set("Content-Encoding", encoding)
		resp, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return string(text)
	}
	zip := func(n int) io.Reader {
		var b strings.Builder
		z := gzip.NewWriter(&b)
		_, _ = z.Write(make([]byte, n))
		z.Close()
		return strings.NewReader(b.String())
	}
	assert.Equal(t, "10000", send(strings.NewReader(strings.Repeat("x", 10_000)), ""))
	assert.Contains(t, send(strings.NewReader(strings.Repeat("x", 10_001)), ""), "larger than 10000 bytes. (TOO_MANY_BYTES)")
	assert.Equal(t, "50000", send(zip(50_000), "gzip"))
	assert.Contains(t, send(zip(50_001), "gzip"), "decompressed request is too large. (TOO_MANY_BYTES)")
	assert.Contains(t, send(strings.NewReader("not gzip at all"), "gzip"), "(CANNOT_DECOMPRESS)")
	assert.Equal(t, "0", send(strings.NewReader(""), "gzip"))
}

func TestStalledClientIsGivenUp(t *testing.T) {
	server := bodies(t, Limits{WireBody: 1 << 20, Body: 1 << 20, Stall: 200 * time.Millisecond})
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	require.NoError(t, err)
	defer conn.Close()
	_, err = fmt.Fprint(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n")
	require.NoError(t, err)
	// Slow is fine: for longer in all than a stall may last.
	for range 10 {
		_, err = conn.Write([]byte("x"))
		require.NoError(t, err)
		require.NoError(t, conn.SetReadDeadline(time.Now().Add(50*time.Millisecond)))
		_, err = conn.Read(make([]byte, 1))
		require.ErrorContains(t, err, "timeout", "answered too early")
	}
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(5*time.Second)))
	answer, err := io.ReadAll(conn)
	require.NoError(t, err)
	assert.Contains(t, string(answer), "10 Code: 271. DB::Exception: Cannot read the request's body")
}

func TestReadStatement(t *testing.T) {
	s := &Server{limits: Limits{Statement: 200_000}}
	read := func(query, body string) (sql, head, data string) {
		got, err := s.readStatement(query, strings.NewReader(body))
		require.NoError(t, err)
		if got.insert == nil {
			return got.sql, "", ""
		}
		rest, err := io.ReadAll(got.data)
		require.NoError(t, err)
		return got.sql, got.insert.Head, string(rest)
	}
	long := strings.Repeat("1,2\n", 100_000)
	for name, tt := range map[string]struct{ query, body, head, data string }{
		"in the body":          {"", "INSERT INTO t FORMAT CSV\n" + long, "INSERT INTO t ", long},
		"statement in the URL": {"INSERT INTO t FORMAT CSV", long, "INSERT INTO t ", long},
		"blank first line":     {"INSERT INTO t FORMAT CSV\n", "\n1", "INSERT INTO t ", "\n1"},
		"all in the URL":       {"INSERT INTO t VALUES (1)", "", "INSERT INTO t ", " (1)"},
		"split over both":      {"INSERT INTO t", "FORMAT CSV\n1", "INSERT INTO t\n", "1"},
		"data in both":         {"INSERT INTO t VALUES (1),", "(2)", "INSERT INTO t ", " (1),(2)"},
	} {
		_, head, data := read(tt.query, tt.body)
		assert.Equal(t, tt.head, head, name)
		assert.Equal(t, tt.data, data, name)
	}
	sql, _, _ := read("SELECT 1", "")
	assert.Equal(t, "SELECT 1", sql)
	sql, _, _ = read("SELECT", "1")
	assert.Equal(t, "SELECT\n1", sql)
	_, err := s.readStatement("", strings.NewReader("SELECT '"+strings.Repeat("x", 200_000)+"'"))
	assert.ErrorContains(t, err, "longer than 200000 bytes")
}

func TestQuoting(t *testing.T) {
	assert.Equal(t, `'it\'s \\ x'`, quoteText(`it's \ x`))
	assert.Equal(t, "`a\\`b`", quoteName("a`b"))
	assert.Equal(t, []string{"UInt8", "Map(String, Array(UInt8))", "String"}, splitTypes("UInt8, Map(String, Array(UInt8)),String"))
	assert.Equal(t, "ab", headerSafe("a\r\nb\x00"))
}
