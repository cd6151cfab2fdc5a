package retrydelayprocessor

import (
	"context"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/processor"

	"github.com/pitwall-otel/pitwall/processor/retrydelayprocessor/internal/metadata"
)

// NewFactory returns the factory of the retry_delay processor.
func NewFactory() processor.Factory {
	return processor.NewFactory(metadata.Type, createDefaultConfig,
		processor.WithMetrics(createMetrics, metadata.MetricsStability),
		processor.WithTraces(createTraces, metadata.TracesStability),
		processor.WithLogs(createLogs, metadata.LogsStability))
}

func createDefaultConfig() component.Config { return &Config{Delay: 5 * time.Second} }

func createMetrics(_ context.Context, _ processor.Settings, cfg component.Config, next consumer.Metrics) (processor.Metrics, error) {
	return &metrics{retryDelay: retryDelay{config: cfg.(*Config)}, next: next}, nil
}

func createTraces(_ context.Context, _ processor.Settings, cfg component.Config, next consumer.Traces) (processor.Traces, error) {
	return &traces{retryDelay: retryDelay{config: cfg.(*Config)}, next: next}, nil
}

func createLogs(_ context.Context, _ processor.Settings, cfg component.Config, next consumer.Logs) (processor.Logs, error) {
	return &logs{retryDelay: retryDelay{config: cfg.(*Config)}, next: next}, nil
}
