package nvmlreceiver

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/scraper"
	"go.opentelemetry.io/collector/scraper/scraperhelper"
	"go.uber.org/zap"

	"github.com/pitwall-otel/pitwall/receiver/nvmlreceiver/internal/metadata"
)

// NewFactory returns the factory of the nvml receiver.
func NewFactory() receiver.Factory { return newFactory(openClient) }

// newFactory takes the driver from open, so that tests may have another.
func newFactory(open func(*Config, *zap.Logger) source) receiver.Factory {
	s := &sharing{open: open, instances: map[*Config]*instance{}}
	return receiver.NewFactory(metadata.Type, createDefaultConfig,
		receiver.WithMetrics(func(_ context.Context, set receiver.Settings, cfg component.Config, next consumer.Metrics) (receiver.Metrics, error) {
			h, err := s.handle(cfg.(*Config), set)
			if err != nil {
				return nil, err
			}
			h.driven = true
			sc, err := scraper.NewMetrics(h.collect, scraper.WithStart(h.Start), scraper.WithShutdown(h.Shutdown))
			if err != nil {
				return nil, err
			}
			return scraperhelper.NewMetricsController(&cfg.(*Config).ControllerConfig, set, next,
				scraperhelper.AddMetricsScraper(metadata.Type, sc))
		}, metadata.MetricsStability),
		receiver.WithLogs(func(_ context.Context, set receiver.Settings, cfg component.Config, next consumer.Logs) (receiver.Logs, error) {
			h, err := s.handle(cfg.(*Config), set)
			if err != nil {
				return nil, err
			}
			h.next = next
			return h, nil
		}, metadata.LogsStability))
}
