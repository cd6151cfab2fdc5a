package quarantineconnector

import (
	"context"
	"errors"

	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/plog"
)

type logsConnector struct {
	base
	main, quarantine consumer.Logs
}

func (c *logsConnector) ConsumeLogs(ctx context.Context, data plog.Logs) error {
	all := data.ResourceLogs()
	switch countQuarantined(all) {
	case 0:
		return c.main.ConsumeLogs(ctx, data)
	case all.Len():
		return c.quarantine.ConsumeLogs(ctx, data)
	}
	quarantined := plog.NewLogs()
	copyQuarantined(all, quarantined.ResourceLogs())
	return quarantineFirst(func() error {
		err := c.quarantine.ConsumeLogs(ctx, quarantined)
		// A sender inside the collector would go on with the part that failed, and forget the good data.
		if part := (consumererror.Logs{}); errors.As(err, &part) {
			return consumererror.NewLogs(err, data)
		}
		return err
	}, func() error {
		all.RemoveIf(isQuarantined)
		return c.main.ConsumeLogs(ctx, data)
	})
}
