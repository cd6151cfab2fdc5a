package retrydelayprocessor

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"google.golang.org/grpc/status"

	"github.com/pitwall-otel/pitwall/internal/refusal"
)

// retryDelay is what the processors of all signals share.
type retryDelay struct {
	component.StartFunc
	component.ShutdownFunc
	config *Config
}

func (retryDelay) Capabilities() consumer.Capabilities {
	return consumer.Capabilities{MutatesData: false}
}

// delayed leaves alone what is permanent, and errors with a gRPC status: who made one decided what clients are told.
func (r *retryDelay) delayed(err error) error {
	if err == nil || consumererror.IsPermanent(err) {
		return err
	}
	if _, decided := status.FromError(err); decided {
		return err
	}
	return refusal.After(r.config.Delay, err)
}

type metrics struct {
	retryDelay
	next consumer.Metrics
}

func (m *metrics) ConsumeMetrics(ctx context.Context, md pmetric.Metrics) error {
	return m.delayed(m.next.ConsumeMetrics(ctx, md))
}

type traces struct {
	retryDelay
	next consumer.Traces
}

func (t *traces) ConsumeTraces(ctx context.Context, td ptrace.Traces) error {
	return t.delayed(t.next.ConsumeTraces(ctx, td))
}

type logs struct {
	retryDelay
	next consumer.Logs
}

func (l *logs) ConsumeLogs(ctx context.Context, ld plog.Logs) error {
	return l.delayed(l.next.ConsumeLogs(ctx, ld))
}
