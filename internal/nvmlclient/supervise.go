package nvmlclient

import (
	"context"
	"slices"
	"time"

	"github.com/cenkalti/backoff/v5"
	"go.uber.org/zap"

	"github.com/pitwall-otel/pitwall/internal/nvml"
)

// end is how a run of the helper ended.
type end struct {
	why   string
	again bool  // it asked to be started again
	stuck error // it is still there
}

// supervise runs the helper until ctx is done. It returns an error when the last one cannot be ended.
func (c *Client) supervise(ctx context.Context) error {
	wait := &backoff.ExponentialBackOff{
		InitialInterval:     c.pace.firstRetry,
		MaxInterval:         c.pace.longestRetry,
		Multiplier:          2,
		RandomizationFactor: 0.25,
	}
	for {
		started := time.Now()
		end := c.run(ctx)
		if ctx.Err() != nil {
			return end.stuck
		}
		if time.Since(started) > c.pace.healthy {
			wait.Reset()
		}
		pause := wait.NextBackOff()
		retries := c.ended(end)
		switch {
		case retries:
			c.logger.Debug("The GPU helper tries the driver again", zap.Duration("after", pause))
		case end.again:
			c.logger.Info("The GPU helper asks to be started again", zap.String("reason", end.why), zap.Duration("after", pause))
		default:
			c.logger.Warn("The GPU helper does not run; starting it again", zap.String("reason", end.why), zap.Duration("after", pause))
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil
		}
		c.mu.Lock()
		c.restarts++
		c.mu.Unlock()
	}
}

// run starts the helper and waits for its end, or ends it when ctx is done.
func (c *Client) run(ctx context.Context) end {
	h, err := c.start()
	if err != nil {
		return end{why: err.Error()}
	}
	c.mu.Lock()
	c.helper = h
	before, news := c.down, c.restarts > 0 && !c.retries(c.down)
	c.mu.Unlock()
	if news {
		c.emit(nvml.Event{
			Kind: nvml.EventHelperStarted, Time: time.Now(), Key: nvml.Key{Index: -1, MIG: -1},
			GPUInstance: -1, ComputeInstance: -1, Text: before.why,
		})
	}
	select {
	case <-h.gone:
		return h.exit()
	case <-ctx.Done():
		return end{stuck: h.stop(c.pace)}
	}
}

func (c *Client) start() (*helper, error) {
	program, err := findHelper(c.options.HelperPath)
	if err != nil {
		return nil, err
	}
	args := slices.Clone(c.args)
	if c.options.LibraryPath != "" {
		args = append(args, "-library="+c.options.LibraryPath)
	}
	log := func(line string) { c.logger.Warn(line, zap.String("process", helperName)) }
	return startHelper(program, args, log, c.emit)
}

// ended notes that no helper runs, and says whether that is only to try the driver again.
func (c *Client) ended(e end) (retries bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.helper = nil
	if c.down.why == "" {
		c.since = time.Now()
	}
	c.down = e
	return c.retries(e)
}
