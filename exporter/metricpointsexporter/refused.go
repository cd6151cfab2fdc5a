package metricpointsexporter

import (
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/collector/consumer/consumererror"

	"github.com/pitwall-otel/pitwall/internal/refusal"
	"github.com/pitwall-otel/pitwall/internal/wal"
)

// retryDelay is what a client is told to wait when the log takes nothing.
const retryDelay = 5 * time.Second

func refused(cause error) error {
	if errors.Is(cause, wal.ErrTooLarge) {
		return consumererror.NewPermanent(cause)
	}
	return refusal.After(retryDelay, fmt.Errorf("points not accepted: %w", cause))
}
