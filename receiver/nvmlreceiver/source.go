package nvmlreceiver

import (
	"context"

	"go.uber.org/zap"

	"github.com/pitwall-otel/pitwall/internal/nvml"
	"github.com/pitwall-otel/pitwall/internal/nvmlclient"
)

// source is the driver as the receiver sees it: internal/nvmlclient, or a script in tests.
type source interface {
	Start()
	Collect(ctx context.Context, request nvml.Request) nvml.Snapshot
	// Events is closed by Shutdown.
	Events() <-chan nvml.Event
	// DroppedEvents counts the events that nobody took in time.
	DroppedEvents() uint64
	Shutdown(ctx context.Context) error
}

func openClient(cfg *Config, logger *zap.Logger) source {
	return nvmlclient.New(nvmlclient.Options{HelperPath: cfg.HelperPath, LibraryPath: cfg.LibraryPath, Logger: logger})
}
