package quarantineconnector

import (
	"context"
	"errors"

	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

type tracesConnector struct {
	base
	main, quarantine consumer.Traces
}

func (c *tracesConnector) ConsumeTraces(ctx context.Context, data ptrace.Traces) error {
	all := data.ResourceSpans()
	switch countQuarantined(all) {
	case 0:
		return c.main.ConsumeTraces(ctx, data)
	case all.Len():
		return c.quarantine.ConsumeTraces(ctx, data)
	}
	quarantined := ptrace.NewTraces()
	copyQuarantined(all, quarantined.ResourceSpans())
	return quarantineFirst(func() error {
		err := c.quarantine.ConsumeTraces(ctx, quarantined)
		// A sender inside the collector would go on with the part that failed, and forget the good data.
		if part := (consumererror.Traces{}); errors.As(err, &part) {
			return consumererror.NewTraces(err, data)
		}
		return err
	}, func() error {
		all.RemoveIf(isQuarantined)
		return c.main.ConsumeTraces(ctx, data)
	})
}
