package schemaprocessor

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/processorhelper"

	"github.com/pitwall-otel/pitwall/processor/schemaprocessor/internal/metadata"
	"github.com/pitwall-otel/pitwall/schema"
)

// NewFactory returns the factory of the rlschema processor.
func NewFactory() processor.Factory { return newFactory(schema.Load) }

// newFactory takes the registry from load, once per processor, so that tests may have another.
func newFactory(load func() (*schema.Registry, error)) processor.Factory {
	create := func(set processor.Settings, cfg component.Config, s signal) (*schemaProcessor, error) {
		registry, err := load()
		if err != nil {
			return nil, err
		}
		return newProcessor(set, cfg.(*Config), registry, s)
	}
	capabilities := processorhelper.WithCapabilities(consumer.Capabilities{MutatesData: true})
	return processor.NewFactory(metadata.Type, createDefaultConfig,
		processor.WithMetrics(func(ctx context.Context, set processor.Settings, cfg component.Config, next consumer.Metrics) (processor.Metrics, error) {
			p, err := create(set, cfg, metricsSignal)
			if err != nil {
				return nil, err
			}
			return processorhelper.NewMetrics(ctx, set, cfg, next, p.processMetrics, capabilities, processorhelper.WithShutdown(p.shutdown))
		}, metadata.MetricsStability),
		processor.WithTraces(func(ctx context.Context, set processor.Settings, cfg component.Config, next consumer.Traces) (processor.Traces, error) {
			p, err := create(set, cfg, tracesSignal)
			if err != nil {
				return nil, err
			}
			return processorhelper.NewTraces(ctx, set, cfg, next, p.processTraces, capabilities, processorhelper.WithShutdown(p.shutdown))
		}, metadata.TracesStability),
		processor.WithLogs(func(ctx context.Context, set processor.Settings, cfg component.Config, next consumer.Logs) (processor.Logs, error) {
			p, err := create(set, cfg, logsSignal)
			if err != nil {
				return nil, err
			}
			return processorhelper.NewLogs(ctx, set, cfg, next, p.processLogs, capabilities, processorhelper.WithShutdown(p.shutdown))
		}, metadata.LogsStability))
}
