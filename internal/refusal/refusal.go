package refusal

import (
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
)

// After is a retryable error with the message and the cause, and how long the client should wait.
func After(delay time.Duration, cause error) error { return refusal{cause: cause, delay: delay} }

type refusal struct {
	cause error
	delay time.Duration
}

func (r refusal) Error() string { return r.cause.Error() }

func (r refusal) Unwrap() error { return r.cause }

// GRPCStatus is what google.golang.org/grpc/status looks for.
func (r refusal) GRPCStatus() *status.Status {
	s := status.New(codes.Unavailable, r.Error())
	if detailed, err := s.WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(r.delay)}); err == nil {
		return detailed
	}
	return s
}
