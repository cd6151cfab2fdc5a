package scrape_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/scrape"
)

const body = "# TYPE vllm:a gauge\nvllm:a 1\n"

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func serve(t testing.TB, handler http.HandlerFunc) *httptest.Server {
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server
}

// client has connections of its own, so that none outlives the test.
func client(t testing.TB, options scrape.Options) *scrape.Client {
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return scrape.NewClient(&http.Client{Transport: transport}, options)
}

func zipped(t testing.TB, text []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(text)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

func TestPage(t *testing.T) {
	f := func(name string, handler http.HandlerFunc, want scrape.Page) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			c := client(t, scrape.DefaultOptions())
			for range 3 { // with a buffer that was used before
				page, err := c.Get(t.Context(), serve(t, handler).URL+"/metrics")
				require.NoError(t, err)
				assert.Positive(t, page.Duration)
				got := scrape.Page{
					Body: bytes.Clone(page.Body), ContentType: page.ContentType, WireBytes: page.WireBytes, Bytes: page.Bytes,
					Truncated: page.Truncated,
				}
				assert.Equal(t, want, got)
				c.Release(page)
			}
		})
	}
	long := []byte(strings.Repeat(body, 10_000))
	size := int64(len(body))
	f("text", func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "text/plain;version=0.0.4;q=1,*/*;q=0.1", r.Header.Get("Accept"))
		assert.Equal(t, "gzip", r.Header.Get("Accept-Encoding"))
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		_, _ = w.Write([]byte(body))
	}, scrape.Page{Body: []byte(body), ContentType: "text/plain; version=0.0.4", WireBytes: size, Bytes: size})
	f("gzip", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(zipped(t, long))
	}, scrape.Page{Body: long, ContentType: "text/plain", WireBytes: int64(len(zipped(t, long))), Bytes: int64(len(long))})
	f("chunked", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		for chunk := range bytes.Lines(long[:40*size]) {
			_, _ = w.Write(chunk)
			w.(http.Flusher).Flush()
		}
	}, scrape.Page{Body: long[:40*size], ContentType: "text/plain", WireBytes: 40 * size, Bytes: 40 * size})
	f("nothing", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Type", "text/plain") },
		scrape.Page{Body: []byte{}, ContentType: "text/plain"})
	f("another content type is the reader's business", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(body))
	}, scrape.Page{Body: []byte(body), ContentType: "application/json", WireBytes: size, Bytes: size})
	f("a redirect on the same server", func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/") {
			http.Redirect(w, r, r.URL.Path+"/", http.StatusTemporaryRedirect)
			return
		}
		w.Header().Set("Content-Type", "text/plain")
		_, _ = w.Write([]byte(body))
	}, scrape.Page{Body: []byte(body), ContentType: "text/plain", WireBytes: size, Bytes: size})
}

func TestBodiesOverTheLimitGiveTheirWholeFamilies(t *testing.T) {
	f := func(text string, limit int64, want string) {
		t.Helper()
		for _, encoding := range []string{"", "gzip"} {
			server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				sent := []byte(text)
				if encoding != "" {
					w.Header().Set("Content-Encoding", encoding)
					sent = zipped(t, sent)
				}
				_, _ = w.Write(sent)
			})
			page, err := client(t, scrape.Options{Timeout: time.Minute, MaxBytes: limit}).Get(t.Context(), server.URL)
			if want == "" {
				assert.Equal(t, scrape.Size, kind(t, err), text)
				continue
			}
			require.NoError(t, err)
			assert.Equal(t, want, string(page.Body))
			assert.Equal(t, len(want) < len(text), page.Truncated)
		}
	}
	const a, b = "# HELP a A.\n# TYPE a counter\na 1\n", "# HELP b B.\n# TYPE b counter\nb 1\n"
	f(a+b, int64(len(a+b)), a+b)
	f(a+b, int64(len(a+b))-1, a)
	f(a+b, int64(len(a))+15, a)
	f(a+b, int64(len(a)), a[:0]) // whether a goes on is not known
	f(a+b, 40, "")
	f(a+b, 3, "")
	f("a 1\nb 2\nc 3\n", 9, "a 1\nb 2\n")
	f("# one comment\na 1\nb 2\nc 3\n", 20, "")
}

func kind(t *testing.T, err error) scrape.Kind {
	var failed *scrape.Error
	require.ErrorAs(t, err, &failed)
	return failed.Kind
}

func TestFailures(t *testing.T) {
	f := func(name string, handler http.HandlerFunc, want scrape.Kind, status int, text string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			limits := scrape.Options{Timeout: time.Minute, MaxBytes: 1 << 20}
			if want == scrape.Timeout {
				limits.Timeout = time.Second
			}
			page, err := client(t, limits).Get(t.Context(), serve(t, handler).URL)
			assert.Nil(t, page)
			assert.Equal(t, want, kind(t, err))
			assert.EqualError(t, err, text)
			var failed *scrape.Error
			require.ErrorAs(t, err, &failed)
			assert.Equal(t, status, failed.Status)
		})
	}
	f("500 in plain text", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "All workers failed:\n\tworker http://10.0.0.3:15001\x00\xff timed out", http.StatusInternalServerError)
	}, scrape.Status, 500, "status: the answer is 500: All workers failed: worker http://10.0.0.3:15001 ? timed out")
	f("404", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(`{"detail":"Not Found"}`))
	}, scrape.Status, 404, `status: the answer is 404: {"detail":"Not Found"}`)
	f("204", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }, scrape.Status, 204, "status: the answer is 204")
	f("a status nobody knows", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(799) }, scrape.Status, 799, "status: the answer is 799")
	f("a web page", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("\n<!DOCTYPE html><title>Sign in</title>" + strings.Repeat("<p>", 1000)))
	}, scrape.HTML, 200, "html: the body is HTML, not metrics: <!DOCTYPE html><title>Sign in</title>"+strings.Repeat("<p>", 54)+"<…")
	f("never answers", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		scrape.Timeout, 0, "timeout: context deadline exceeded")
	f("a byte at a time", func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			_, _ = w.Write([]byte("a"))
			w.(http.Flusher).Flush()
			select {
			case <-r.Context().Done():
			case <-time.After(20 * time.Millisecond):
			}
		}
	}, scrape.Timeout, 200, "timeout: context deadline exceeded")
	f("endless, without a line", func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			_, _ = w.Write(bytes.Repeat([]byte("a"), 64<<10))
		}
	}, scrape.Size, 200, "size: no whole line within the limit")
	f("gzip bomb", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		zip := gzip.NewWriter(w)
		for r.Context().Err() == nil {
			_, _ = zip.Write(make([]byte, 1<<20))
		}
	}, scrape.Size, 200, "size: no whole line within the limit")
	f("cut off", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write([]byte(body))
	}, scrape.Connection, 200, "connection: unexpected EOF")
	f("gzip cut off", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(zipped(t, []byte(body))[:20])
	}, scrape.Connection, 200, "connection: unexpected EOF")
	f("gzip that is none", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write([]byte(body))
	}, scrape.Encoding, 200, "encoding: gzip: invalid header")
	f("gzip, damaged", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		sent := zipped(t, []byte(body))
		sent[len(sent)-6] ^= 1
		_, _ = w.Write(sent)
	}, scrape.Encoding, 200, "encoding: gzip: invalid checksum")
	f("an encoding nobody asked for", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "br")
		_, _ = w.Write([]byte(body))
	}, scrape.Encoding, 200, `encoding: content-encoding "br" was not asked for`)
	f("a redirect to itself", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/", http.StatusFound)
	}, scrape.Redirect, 0, "redirect: redirected too often")
	f("a redirect to https", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://"+r.Host+"/", http.StatusFound)
	}, scrape.Redirect, 0, "redirect: redirected to another server or scheme")
	f("a redirect without a target", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusFound)
	}, scrape.Status, 302, "status: the answer is 302")
}

func TestRedirectsToAnotherServerAreNotFollowed(t *testing.T) {
	asked := false
	other := serve(t, func(http.ResponseWriter, *http.Request) { asked = true })
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+"/metrics", http.StatusFound)
	})
	_, err := client(t, scrape.DefaultOptions()).Get(t.Context(), server.URL)
	assert.Equal(t, scrape.Redirect, kind(t, err))
	assert.NotContains(t, err.Error(), other.Listener.Addr().String())
	assert.False(t, asked)
}

func TestConnectionFailures(t *testing.T) {
	c := client(t, scrape.DefaultOptions())
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	_, err := c.Get(t.Context(), gone.URL)
	assert.Equal(t, scrape.Connection, kind(t, err))

	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	_, err = c.Get(t.Context(), secure.URL)
	assert.Equal(t, scrape.TLS, kind(t, err), "a certificate that nobody trusts: %v", err)
	_, err = c.Get(t.Context(), strings.Replace(secure.URL, "https", "http", 1))
	assert.Equal(t, scrape.Status, kind(t, err), "HTTP to a TLS port: Go's server answers 400 in HTTP")
	_, err = c.Get(t.Context(), strings.Replace(serve(t, http.NotFound).URL, "http", "https", 1))
	assert.Equal(t, scrape.TLS, kind(t, err), "TLS to an HTTP port: %v", err)

	ctx, cancel := context.WithCancel(t.Context())
	server := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	_, err = c.Get(ctx, server.URL)
	assert.Equal(t, scrape.Canceled, kind(t, err))
	assert.ErrorIs(t, err, context.Canceled)
}

func TestErrorsHoldNoCredentials(t *testing.T) {
	f := func(path string, want scrape.Kind) {
		t.Helper()
		limits := scrape.DefaultOptions()
		if want == scrape.Timeout {
			limits.Timeout = time.Second
		}
		c := client(t, limits)
		server := serve(t, func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/echo":
				user, password, _ := r.BasicAuth()
				http.Error(w, fmt.Sprint("nothing at ", r.URL.String(), " for ", user, password), http.StatusNotFound)
			case "/html":
				fmt.Fprint(w, "<a href=", r.URL.String(), ">")
			case "/elsewhere":
				http.Redirect(w, r, "http://other.invalid/?token=secret", http.StatusFound)
			case "/loop":
				http.Redirect(w, r, r.URL.String(), http.StatusFound)
			case "/hang":
				<-r.Context().Done()
			}
		})
		for _, address := range []string{
			strings.Replace(server.URL, "http://", "http://secret:secret@", 1) + path, server.URL + path + "?token=secret",
		} {
			_, err := c.Get(t.Context(), address)
			assert.Equal(t, want, kind(t, err), address)
			for ; err != nil; err = errors.Unwrap(err) {
				assert.NotContains(t, fmt.Sprintf("%v %+v", err, err), "secret")
			}
		}
	}
	f("/echo", scrape.Status)
	f("/html", scrape.HTML)
	f("/elsewhere", scrape.Redirect)
	f("/loop", scrape.Redirect)
	f("/hang", scrape.Timeout)
	for _, address := range []string{
		"http://user:sec/ret@host/", "http://user:secret@host:port/", "http://user:secret@/", "ftp://user:secret@host/",
		"//user:secret@host/", "http://us er:secret@host", "secret", "", "http://host/%secret", "http://host\x00/?token=secret",
	} {
		_, err := client(t, scrape.DefaultOptions()).Get(t.Context(), address)
		assert.EqualError(t, err, "address: not an http or https URL", address)
	}
}

// A server repeats headers that only the client's configuration knows.
func TestErrorsHoldNothingOfConfidentialAnswers(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "nothing for the holder of token hush", http.StatusForbidden)
	})
	options := scrape.DefaultOptions()
	_, err := client(t, options).Get(t.Context(), server.URL)
	assert.ErrorContains(t, err, "hush")

	options.Confidential = true
	_, err = client(t, options).Get(t.Context(), server.URL)
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "hush")
	assert.Contains(t, err.Error(), "the answer is 403")
}
