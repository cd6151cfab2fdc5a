package retrydelayprocessor

import (
	"errors"
	"time"
)

// Config is the processor's configuration.
type Config struct {
	// Delay is what clients are told to wait. The OTLP receiver tells HTTP clients whole seconds.
	Delay time.Duration `mapstructure:"delay"`
}

var errDelay = errors.New("'delay' must be between 1s and 10m")

// Validate reports a delay that clients could not follow.
func (c *Config) Validate() error {
	if c.Delay < time.Second || c.Delay > 10*time.Minute {
		return errDelay
	}
	return nil
}
