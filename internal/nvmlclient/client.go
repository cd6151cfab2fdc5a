package nvmlclient

import (
	"context"

	"go.uber.org/zap"

	"github.com/pitwall-otel/pitwall/internal/nvml"
)

// Options says which helper to run and how.
type Options struct {
	HelperPath  string // of pitwall-nvml; empty for the one beside the running executable
	LibraryPath string // of libnvidia-ml.so.1; empty for the one the system's loader finds
	Logger      *zap.Logger
}

// Client asks a helper of its own. Its methods may be called from several goroutines.
type Client struct {
	options Options
	events  chan nvml.Event
}

// New makes a client that is not started.
func New(options Options) *Client {
	return &Client{options: options, events: make(chan nvml.Event, maxEvents)}
}

// maxEvents is how many events wait to be taken; what comes beyond is dropped and counted.
const maxEvents = 1024

// Start begins to run the helper. A helper that is missing or ends is told by the snapshots' status, not here.
func (*Client) Start() {}

// Collect returns what the driver tells by the request's deadline, or by the end of ctx.
func (*Client) Collect(context.Context, nvml.Request) nvml.Snapshot {
	return nvml.Snapshot{Status: nvml.StatusStarting}
}

// Events returns the channel of events. It is closed by Shutdown.
func (c *Client) Events() <-chan nvml.Event { return c.events }

// DroppedEvents counts the events that nobody took in time.
func (*Client) DroppedEvents() uint64 { return 0 }

// Shutdown ends the helper and waits for it, as long as ctx allows.
func (*Client) Shutdown(context.Context) error { return nil }
