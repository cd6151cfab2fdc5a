package clickhouse

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The classes the delivery promise names (design section 3), code by code.
func TestClassifyCodes(t *testing.T) {
	f := func(want Class, codes ...int) {
		t.Helper()
		for _, code := range codes {
			assert.Equal(t, want, Classify(fmt.Errorf("wrapped: %w", &Error{Code: code, Status: 500})), "code %d", code)
		}
	}
	f(Retryable, 3, 32, 33, 40, 159, 173, 198, 201, 202, 203, 204, 209, 210, 225, 236, 241, 242, 243, 252, 254, 279, 285,
		286, 297, 319, 364, 394, 425, 439, 499, 517, 574, 692, 735, 745, 999, 1000, 1002)
	f(Permanent, 6, 16, 20, 26, 27, 41, 44, 50, 53, 70, 72, 117, 131, 349, 469)
	f(Configuration, 60, 62, 73, 81, 115, 164, 192, 193, 194, 291, 497, 516, 701)
	f(Retryable, 5000, 77777) // of a server yet to be written
}

func TestClassifyTooManyPartitionsByText(t *testing.T) {
	parts := &Error{Code: 252, Message: "Too many parts (3000 with average size of 1.00 KiB) in table 't.x'. Merges are processing significantly slower than inserts"}
	require.NotErrorIs(t, parts, ErrTooManyPartitions)
	assert.Equal(t, Retryable, Classify(parts))

	partitions := fmt.Errorf("wrapped: %w", &Error{Code: 252, Message: "Too many partitions for single INSERT block (more than 100). The limit is controlled by ..."})
	require.ErrorIs(t, partitions, ErrTooManyPartitions)
	assert.Equal(t, Permanent, Classify(partitions))
}

// Each answer as a proxy, a balancer, another service or a dying server gives it.
func TestClassifyAnswers(t *testing.T) {
	f := func(name string, want Class, text string, handler http.HandlerFunc) {
		t.Run(name, func(t *testing.T) {
			server, _ := fakeServer(t, handler)
			err := newTestClient(t, server.URL, "writer", "hunter2").Insert(t.Context(), "INSERT", nil, [][]byte{[]byte("x")}, "")
			require.ErrorContains(t, err, text)
			assert.Contains(t, err.Error(), server.URL)
			assert.Equal(t, want, Classify(err))
		})
	}
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no\n  luck", code) }
	}
	for _, code := range []int{400, 408, 409, 425, 429, 500, 502, 503, 504, 599} {
		f(fmt.Sprint(code), Retryable, fmt.Sprintf("status %d: no luck", code), status(code))
	}
	for _, code := range []int{401, 403, 404, 405, 407, 413} {
		f(fmt.Sprint(code), Configuration, fmt.Sprintf("status %d: no luck", code), status(code))
	}
	f("another service's 200", Configuration, "does not come from ClickHouse", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "<html>welcome</html>")
	})
	f("an empty 204", Configuration, "status 204", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	})
	f("header without text", Retryable, "code 241", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-ClickHouse-Exception-Code", "241")
		w.WriteHeader(http.StatusInternalServerError)
	})
	f("header against text", Retryable, "code 279: All connection tries failed", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-ClickHouse-Exception-Code", "279")
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = io.WriteString(w, "Code: 516. DB::Exception: All connection tries failed. (AUTHENTICATION_FAILED)")
	})
	f("exception in a 200", Retryable, "code 241 MEMORY_LIMIT_EXCEEDED: Memory limit exceeded", okHandler(
		"Code: 241. DB::Exception: Memory limit exceeded. (MEMORY_LIMIT_EXCEEDED)\n"))
	f("exception in a cut 200", Permanent, "code 117 INCORRECT_DATA", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-ClickHouse-Query-Id", "1")
		_, _ = io.WriteString(w, "Code: 117. DB::Exception: bad. (INCORRECT_DATA)")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	f("half an answer", Retryable, "unexpected EOF", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-ClickHouse-Query-Id", "1")
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "half")
	})
	view := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = io.WriteString(w, text)
		}
	}
	// As 26.7 says it; the rows are in the table then.
	f("a view's error", Configuration, "code 6 CANNOT_PARSE_TEXT", view("Code: 6. DB::Exception: Cannot parse string 'abc' as UInt64: "+
		"while executing 'FUNCTION toUInt64(__table1.x :: 1) -> toUInt64(__table1.x) UInt64 : 0': while pushing to view default.v. (CANNOT_PARSE_TEXT) (version 26.7.2.1)"))
	f("behind a long value", Configuration, "code 6", view("Code: 6. DB::Exception: Cannot parse string '"+strings.Repeat("a", 10_000)+"': while pushing to view d.v (0000-1). (CANNOT_PARSE_TEXT)"))
	f("a view's partitions", Retryable, "code 252", view("Code: 252. DB::Exception: Too many partitions for single INSERT block (more than 100): while pushing to view d.v. (TOO_MANY_PARTS)"))
	f("a value that says so", Permanent, "code 469", view("Code: 469. DB::Exception: Constraint `c` is violated at row 1. Column values: unit = ': while pushing to view d.v'. (VIOLATED_CONSTRAINT)"))
	f("no answer", Retryable, "EOF", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	f("a message without end", Retryable, "code 241 MEMORY_LIMIT_EXCEEDED: aaa", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = io.WriteString(w, "Code: 241. DB::Exception: "+strings.Repeat("a", 100_000)+" (MEMORY_LIMIT_EXCEEDED)")
	})
}

func TestMessageIsBounded(t *testing.T) {
	server, _ := fakeServer(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = io.WriteString(w, strings.Repeat("ä\n", 1<<20))
	})
	var answered *Error
	require.ErrorAs(t, newTestClient(t, server.URL, "", "").Exec(t.Context(), "SELECT 1", nil), &answered)
	assert.LessOrEqual(t, len(answered.Message), 2<<10)
	assert.NotContains(t, answered.Message, "\n", "one line")
}

func TestClassifyNetwork(t *testing.T) {
	f := func(name string, want Class, client *http.Client, endpoint, text string) {
		t.Run(name, func(t *testing.T) {
			c, err := NewClient(client, endpoint, "", nil)
			require.NoError(t, err)
			err = c.Insert(t.Context(), "INSERT", nil, [][]byte{[]byte("x")}, "")
			require.ErrorContains(t, err, text)
			assert.NotContains(t, err.Error(), "query=", "the statement has no place in every message")
			assert.Equal(t, want, Classify(err))
		})
	}
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, nobody.Close())
	f("refused", Retryable, &http.Client{}, "http://"+nobody.Addr().String(), "connection refused")

	unresolved := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "nowhere.invalid", IsNotFound: true}}
	}}
	f("unknown host", Retryable, &http.Client{Transport: unresolved}, "http://nowhere.invalid:8123", "no such host")

	release := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer slow.Close()
	defer close(release)
	f("timeout", Retryable, &http.Client{Timeout: 50 * time.Millisecond}, slow.URL, "Client.Timeout")
}

func TestClassifyTLS(t *testing.T) {
	plain := httptest.NewServer(okHandler(""))
	defer plain.Close()
	secure := httptest.NewUnstartedServer(okHandler(""))
	secure.TLS = &tls.Config{ClientAuth: tls.NoClientCert}
	secure.Config.ErrorLog = discardLog()
	secure.StartTLS()
	defer secure.Close()
	strict := httptest.NewUnstartedServer(okHandler(""))
	strict.TLS = &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert}
	strict.Config.ErrorLog = discardLog()
	strict.StartTLS()
	defer strict.Close()

	trusting := func(server *httptest.Server, change func(*tls.Config)) *http.Client {
		pool := x509.NewCertPool()
		pool.AddCert(server.Certificate())
		config := &tls.Config{RootCAs: pool}
		change(config)
		return &http.Client{Transport: &http.Transport{TLSClientConfig: config, DisableKeepAlives: true}}
	}
	f := func(name string, client *http.Client, endpoint, text string) {
		t.Run(name, func(t *testing.T) {
			c, err := NewClient(client, endpoint, "", nil)
			require.NoError(t, err)
			err = c.Exec(t.Context(), "SELECT 1", nil)
			require.ErrorContains(t, err, text)
			assert.Equal(t, Configuration, Classify(err))
		})
	}
	f("wrong CA", &http.Client{}, secure.URL, "certificate signed by unknown authority")
	f("wrong name", trusting(secure, func(c *tls.Config) { c.ServerName = "elsewhere" }), secure.URL, "elsewhere")
	f("expired", trusting(secure, func(c *tls.Config) {
		c.Time = func() time.Time { return time.Now().AddDate(100, 0, 0) }
	}), secure.URL, "expired")
	f("https to a plain port", &http.Client{}, strings.Replace(plain.URL, "http:", "https:", 1), "server gave HTTP response to HTTPS client")

	// TLS 1.3 refuses a client after its handshake: now and then net/http meets the closed connection before it reads why.
	c, err := NewClient(trusting(strict, func(*tls.Config) {}), strict.URL, "", nil)
	require.NoError(t, err)
	require.EventuallyWithT(t, func(attempt *assert.CollectT) {
		err := c.Exec(t.Context(), "SELECT 1", nil)
		require.ErrorContains(attempt, err, "certificate required")
		assert.Equal(attempt, Configuration, Classify(err))
	}, 10*time.Second, 10*time.Millisecond)
}

func TestClassString(t *testing.T) {
	assert.Equal(t, "retryable permanent configuration", fmt.Sprint(Retryable, " ", Permanent, " ", Configuration))
	assert.Equal(t, Retryable, Classify(errors.New("anything else")))
}

func discardLog() *log.Logger { return log.New(io.Discard, "", 0) }
