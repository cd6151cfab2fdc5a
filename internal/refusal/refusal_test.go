package refusal

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func TestAfter(t *testing.T) {
	cause := errors.New("no room")
	err := fmt.Errorf("on the way up: %w", After(90*time.Second, cause))
	require.ErrorIs(t, err, cause)
	assert.EqualError(t, err, "on the way up: no room")
	s, ok := status.FromError(err)
	require.True(t, ok)
	assert.Equal(t, codes.Unavailable, s.Code())
	require.Len(t, s.Details(), 1)
	assert.Equal(t, 90*time.Second, s.Details()[0].(*errdetails.RetryInfo).GetRetryDelay().AsDuration())
}
