package metricpointsexporter

import (
	"context"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/confighttp"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exporterhelper"

	"github.com/pitwall-otel/pitwall/exporter/metricpointsexporter/internal/metadata"
	"github.com/pitwall-otel/pitwall/exporter/metricpointsexporter/internal/points"
	"github.com/pitwall-otel/pitwall/internal/seldom"
)

// NewFactory returns the factory of the metricpoints exporter.
func NewFactory() exporter.Factory {
	return exporter.NewFactory(metadata.Type, createDefaultConfig,
		exporter.WithMetrics(createMetrics, metadata.MetricsStability))
}

func createDefaultConfig() component.Config {
	client := confighttp.NewDefaultClientConfig()
	client.Timeout = 30 * time.Second
	client.Compression = "lz4"
	return &Config{
		ClientConfig: client,
		Database:     "training_observability",
		Table:        "metric_points",
		CreateSchema: true,
		ResourceTags: []string{
			"rl.role", "rl.worker.group", "rl.replica.id", "rl.run.attempt",
			"service.name", "service.instance.id", "deployment.environment.name",
		},
		TimePolicy:     points.TimeKeep,
		Limits:         LimitsConfig{NameBytes: 1 << 10, AttributeBytes: 16 << 10, TagsBytes: 64 << 10},
		Insert:         InsertConfig{Rows: 50_000, Interval: time.Second, InFlight: 2},
		Log:            LogConfig{MaxSizeMiB: 8 << 10, MinFreeMiB: 512},
		Retry:          RetryConfig{InitialInterval: 500 * time.Millisecond, MaxInterval: 5 * time.Second},
		DeadLetter:     DeadLetterConfig{MaxSizeMiB: 1 << 10},
		BatchIDs:       BatchIDsConfig{Window: time.Hour, MaxEntries: 1_000_000},
		Cumulative:     CumulativeConfig{MaxSizeMiB: 16, MaxStaleness: 24 * time.Hour},
		LedgerInterval: 10 * time.Second,
	}
}

func createMetrics(ctx context.Context, set exporter.Settings, cfg component.Config) (exporter.Metrics, error) {
	config := cfg.(*Config)
	e, err := newMetricPoints(set, config)
	if err != nil {
		return nil, err
	}
	// The helper logs every refused request, and while the log is full all are: a line a minute says as much.
	set.Logger = seldom.Logger(set.Logger)
	// Neither queue, retry nor timeout of the helper: the log is all three.
	return exporterhelper.NewMetrics(ctx, set, config, e.consume,
		exporterhelper.WithCapabilities(consumer.Capabilities{MutatesData: true}),
		exporterhelper.WithTimeout(exporterhelper.TimeoutConfig{Timeout: 0}),
		exporterhelper.WithStart(e.start),
		exporterhelper.WithShutdown(e.shutdown))
}
