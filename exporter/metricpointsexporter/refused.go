package metricpointsexporter

import (
	"errors"
	"time"

	"go.opentelemetry.io/collector/consumer/consumererror"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/pitwall-otel/pitwall/internal/wal"
)

// retryDelay is what a client is told to wait when the log takes nothing.
const retryDelay = 5 * time.Second

// refusal is a retryable error with a delay. The OTLP receiver answers with the gRPC status of an error that has one:
// UNAVAILABLE with RetryInfo over gRPC, 503 with Retry-After over HTTP.
type refusal struct{ cause error }

func refused(cause error) error {
	if errors.Is(cause, wal.ErrTooLarge) {
		return consumererror.NewPermanent(cause)
	}
	return refusal{cause: cause}
}

func (r refusal) Error() string { return "points not accepted: " + r.cause.Error() }

func (r refusal) Unwrap() error { return r.cause }

// GRPCStatus is what google.golang.org/grpc/status looks for.
func (r refusal) GRPCStatus() *status.Status {
	s := status.New(codes.Unavailable, r.Error())
	if detailed, err := s.WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(retryDelay)}); err == nil {
		return detailed
	}
	return s
}
