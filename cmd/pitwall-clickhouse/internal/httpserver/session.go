package httpserver

import (
	"sync"
	"time"

	"github.com/pitwall-otel/pitwall/cmd/pitwall-clickhouse/internal/chdb"
)

// Both are a ClickHouse server's defaults.
const (
	defaultSessionTimeout = 60 * time.Second
	maxSessionTimeout     = time.Hour
)

// sessionKey keeps one user out of another's session.
type sessionKey struct{ user, id string }

// session is a kept engine session. It runs one statement at a time.
type session struct {
	key   sessionKey
	conn  *chdb.Conn
	busy  bool
	timer *time.Timer // ends the idle session
}

// sessions are the sessions kept by session_id.
type sessions struct {
	connect func() (*chdb.Conn, error)
	limit   int

	mu   sync.Mutex
	open map[sessionKey]*session
}

func newSessions(connect func() (*chdb.Conn, error), limit int) *sessions {
	return &sessions{connect: connect, limit: limit, open: map[sessionKey]*session{}}
}

// take locks the user's session, which it makes unless it must exist.
func (s *sessions) take(user User, id string, mustExist bool) (*session, error) {
	key := sessionKey{user: user.Name, id: id}
	s.mu.Lock()
	defer s.mu.Unlock()
	if one := s.open[key]; one != nil {
		if one.busy {
			return nil, exception(codeSessionLocked, "Session %s is locked by a concurrent client", key.id)
		}
		one.busy = true
		one.timer.Stop()
		return one, nil
	}
	if mustExist {
		return nil, exception(codeSessionNotFound, "Session %s not found", key.id)
	}
	if len(s.open) >= s.limit {
		return nil, exception(codeTooManyQueries, "Too many sessions. Maximum: %d", s.limit)
	}
	conn, err := s.connect()
	if err != nil {
		return nil, err
	}
	if user.ReadOnly { // for good: there is no way back from it
		if err := conn.Exec("SET readonly = 2"); err != nil {
			conn.Close()
			return nil, err
		}
	}
	one := &session{key: key, conn: conn, busy: true}
	one.timer = time.AfterFunc(maxSessionTimeout, func() { s.expire(one) })
	one.timer.Stop()
	s.open[key] = one
	return one, nil
}

// give unlocks a session and starts its timeout, or ends it.
func (s *sessions) give(one *session, timeout time.Duration, end bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one.busy = false
	if end {
		s.end(one)
		return
	}
	one.timer.Reset(timeout)
}

func (s *sessions) expire(one *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	// It may have been taken, or ended, while the timer was firing.
	if s.open[one.key] == one && !one.busy {
		s.end(one)
	}
}

// end needs the lock.
func (s *sessions) end(one *session) {
	one.timer.Stop()
	delete(s.open, one.key)
	one.conn.Close()
}

func (s *sessions) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.open {
		s.end(one)
	}
}
