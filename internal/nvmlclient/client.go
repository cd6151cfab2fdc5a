package nvmlclient

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/pitwall-otel/pitwall/internal/nvml"
)

// Options says which helper to run and how.
type Options struct {
	HelperPath  string // of pitwall-nvml; empty for the one beside the running executable
	LibraryPath string // of libnvidia-ml.so.1; empty for the one the system's loader finds
	Logger      *zap.Logger
}

// Client asks a helper of its own. Its methods may be called from several goroutines; one collection is made at a time.
type Client struct {
	options Options
	pace    pace
	args    []string // further ones of the helper
	logger  *zap.Logger

	asking  chan struct{} // held by the collection that is under way
	tracker tracker       // used by it alone
	silent  int           // likewise: requests in a row without any answer
	nextID  uint64        // likewise

	events  chan nvml.Event
	dropped atomic.Uint64

	mu       sync.Mutex
	helper   *helper // nil while none runs
	down     end     // why none runs, until one answers
	last     answered
	since    time.Time
	restarts int

	cancel context.CancelFunc
	done   chan struct{}
	ending error // read after done
}

// pace is the client's timing.
type pace struct {
	firstRetry, longestRetry time.Duration // the exponential backoff between two runs of the helper
	healthy                  time.Duration // a run that lasted so long starts the backoff anew
	initPatience             time.Duration // a driver that initialises for longer is said to hang
	initGivesUp              time.Duration // and for longer makes the helper start anew
	stop, kill               time.Duration // how long the helper may take to end when asked, and when killed
}

func defaultPace() pace {
	return pace{
		firstRetry:   time.Second,
		longestRetry: 30 * time.Second,
		healthy:      time.Minute,
		initPatience: 30 * time.Second,
		initGivesUp:  10 * time.Minute,
		stop:         2 * time.Second,
		kill:         3 * time.Second,
	}
}

// maxEvents is how many events wait to be taken; what comes beyond is dropped and counted.
const maxEvents = 1024

// New makes a client that is not started.
func New(options Options) *Client {
	return &Client{
		options: options,
		pace:    defaultPace(),
		// The collector's logger adds stack traces to errors; ours are about another process.
		logger: options.Logger.WithOptions(zap.AddStacktrace(zap.DPanicLevel)),
		asking: make(chan struct{}, 1),
		events: make(chan nvml.Event, maxEvents),
	}
}

// Start begins to run the helper. A helper that is missing or ends is told by the snapshots' status, not here.
func (c *Client) Start() {
	ctx, cancel := context.WithCancel(context.Background())
	c.cancel, c.done, c.since = cancel, make(chan struct{}), time.Now()
	go func() {
		defer close(c.done)
		c.ending = c.supervise(ctx)
	}()
}

// Events returns the channel of events. It is closed by Shutdown.
func (c *Client) Events() <-chan nvml.Event { return c.events }

// DroppedEvents counts the events that nobody took in time.
func (c *Client) DroppedEvents() uint64 { return c.dropped.Load() }

// emit hands an event on, unless too many wait.
func (c *Client) emit(e nvml.Event) {
	select {
	case c.events <- e:
	default:
		c.dropped.Add(1)
	}
}

// Shutdown ends the helper and waits for it. It returns an error when the kernel does not let the helper end, and when
// ctx ends before. Nothing may be called after it.
func (c *Client) Shutdown(ctx context.Context) error {
	if c.cancel == nil {
		return nil
	}
	c.cancel()
	select {
	case <-c.done:
	case <-ctx.Done():
		return ctx.Err()
	}
	c.asking <- struct{}{} // the last collection has ended: nobody sends events any more
	close(c.events)
	return c.ending
}
