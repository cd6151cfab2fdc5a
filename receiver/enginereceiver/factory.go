package enginereceiver

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/receiver"

	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/metadata"
)

// NewFactory returns the factory of the engine receiver.
func NewFactory() receiver.Factory {
	return receiver.NewFactory(metadata.Type, createDefaultConfig,
		receiver.WithMetrics(func(_ context.Context, set receiver.Settings, cfg component.Config, next consumer.Metrics) (receiver.Metrics, error) {
			return newReceiver(set, cfg.(*Config), next)
		}, metadata.MetricsStability))
}
