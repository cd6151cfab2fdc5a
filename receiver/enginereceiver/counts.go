package enginereceiver

import (
	"context"
	"strings"

	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/metadata"
	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/targets"
)

// counts are what the receiver says about itself, in the collector's telemetry and log.
type counts struct {
	telemetry *metadata.TelemetryBuilder
	id        attribute.KeyValue
	troubles  *troubles
}

func newCounts(set receiver.Settings) (*counts, error) {
	telemetry, err := metadata.NewTelemetryBuilder(set.TelemetrySettings)
	if err != nil {
		return nil, err
	}
	return &counts{telemetry: telemetry, id: attribute.String("receiver", set.ID.String()), troubles: newTroubles(set.Logger)}, nil
}

func (c *counts) shutdown() {
	c.troubles.flush()
	c.telemetry.Shutdown()
}

func (c *counts) with(key, value string) metric.MeasurementOption {
	return metric.WithAttributes(c.id, attribute.String(key, value))
}

func (c *counts) discoveryFailed(kind string, err error) {
	c.telemetry.EngineDiscoveryFailures.Add(context.Background(), 1, c.with("source", kind))
	c.troubles.add("find targets: " + strings.ReplaceAll(err.Error(), "\n", "; "))
}

func (c *counts) targets(ctx context.Context, all []targets.Target, leftOut int) {
	bySource := map[string]int64{"static": 0, "file": 0, "dns": 0, "router": 0, "registration": 0}
	for i := range all {
		bySource[all[i].Source]++
	}
	for source, n := range bySource {
		c.telemetry.EngineTargets.Record(ctx, n, c.with("source", source))
	}
	c.telemetry.EngineTargetsLeftOut.Record(ctx, int64(leftOut), metric.WithAttributes(c.id))
	if leftOut > 0 {
		c.troubles.add("more targets than 'targets::max'")
	}
}
