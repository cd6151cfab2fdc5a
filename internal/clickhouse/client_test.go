package clickhouse

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/config/configopaque"
)

// request is what the server saw.
type request struct {
	header http.Header
	query  url.Values
	path   string
	body   string
	length int64
}

// fakeServer answers every request with handler, after it has recorded it.
func fakeServer(t *testing.T, handler http.HandlerFunc) (*httptest.Server, func() request) {
	t.Helper()
	requests := make(chan request, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		requests <- request{r.Header, r.URL.Query(), r.URL.Path, string(body), r.ContentLength}
		handler(w, r)
	}))
	t.Cleanup(server.Close)
	return server, func() request {
		select {
		case r := <-requests:
			return r
		default:
			t.Fatal("no request arrived")
			return request{}
		}
	}
}

func okHandler(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-ClickHouse-Query-Id", "1")
		_, _ = io.WriteString(w, body)
	}
}

func newTestClient(t *testing.T, endpoint, username, password string) *Client {
	t.Helper()
	client, err := NewClient(&http.Client{Transport: &http.Transport{DisableKeepAlives: true, ExpectContinueTimeout: time.Second}}, endpoint, username,
		func() (configopaque.String, error) { return configopaque.String(password), nil })
	require.NoError(t, err)
	return client
}

func TestInsertSendsStatementInURLAndChunksAsBody(t *testing.T) {
	server, last := fakeServer(t, okHandler(""))
	client := newTestClient(t, server.URL+"/path", "writer", "hunter2")
	body := [][]byte{[]byte("abc"), {}, []byte("de"), nil, []byte("f")}

	require.NoError(t, client.Insert(t.Context(), "INSERT INTO t FORMAT Native",
		map[string]string{"insert_deduplication_token": "a b&c"}, body, "zstd"))

	got := last()
	assert.Equal(t, url.Values{
		"query":                      {"INSERT INTO t FORMAT Native"},
		"insert_deduplication_token": {"a b&c"},
		"wait_end_of_query":          {"1"},
	}, got.query)
	assert.Equal(t, "/path", got.path)
	assert.Equal(t, "abcdef", got.body)
	assert.Equal(t, int64(6), got.length, "a chunked body would cost the server its progress and some proxies their patience")
	assert.Equal(t, "zstd", got.header.Get("Content-Encoding"))
	assert.Equal(t, "writer", got.header.Get("X-ClickHouse-User"))
	assert.Equal(t, "hunter2", got.header.Get("X-ClickHouse-Key"))

	require.NoError(t, client.Insert(t.Context(), "INSERT INTO t FORMAT Native", nil, body, ""))
	again := last()
	assert.Equal(t, "abcdef", again.body, "the same chunks can be sent again")
	assert.NotContains(t, again.header, "Content-Encoding")
}

func TestExecSendsStatementInBody(t *testing.T) {
	server, last := fakeServer(t, okHandler(""))
	require.NoError(t, newTestClient(t, server.URL, "", "").Exec(t.Context(), "CREATE TABLE x", map[string]string{"a": "1"}))

	got := last()
	assert.Equal(t, "CREATE TABLE x", got.body)
	assert.Equal(t, url.Values{"a": {"1"}, "wait_end_of_query": {"1"}}, got.query)
	assert.NotContains(t, got.header, "X-Clickhouse-User", "without a user name an auth extension decides")
	assert.NotContains(t, got.header, "X-Clickhouse-Key")
}

func TestQueryReturnsRows(t *testing.T) {
	f := func(answer string, want [][]string, wantErr string) {
		t.Helper()
		server, last := fakeServer(t, okHandler(answer))
		rows, err := newTestClient(t, server.URL, "", "").Query(t.Context(), "SELECT 1 -- one", nil)
		assert.Equal(t, "SELECT 1 -- one\nFORMAT JSONCompactStringsEachRow", last().body)
		if wantErr != "" {
			require.ErrorContains(t, err, wantErr)
			return
		}
		require.NoError(t, err)
		assert.Equal(t, want, rows)
	}
	f("", nil, "")
	f("[\"a\", \"b\\\"\\n\"]\n[\"c\", \"\"]\n", [][]string{{"a", "b\"\n"}, {"c", ""}}, "")
	f("[\"a\"]", [][]string{{"a"}}, "")
	// Rows that quote an exception are rows.
	f("[\"Code: 60. DB::Exception: no. (UNKNOWN_TABLE)\"]\n", [][]string{{"Code: 60. DB::Exception: no. (UNKNOWN_TABLE)"}}, "")
	f("[\"a\"]\n[\"b", nil, "not rows of strings")
	f("[\"a\"]\nCode: 241. DB::Exception: Memory limit exceeded. (MEMORY_LIMIT_EXCEEDED)", nil, "code 241 MEMORY_LIMIT_EXCEEDED")
	f("[\"a\"]\n{\"exception\": \"Code: 395. DB::Exception: throwIf. (FUNCTION_THROW_IF_VALUE_IS_NON_ZERO)\"}\n", nil, "code 395")
	f(strings.Repeat("[\""+strings.Repeat("x", 1000)+"\"]\n", 4200), nil, "larger than 4194304 bytes")
}

func TestCredentialsStayOutOfURLsAndMessages(t *testing.T) {
	const password = "hunter2-secret"
	for name, handler := range map[string]http.HandlerFunc{
		"server quotes it": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-ClickHouse-Exception-Code", "516")
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, "Code: 516. DB::Exception: wrong: "+r.Header.Get("X-ClickHouse-Key"))
		},
		"connection cut": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"not ClickHouse": func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, r.Header.Get("X-ClickHouse-Key"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			server, last := fakeServer(t, handler)
			err := newTestClient(t, server.URL, "writer", password).Exec(t.Context(), "SELECT 1", nil)
			require.ErrorContains(t, err, server.URL)
			assert.NotContains(t, err.Error(), password)
			assert.NotContains(t, last().query.Encode(), password)
		})
	}
}

func TestPasswordIsAskedForEachRequest(t *testing.T) {
	server, last := fakeServer(t, okHandler(""))
	passwords := []configopaque.String{"first", "second"}
	client, err := NewClient(server.Client(), server.URL, "writer", func() (configopaque.String, error) {
		if len(passwords) == 0 {
			return "", errors.New("open password_file: no such file")
		}
		next := passwords[0]
		passwords = passwords[1:]
		return next, nil
	})
	require.NoError(t, err)

	require.NoError(t, client.Exec(t.Context(), "SELECT 1", nil))
	assert.Equal(t, "first", last().header.Get("X-ClickHouse-Key"))
	require.NoError(t, client.Exec(t.Context(), "SELECT 1", nil))
	assert.Equal(t, "second", last().header.Get("X-ClickHouse-Key"))
	err = client.Exec(t.Context(), "SELECT 1", nil)
	require.ErrorContains(t, err, "user writer: open password_file: no such file")
	assert.Equal(t, Configuration, Classify(err))
}

func TestPasswordWithLineBreakIsNamedAndNotSent(t *testing.T) {
	err := newTestClient(t, "http://127.0.0.1:1", "writer", "hunter2\nX-Evil: 1").Exec(t.Context(), "SELECT 1", nil)
	require.ErrorContains(t, err, "it holds a line break")
	assert.NotContains(t, err.Error(), "hunter2")
	assert.Equal(t, Configuration, Classify(err))
}

func TestNewClientRefusesEndpoint(t *testing.T) {
	f := func(endpoint, want string) {
		t.Helper()
		_, err := NewClient(http.DefaultClient, endpoint, "", nil)
		require.ErrorContains(t, err, want)
		assert.NotContains(t, err.Error(), "hunter2")
	}
	f("", "scheme")
	f("127.0.0.1:8123", "endpoint: not a URL")
	f("tcp://127.0.0.1:9000", `scheme "tcp": want http or https`)
	f("http://", "no host")
	f("http://u:hunter2@h:8123", "holds credentials")
	f("http://u:hunter2@h:81 23", "not a URL")
	f("http://h:8123/?password=hunter2", "must not have a query")
}

func TestAnswersAreReadWithinBoundsAndConnectionsReused(t *testing.T) {
	size := 0
	server, _ := fakeServer(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-ClickHouse-Query-Id", "1")
		chunk := strings.Repeat("x", 1<<10)
		for range size >> 10 {
			if _, err := io.WriteString(w, chunk); err != nil {
				return
			}
		}
	})
	client, err := NewClient(server.Client(), server.URL, "", nil)
	require.NoError(t, err)
	reused := func() bool {
		var info httptrace.GotConnInfo
		ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) { info = i }})
		require.NoError(t, client.Exec(ctx, "SELECT 1", nil))
		return info.Reused
	}
	assert.False(t, reused(), "the first request")
	assert.True(t, reused(), "after an empty answer")
	size = 100 << 10
	reused()
	assert.True(t, reused(), "after an answer read to its end")
	size = 512 << 20
	reused()
	assert.False(t, reused(), "an endless answer costs its connection and no memory")
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	other, _ := fakeServer(t, okHandler(""))
	for _, status := range []int{301, 302, 303, 307, 308} {
		server, _ := fakeServer(t, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL+"/elsewhere", status)
		})
		err := newTestClient(t, server.URL, "writer", "hunter2").Insert(t.Context(), "INSERT", nil, [][]byte{[]byte("x")}, "")
		require.ErrorContains(t, err, "redirected to "+other.URL+"/elsewhere")
		assert.Equal(t, Configuration, Classify(err))
	}
}

func TestCancelledContextEndsARequest(t *testing.T) {
	arrived := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then does the server watch for the client's going
		close(arrived)
		<-r.Context().Done()
	}))
	defer server.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-arrived
		cancel()
	}()
	err := newTestClient(t, server.URL, "", "").Exec(ctx, "SELECT 1", nil)
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, Retryable, Classify(err))
}

// BenchmarkInsert is the cost of sending a block of 50,000 rows as lz4 leaves it, over loopback, without a server's
// work.
func BenchmarkInsert(b *testing.B) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("X-ClickHouse-Query-Id", "1")
	}))
	defer server.Close()
	client, err := NewClient(server.Client(), server.URL, "writer", func() (configopaque.String, error) { return "hunter2", nil })
	require.NoError(b, err)
	body := [][]byte{make([]byte, 250_000), make([]byte, 250_000)}
	b.SetBytes(500_000)
	b.ReportAllocs()
	for range b.N {
		if err := client.Insert(b.Context(), "INSERT INTO t FORMAT Native", map[string]string{"insert_deduplication_token": "x"}, body, ""); err != nil {
			b.Fatal(err)
		}
	}
}
