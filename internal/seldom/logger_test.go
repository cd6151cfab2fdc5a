package seldom

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

func TestLogger_EachMessageOnceAMinute(t *testing.T) {
	core, lines := observer.New(zap.InfoLevel)
	var elapsed time.Duration
	logger := limited(zap.New(core), func() time.Duration { return elapsed })
	for elapsed = 0; elapsed < 3*time.Minute; elapsed += time.Second {
		logger.Warn("full", zap.Duration("field", elapsed))
		logger.With(zap.String("more", "fields")).Warn("full")
		logger.Debug("full")
		if elapsed%(20*time.Second) == 0 {
			logger.Info("another")
		}
	}
	said := map[string][]any{}
	for _, line := range lines.All() {
		said[line.Message] = append(said[line.Message], line.ContextMap()["field"])
	}
	assert.Equal(t, []any{time.Duration(0), time.Minute, 2 * time.Minute}, said["full"])
	assert.Len(t, said["another"], 3)
}

// A message that is below the level is not said, so it silences none that is above.
func TestLogger_LevelsComeFirst(t *testing.T) {
	core, lines := observer.New(zap.WarnLevel)
	logger := Logger(zap.New(core))
	logger.Info("the same words")
	logger.Warn("the same words")
	assert.Equal(t, 1, lines.Len())
}

func TestLogger_MessagesThatAreNotConstant(t *testing.T) {
	s := &said{at: map[string]time.Duration{}, elapsed: func() time.Duration { return 0 }}
	for n := range 5 * maxMessages {
		assert.False(t, s.lately(fmt.Sprint(n)))
		assert.LessOrEqual(t, len(s.at), maxMessages)
	}
}
