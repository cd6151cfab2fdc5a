package quarantineconnector

import (
	"errors"
	"fmt"
	"slices"

	"go.opentelemetry.io/collector/pipeline"
)

// Config is the connector's configuration.
type Config struct {
	// Quarantine are the pipelines for marked resources. One connector may serve several signals: list each signal's.
	Quarantine []pipeline.ID `mapstructure:"quarantine"`
}

var errNoPipeline = errors.New("'quarantine' must list the pipelines for quarantined data, such as metrics/quarantine")

// Validate reports an empty list and pipelines listed twice, which would get everything twice.
func (c *Config) Validate() error {
	if len(c.Quarantine) == 0 {
		return errNoPipeline
	}
	var errs []error
	for i, id := range c.Quarantine {
		if slices.Contains(c.Quarantine[:i], id) {
			errs = append(errs, fmt.Errorf("'quarantine' lists %q twice", id))
		}
	}
	return errors.Join(errs...)
}

// sides divides the pipelines that the connector exports to into those for good data and those for quarantined data.
func (c *Config) sides(signal pipeline.Signal, exportsTo []pipeline.ID) (main, quarantine []pipeline.ID, err error) {
	for _, id := range c.Quarantine {
		if id.Signal() != signal {
			continue
		}
		if !slices.Contains(exportsTo, id) {
			return nil, nil, fmt.Errorf("'quarantine' lists %q, which does not have this connector as a receiver", id)
		}
		quarantine = append(quarantine, id)
	}
	for _, id := range exportsTo {
		if !slices.Contains(quarantine, id) {
			main = append(main, id)
		}
	}
	if len(quarantine) == 0 {
		return nil, nil, fmt.Errorf("'quarantine' lists no %s pipeline", signal)
	}
	if len(main) == 0 {
		return nil, nil, fmt.Errorf("'quarantine' lists every %s pipeline; one must be left for good data", signal)
	}
	return main, quarantine, nil
}
