package faults

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// engineTimeout is longer than the exporter waits for an INSERT.
const engineTimeout = time.Minute

// fault answers one INSERT in place of the engine. The body has been read.
type fault func(p *proxy, w http.ResponseWriter, r *http.Request, body []byte)

// proxy passes HTTP on to the engine and breaks INSERTs while a fault is set.
type proxy struct {
	server  *httptest.Server
	engine  string
	client  *http.Client
	fault   atomic.Pointer[fault]
	broken  atomic.Int64 // INSERTs that met a fault
	inserts atomic.Int64 // that the engine confirmed

	mu   sync.Mutex
	last *insert // the last one confirmed

	profile url.Values // settings of the account, where a request says nothing else; set before the first one
}

// insert is an INSERT as the exporter sent it.
type insert struct {
	target string // path and query
	header http.Header
	body   []byte
}

func newProxy(t *testing.T, engine string) *proxy {
	t.Helper()
	p := &proxy{engine: engine, client: &http.Client{Transport: &http.Transport{DisableCompression: true}}}
	p.server = httptest.NewUnstartedServer(http.HandlerFunc(p.serve))
	p.server.Config.ErrorLog = nil
	p.server.Start()
	t.Cleanup(func() {
		p.heal()
		p.server.CloseClientConnections()
		p.server.Close()
		p.client.CloseIdleConnections()
	})
	return p
}

// inject sets the fault of every INSERT from now on.
func (p *proxy) inject(f fault) { p.fault.Store(&f) }

func (p *proxy) heal() { p.fault.Store(nil) }

func (p *proxy) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		hangUp()
		return
	}
	isInsert := strings.HasPrefix(r.URL.Query().Get("query"), "INSERT")
	if f := p.fault.Load(); f != nil && isInsert {
		p.broken.Add(1)
		(*f)(p, w, r, body)
		return
	}
	p.relay(w, r, body)
}

// relay passes the request on and the answer back.
func (p *proxy) relay(w http.ResponseWriter, r *http.Request, body []byte) {
	answer, err := p.forward(r, bytes.NewReader(body), len(body))
	if err != nil {
		hangUp()
		return
	}
	answer.write(w)
}

type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a answer) write(w http.ResponseWriter) {
	maps.Copy(w.Header(), a.header)
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body) // a client that has gone asks again
}

// forward sends the request to the engine, which finishes it even when the client has gone.
func (p *proxy) forward(r *http.Request, body io.Reader, size int) (answer, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), engineTimeout)
	defer cancel()
	target := *r.URL
	target.RawQuery = p.withProfile(r.URL.Query()).Encode()
	request, err := http.NewRequestWithContext(ctx, r.Method, p.engine+target.RequestURI(), body)
	if err != nil {
		return answer{}, err
	}
	request.Header = r.Header.Clone()
	request.Header.Del("Expect") // the body is here already
	request.ContentLength = int64(size)
	response, err := p.client.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if sent, ok := body.(*bytes.Reader); ok && err == nil && response.StatusCode == http.StatusOK {
		p.confirmed(r, sent, size)
	}
	return answer{response.StatusCode, response.Header, content}, err
}

func (p *proxy) withProfile(settings url.Values) url.Values {
	for name, values := range p.profile {
		if !settings.Has(name) {
			settings[name] = values
		}
	}
	return settings
}

func (p *proxy) confirmed(r *http.Request, sent *bytes.Reader, size int) {
	if !strings.HasPrefix(r.URL.Query().Get("query"), "INSERT") {
		return
	}
	p.inserts.Add(1)
	body := make([]byte, size)
	_, _ = sent.ReadAt(body, 0) // from memory
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = &insert{r.URL.RequestURI(), r.Header.Clone(), body}
}

func (p *proxy) lastInsert() *insert {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last
}

// hangUp closes the client's connection without an answer.
func hangUp() { panic(http.ErrAbortHandler) }

// cut closes the connection before the engine hears of the INSERT.
func cut(*proxy, http.ResponseWriter, *http.Request, []byte) { hangUp() }

// cutRequest lets the engine see half of the INSERT and closes both connections.
func cutRequest(p *proxy, _ http.ResponseWriter, r *http.Request, body []byte) {
	half := io.MultiReader(bytes.NewReader(body[:len(body)/2]), failing{})
	_, _ = p.forward(r, half, len(body))
	hangUp()
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("cut") }

// corrupt flips one bit on the way.
func corrupt(p *proxy, w http.ResponseWriter, r *http.Request, body []byte) {
	damaged := bytes.Clone(body)
	damaged[len(damaged)/2] ^= 0x10
	answer, err := p.forward(r, io.MultiReader(bytes.NewReader(damaged)), len(damaged))
	if err != nil {
		hangUp()
	}
	answer.write(w)
}

// stall takes the INSERT and never answers.
func stall(_ *proxy, _ http.ResponseWriter, r *http.Request, _ []byte) { <-r.Context().Done() }

// delayed passes the INSERT on after a while.
func delayed(d time.Duration) fault {
	return func(p *proxy, w http.ResponseWriter, r *http.Request, body []byte) {
		<-time.After(d)
		p.relay(w, r, body)
	}
}

// loseAnswer closes the connection after the engine has done the INSERT.
func loseAnswer(p *proxy, _ http.ResponseWriter, r *http.Request, body []byte) {
	_, _ = p.forward(r, bytes.NewReader(body), len(body))
	hangUp()
}

// halfAnswer breaks off in the answer's header, after the engine has done the INSERT.
func halfAnswer(p *proxy, w http.ResponseWriter, r *http.Request, body []byte) {
	_, _ = p.forward(r, bytes.NewReader(body), len(body))
	connection, buffer, err := http.NewResponseController(w).Hijack()
	if err != nil {
		hangUp()
	}
	_, _ = buffer.WriteString("HTTP/1.1 200 OK\r\nContent-Le")
	_ = buffer.Flush()
	_ = connection.Close()
}

// fails answers as ClickHouse does; code 0 as a balancer in front of it.
func fails(status, code int, text string) fault {
	return func(_ *proxy, w http.ResponseWriter, _ *http.Request, _ []byte) {
		if code != 0 {
			w.Header().Set("X-ClickHouse-Exception-Code", fmt.Sprint(code))
			text = fmt.Sprintf("Code: %d. DB::Exception: %s", code, text)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}
}

// echo answers with an error that holds the credentials it was sent, as a careless proxy does.
func echo(_ *proxy, w http.ResponseWriter, r *http.Request, _ []byte) {
	w.WriteHeader(http.StatusBadGateway)
	_ = r.Header.Write(w)
}

// every applies f to each n-th INSERT only.
func every(n int64, f fault) fault {
	var seen atomic.Int64
	return func(p *proxy, w http.ResponseWriter, r *http.Request, body []byte) {
		if seen.Add(1)%n == 0 {
			f(p, w, r, body)
			return
		}
		p.broken.Add(-1)
		p.relay(w, r, body)
	}
}
