package embeddedclickhouseextension

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cenkalti/backoff/v5"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// The helper's exit codes that mean something to its supervisor.
const (
	exitConfiguration = 2 // wrong flags, no library, unreadable files: trying again is of no use
	exitOwned         = 3 // another process owns the data directory
)

// pace is the supervisor's timing.
type pace struct {
	firstRetry, longestRetry time.Duration // the exponential backoff between two runs
	healthy                  time.Duration // a run that answered for so long starts the backoff anew
	busyRetry, busyFor       time.Duration // after a collector was killed its helper needs a moment to close
	pingStarting             time.Duration // until the first answer
	pingRunning              time.Duration // after it
}

func defaultPace() pace {
	return pace{
		firstRetry:   time.Second,
		longestRetry: 30 * time.Second,
		healthy:      time.Minute,
		busyRetry:    500 * time.Millisecond,
		busyFor:      30 * time.Second,
		pingStarting: 50 * time.Millisecond,
		pingRunning:  5 * time.Second,
	}
}

// silentPings is how many unanswered pings in a row make the status of a running helper an error.
const silentPings = 3

// ending is how a run of the helper ended.
type ending struct {
	err      error
	fatal    bool          // a wrong configuration
	busy     bool          // another process still holds the data directory or the address
	answered time.Duration // from the first answer to the end
}

// supervise runs the helper until ctx is done. settle tells Start the first outcome: nil for an answer, an error for a
// wrong configuration; it says whether Start still listened.
func (e *embedded) supervise(ctx, patience context.Context, settle func(error) (heard bool)) {
	wait := &backoff.ExponentialBackOff{
		InitialInterval:     e.pace.firstRetry,
		MaxInterval:         e.pace.longestRetry,
		Multiplier:          2,
		RandomizationFactor: 0.25,
	}
	var busySince time.Time
	for {
		end := e.run(ctx, patience, !busySince.IsZero(), func() { settle(nil) })
		if ctx.Err() != nil {
			return
		}
		if end.fatal {
			if !settle(end.err) {
				e.health.failed(end.err)
				e.logger.Error("The embedded ClickHouse cannot run with this configuration", zap.Error(end.err))
			}
			return
		}
		if end.answered >= e.pace.healthy {
			wait.Reset()
		}
		if end.answered > 0 {
			busySince = time.Time{}
		}
		e.health.failing(end.err)

		var pause time.Duration
		switch {
		case !end.busy:
			busySince = time.Time{}
			pause = wait.NextBackOff()
			e.logger.Error("The embedded ClickHouse ended; starting it again", zap.Error(end.err), zap.Duration("after", pause))
		case busySince.IsZero():
			busySince = time.Now()
			pause = e.pace.busyRetry
			e.logger.Warn("Waiting for another process to let go of the embedded ClickHouse's data directory or address",
				zap.Error(end.err))
		case time.Since(busySince) < e.pace.busyFor:
			pause = e.pace.busyRetry
		default:
			pause = wait.NextBackOff()
			e.logger.Error("Another process keeps the embedded ClickHouse's data directory or address",
				zap.Error(end.err), zap.Duration("next_try_after", pause))
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
	}
}

// run starts the helper, watches it until it ends, and stops it when ctx is done. The log lines of a quiet run go to
// the debug level until it answers: the same words every half second help nobody.
func (e *embedded) run(ctx, patience context.Context, quiet bool, ready func()) ending {
	if err := addressFree(ctx, e.cfg.ListenAddress); err != nil {
		return ending{err: err, busy: errors.Is(err, syscall.EADDRINUSE)}
	}
	userFile, readerFile, removeSecrets, err := passwordFiles(e.cfg)
	if err != nil {
		return ending{err: fmt.Errorf("password: cannot be passed to %s: %w", helperName, err)}
	}
	defer removeSecrets()

	var hushed atomic.Bool
	hushed.Store(quiet)
	lines := &lineWriter{emit: func(line string) {
		level := zapcore.InfoLevel
		if hushed.Load() {
			level = zapcore.DebugLevel
		}
		e.logger.Log(level, line, zap.String("process", helperName))
	}}
	helper, err := startChild(patience, e.program, arguments(e.cfg, userFile, readerFile), lines)
	if err != nil {
		return ending{err: fmt.Errorf("helper_path: %w", err)}
	}

	answering := e.watch(ctx, helper, func() {
		removeSecrets() // it has read them
		hushed.Store(false)
		e.logger.Info("The embedded ClickHouse answers", zap.String("address", e.cfg.ListenAddress),
			zap.String("data_directory", e.cfg.DataDirectory), zap.Int("pid", helper.pid()))
		ready()
	})
	if ctx.Err() != nil && helper.stop(e.cfg.StopTimeout) {
		e.logger.Warn("The embedded ClickHouse did not stop in time and was killed", zap.Duration("stop_timeout", e.cfg.StopTimeout))
	}

	code, err := helper.exit()
	end := ending{err: err, fatal: code == exitConfiguration && answering.IsZero(), busy: code == exitOwned}
	if !answering.IsZero() {
		end.answered = time.Since(answering)
	}
	return end
}

// watch pings the helper until it is gone or ctx is done, and keeps the status. It returns when the helper first
// answered, or the zero time.
func (e *embedded) watch(ctx context.Context, helper *child, ready func()) (since time.Time) {
	silent := 0
	pause := e.pace.pingStarting
	for {
		select {
		case <-helper.gone:
			return since
		case <-ctx.Done():
			return since
		case <-time.After(pause):
		}
		err := e.pinger.ping(ctx)
		switch {
		case ctx.Err() != nil:
			return since
		case err != nil && since.IsZero():
		case err != nil:
			if silent++; silent == silentPings {
				e.health.failing(fmt.Errorf("%s runs but does not answer: %w", helperName, err))
				e.logger.Error("The embedded ClickHouse runs but does not answer", zap.Error(err))
			}
		case since.IsZero():
			since, pause = time.Now(), e.pace.pingRunning
			e.health.ok()
			ready()
		default:
			if silent >= silentPings {
				e.health.ok()
				e.logger.Info("The embedded ClickHouse answers again")
			}
			silent = 0
		}
	}
}
