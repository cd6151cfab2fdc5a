package nvmlreceiver

import (
	"context"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/receiver"
	"go.uber.org/zap"
)

// sharing finds the instance that a receiver's pipelines have in common, by their configuration.
type sharing struct {
	open func(*Config, *zap.Logger) source

	mu        sync.Mutex
	instances map[*Config]*instance
}

// handle is the receiver in one pipeline. The instance runs from the first Start to the last Shutdown.
type handle struct {
	*instance
	sharing *sharing
	started bool
	closed  bool
}

// handle returns a part in the instance of a configuration, which is made for the first.
func (s *sharing) handle(cfg *Config, set receiver.Settings) (*handle, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	shared := s.instances[cfg]
	if shared == nil {
		var err error
		if shared, err = newInstance(cfg, set, s.open(cfg, set.Logger)); err != nil {
			return nil, err
		}
		s.instances[cfg] = shared
	}
	shared.handles++
	return &handle{instance: shared, sharing: s}, nil
}

// Start implements component.Component.
func (h *handle) Start(_ context.Context, host component.Host) error {
	h.sharing.mu.Lock()
	defer h.sharing.mu.Unlock()
	h.started = true
	h.status.attach(host)
	if h.running++; h.running == 1 {
		h.start()
	}
	return nil
}

// Shutdown implements component.Component. It may be called without Start.
func (h *handle) Shutdown(ctx context.Context) error {
	h.sharing.mu.Lock()
	defer h.sharing.mu.Unlock()
	if h.closed {
		return nil
	}
	h.closed = true
	if h.handles--; h.handles == 0 {
		delete(h.sharing.instances, h.cfg)
	}
	if !h.started {
		return nil
	}
	if h.running--; h.running == 0 {
		return h.stop(ctx)
	}
	return nil
}
