package quarantineconnector

import (
	"context"
	"fmt"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/connector"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pipeline"

	"github.com/pitwall-otel/pitwall/connector/quarantineconnector/internal/metadata"
)

// NewFactory returns the factory of the quarantine connector.
func NewFactory() connector.Factory {
	return connector.NewFactory(metadata.Type, createDefaultConfig,
		connector.WithMetricsToMetrics(createMetrics, metadata.MetricsToMetricsStability),
		connector.WithTracesToTraces(createTraces, metadata.TracesToTracesStability),
		connector.WithLogsToLogs(createLogs, metadata.LogsToLogsStability))
}

func createDefaultConfig() component.Config { return &Config{} }

func createMetrics(_ context.Context, _ connector.Settings, cfg component.Config, next consumer.Metrics) (connector.Metrics, error) {
	c := &metricsConnector{}
	var err error
	c.main, c.quarantine, err = consumers(cfg.(*Config), pipeline.SignalMetrics, next)
	return c, err
}

func createTraces(_ context.Context, _ connector.Settings, cfg component.Config, next consumer.Traces) (connector.Traces, error) {
	c := &tracesConnector{}
	var err error
	c.main, c.quarantine, err = consumers(cfg.(*Config), pipeline.SignalTraces, next)
	return c, err
}

func createLogs(_ context.Context, _ connector.Settings, cfg component.Config, next consumer.Logs) (connector.Logs, error) {
	c := &logsConnector{}
	var err error
	c.main, c.quarantine, err = consumers(cfg.(*Config), pipeline.SignalLogs, next)
	return c, err
}

// router is what the collector hands a connector: its pipelines, and consumers for a choice of them.
type router[C any] interface {
	PipelineIDs() []pipeline.ID
	Consumer(ids ...pipeline.ID) (C, error)
}

func consumers[C any](c *Config, signal pipeline.Signal, next C) (main, quarantine C, err error) {
	r, ok := any(next).(router[C])
	if !ok {
		return main, quarantine, fmt.Errorf("the collector gave a %T, which does not name its pipelines", next)
	}
	mainIDs, quarantineIDs, err := c.sides(signal, r.PipelineIDs())
	if err != nil {
		return main, quarantine, err
	}
	if main, err = r.Consumer(mainIDs...); err != nil {
		return main, quarantine, fmt.Errorf("pipelines %v: %w", mainIDs, err)
	}
	if quarantine, err = r.Consumer(quarantineIDs...); err != nil {
		return main, quarantine, fmt.Errorf("'quarantine' %v: %w", quarantineIDs, err)
	}
	return main, quarantine, nil
}
