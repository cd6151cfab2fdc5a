package httpserver

import (
	"context"
	"time"

	"github.com/google/uuid"
)

// watch ends the statement with the given log_comment when ctx ends before the
// returned function is called.
func (s *Server) watch(ctx context.Context, id string) (stop func()) {
	done, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		select {
		case <-done:
			return
		case <-ctx.Done():
		}
		// The statement may not have begun, or may just be between two others.
		for again := time.NewTicker(100 * time.Millisecond); ; {
			s.kill(id)
			select {
			case <-done:
				again.Stop()
				return
			case <-again.C:
			}
		}
	}()
	return func() { close(done); <-over }
}

func (s *Server) kill(id string) {
	conn, err := s.engine.Connect()
	if err != nil {
		return // tried again until the statement has ended by itself
	}
	defer conn.Close()
	_ = conn.Exec("KILL QUERY WHERE Settings['log_comment'] = " + quoteText(id) + " ASYNC")
}

func newID() string { return uuid.NewString() }
