package retrydelayprocessor

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor/processortest"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pitwall-otel/pitwall/processor/retrydelayprocessor/internal/metadata"
)

// through is what comes back through the processor of each signal when the next consumer answers err.
func through(t *testing.T, err error) []error {
	t.Helper()
	set, config, next := processortest.NewNopSettings(metadata.Type), &Config{Delay: time.Minute}, consumertest.NewErr(err)
	if err == nil {
		next = consumertest.NewNop()
	}
	m, failed := NewFactory().CreateMetrics(t.Context(), set, config, next)
	require.NoError(t, failed)
	tr, failed := NewFactory().CreateTraces(t.Context(), set, config, next)
	require.NoError(t, failed)
	l, failed := NewFactory().CreateLogs(t.Context(), set, config, next)
	require.NoError(t, failed)
	return []error{
		m.ConsumeMetrics(context.Background(), pmetric.NewMetrics()),
		tr.ConsumeTraces(context.Background(), ptrace.NewTraces()),
		l.ConsumeLogs(context.Background(), plog.NewLogs()),
	}
}

func TestRefusalsGetADelay(t *testing.T) {
	cause := errors.New("data refused due to high memory usage")
	for _, err := range through(t, cause) {
		require.ErrorIs(t, err, cause)
		s, ok := status.FromError(err)
		require.True(t, ok)
		assert.Equal(t, codes.Unavailable, s.Code())
		require.Len(t, s.Details(), 1)
		assert.Equal(t, time.Minute, s.Details()[0].(*errdetails.RetryInfo).GetRetryDelay().AsDuration())
	}
}

func TestOtherAnswersAreLeftAlone(t *testing.T) {
	for _, want := range []error{
		nil,
		consumererror.NewPermanent(errors.New("too large")),
		status.Error(codes.InvalidArgument, "no metrics"),
		status.Error(codes.Unavailable, "with a delay of its own"),
	} {
		for _, got := range through(t, want) {
			assert.Equal(t, want, got)
		}
	}
}
