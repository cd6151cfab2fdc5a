package quarantineconnector

import (
	"context"
	"errors"

	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

type metricsConnector struct {
	base
	main, quarantine consumer.Metrics
}

func (c *metricsConnector) ConsumeMetrics(ctx context.Context, data pmetric.Metrics) error {
	all := data.ResourceMetrics()
	switch countQuarantined(all) {
	case 0:
		return c.main.ConsumeMetrics(ctx, data)
	case all.Len():
		return c.quarantine.ConsumeMetrics(ctx, data)
	}
	quarantined := pmetric.NewMetrics()
	copyQuarantined(all, quarantined.ResourceMetrics())
	return quarantineFirst(func() error {
		err := c.quarantine.ConsumeMetrics(ctx, quarantined)
		// A sender inside the collector would go on with the part that failed, and forget the good data.
		if part := (consumererror.Metrics{}); errors.As(err, &part) {
			return consumererror.NewMetrics(err, data)
		}
		return err
	}, func() error {
		all.RemoveIf(isQuarantined)
		return c.main.ConsumeMetrics(ctx, data)
	})
}
