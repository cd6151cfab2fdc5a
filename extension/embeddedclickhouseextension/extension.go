package embeddedclickhouseextension

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.uber.org/zap"
)

// embedded is the extension: the owner of the goroutine that keeps the helper running.
type embedded struct {
	cfg    *Config
	logger *zap.Logger
	pace   pace

	program string
	pinger  pinger
	health  health

	cancel context.CancelFunc // ends the supervision and asks the helper to stop
	kill   context.CancelFunc // ends the patience with a helper that is stopping
	done   chan struct{}
}

func newEmbedded(cfg *Config, logger *zap.Logger) *embedded {
	// The collector's logger adds stack traces to errors; ours are about another process.
	logger = logger.WithOptions(zap.AddStacktrace(zap.DPanicLevel))
	return &embedded{cfg: cfg, logger: logger, pace: defaultPace(), pinger: newPinger(cfg)}
}

// Start starts the helper and waits for its first answer, so that exporters starting next find it. It returns an error
// for a configuration that cannot work; an engine that is slow or dies is the business of the goroutine it leaves.
func (e *embedded) Start(ctx context.Context, host component.Host) error {
	var err error
	if e.program, err = findHelper(e.cfg.HelperPath); err != nil {
		return err
	}
	if err := checkFiles(e.cfg, e.logger); err != nil {
		return err
	}
	if host, _ := checkAddress(e.cfg.ListenAddress); !isLoopback(host) && !e.cfg.usesTLS() {
		e.logger.Warn("The embedded ClickHouse can be reached from other machines without TLS: passwords travel in clear",
			zap.String("listen_address", e.cfg.ListenAddress))
	}

	e.health.host = host
	running, cancel := context.WithCancel(context.Background())
	patience, kill := context.WithCancel(context.Background())
	e.cancel, e.kill, e.done = cancel, kill, make(chan struct{})
	settled, startOver := make(chan error), make(chan struct{})
	defer close(startOver)
	go func() {
		defer close(e.done)
		e.supervise(running, patience, func(err error) (heard bool) {
			select {
			case settled <- err:
				return true
			case <-startOver:
				return false
			case <-running.Done():
				return false
			}
		})
	}()

	timer := time.NewTimer(e.cfg.StartTimeout)
	defer timer.Stop()
	select {
	case err := <-settled:
		if err != nil {
			e.stop(ctx)
			return fmt.Errorf("the embedded ClickHouse cannot start: %w", err)
		}
		if e.cfg.CreateSchema {
			e.createSchema(ctx)
		}
		return nil
	case <-timer.C:
		late := fmt.Errorf("no answer from %s within start_timeout (%s)", e.pinger.url, e.cfg.StartTimeout)
		e.health.failingUnlessReported(late)
		e.logger.Warn("Going on without the embedded ClickHouse until it answers", zap.Error(late))
		return nil
	case <-ctx.Done():
		e.stop(ctx)
		return ctx.Err()
	}
}

// Shutdown stops the helper: it may take stop_timeout to close its tables, less when ctx ends before.
func (e *embedded) Shutdown(ctx context.Context) error {
	if e.done != nil {
		e.stop(ctx)
	}
	return nil
}

func (e *embedded) stop(ctx context.Context) {
	e.cancel()
	select {
	case <-e.done:
	case <-ctx.Done():
	}
	e.kill()
	<-e.done
}
