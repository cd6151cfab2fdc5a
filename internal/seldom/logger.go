package seldom

import (
	"sync"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

const (
	interval = time.Minute
	// maxMessages bounds what is remembered, should somebody's messages not be constant.
	maxMessages = 1000
)

// Logger returns a logger that drops a message, whatever its fields, within a minute of the last such that it passed on.
func Logger(logger *zap.Logger) *zap.Logger {
	began := time.Now()
	return limited(logger, func() time.Duration { return time.Since(began) })
}

func limited(logger *zap.Logger, elapsed func() time.Duration) *zap.Logger {
	said := &said{at: map[string]time.Duration{}, elapsed: elapsed}
	return logger.WithOptions(zap.WrapCore(func(c zapcore.Core) zapcore.Core { return core{c, said} }))
}

// said is when each message was passed on.
type said struct {
	elapsed func() time.Duration

	mu sync.Mutex
	at map[string]time.Duration
}

func (s *said) lately(message string) bool {
	now := s.elapsed()
	s.mu.Lock()
	defer s.mu.Unlock()
	if at, ok := s.at[message]; ok && now-at < interval {
		return true
	}
	if len(s.at) >= maxMessages {
		clear(s.at)
	}
	s.at[message] = now
	return false
}

type core struct {
	zapcore.Core
	said *said
}

func (c core) With(fields []zapcore.Field) zapcore.Core { return core{c.Core.With(fields), c.said} }

func (c core) Check(entry zapcore.Entry, to *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if !c.Enabled(entry.Level) || c.said.lately(entry.Message) {
		return to
	}
	return c.Core.Check(entry, to)
}
