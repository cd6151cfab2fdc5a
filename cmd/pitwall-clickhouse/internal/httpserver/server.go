package httpserver

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/pitwall-otel/pitwall/cmd/pitwall-clickhouse/internal/chdb"
	"github.com/pitwall-otel/pitwall/cmd/pitwall-clickhouse/internal/engine"
)

// Limits bound what clients can make the server hold.
type Limits struct {
	Requests      int           // statements running at once
	RequestWait   time.Duration // how long one more waits for its turn
	WireBody      int64         // bytes of a request's body as sent
	Body          int64         // bytes of it once decompressed
	Statement     int           // bytes of SQL without an INSERT's data
	External      int64         // bytes of all external tables of a request
	ExternalCount int           // and how many
	Sessions      int           // kept by session_id
	Stall         time.Duration // how long a client may neither send nor take a byte
}

// DefaultLimits are meant for one machine.
func DefaultLimits() Limits {
	return Limits{
		Requests: 64, RequestWait: 10 * time.Second,
		WireBody: 2 << 30, Body: 8 << 30, Statement: 16 << 20,
		External: 64 << 20, ExternalCount: 32,
		Sessions: 256, Stall: time.Minute,
	}
}

// Server is the HTTP handler.
type Server struct {
	engine   *engine.Engine
	users    []User
	limits   Limits
	sessions *sessions
	slots    chan struct{}
	timezone string
}

// New makes a handler for the engine. Without users nobody needs a password and
// only requests that cannot come from a web page elsewhere are answered.
func New(e *engine.Engine, users []User, limits Limits) (*Server, error) {
	s := &Server{
		engine: e, users: users, limits: limits,
		sessions: newSessions(e.Connect, limits.Sessions),
		slots:    make(chan struct{}, limits.Requests),
	}
	conn, err := e.Connect()
	if err != nil {
		return nil, fmt.Errorf("ask the engine its time zone: %w", err)
	}
	defer conn.Close()
	if s.timezone, err = scalar(conn, "SELECT timezone()"); err != nil {
		return nil, fmt.Errorf("ask the engine its time zone: %w", err)
	}
	return s, nil
}

// Close waits for the statements that still run, and then ends all kept sessions.
// It is false when some have not ended in time.
func (s *Server) Close(patience time.Duration) bool {
	over := time.NewTimer(patience)
	defer over.Stop()
	for range cap(s.slots) {
		select {
		case s.slots <- struct{}{}:
		case <-over.C:
			return false
		}
	}
	s.sessions.close()
	return true
}

// ServeHTTP answers health checks without a password and runs statements with one.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-ClickHouse-Server-Display-Name", displayName)
	switch {
	case r.URL.Path == "/ping", r.URL.Path == "/replicas_status", r.URL.Path == "/" && isGreeting(r):
		w.Header().Set("Content-Type", "text/html; charset=UTF-8")
		_, _ = w.Write([]byte("Ok.\n"))
	case r.URL.Path == "/" || r.URL.Path == "/query":
		s.serveStatement(w, r)
	default:
		http.Error(w, "There is no handle "+r.URL.Path+"; statements go to /, health checks to /ping", http.StatusNotFound)
	}
}

// displayName is what the configuration makes displayName() return.
const displayName = "pitwall-clickhouse"

func isGreeting(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && !r.URL.Query().Has("query")
}

// acquire waits for a turn; release gives it back.
func (s *Server) acquire(ctx context.Context) error {
	timeout := time.NewTimer(s.limits.RequestWait)
	defer timeout.Stop()
	select {
	case s.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-timeout.C:
		return exception(codeTooManyQueries, "Too many simultaneous queries. Maximum: %d", s.limits.Requests)
	}
}

func (s *Server) release() { <-s.slots }

// scalar returns the only value of a statement's result as text.
func scalar(conn *chdb.Conn, sql string, params ...chdb.Param) (string, error) {
	r, err := conn.Query(sql, "RawBLOB", params...)
	if err != nil {
		return "", err
	}
	defer r.Close()
	return string(r.Bytes()), nil
}
