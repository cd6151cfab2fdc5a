package metricpointsexporter

import (
	"context"
	"crypto/sha256"
	"path/filepath"
	"time"

	"go.opentelemetry.io/collector/client"
	"go.uber.org/zap"

	"github.com/pitwall-otel/pitwall/exporter/metricpointsexporter/internal/batchids"
	"github.com/pitwall-otel/pitwall/exporter/metricpointsexporter/internal/points"
)

const (
	// batchIDKey is the HTTP header, or gRPC metadata, by which a client says which requests are the same.
	batchIDKey = "pitwall-batch-id"
	// maxBatchIDBytes bounds what is hashed for one request.
	maxBatchIDBytes = 256
)

// openBatchIDs returns nil when batch ids are turned off.
func (e *metricPoints) openBatchIDs() (*batchids.Set, error) {
	if e.config.BatchIDs.MaxEntries == 0 {
		return nil, nil
	}
	began := time.Now()
	return batchids.Open(batchids.Options{
		Dir:        filepath.Join(e.config.Log.Directory, "batch-ids"),
		Window:     e.config.BatchIDs.Window,
		MaxEntries: e.config.BatchIDs.MaxEntries,
		Elapsed:    func() time.Duration { return time.Since(began) }, // not by the wall clock, which jumps
		Logger:     e.seldom,
	})
}

// batchID is the id that the client gave the request; zero without one.
func (e *metricPoints) batchID(ctx context.Context) (id points.BatchID) {
	if e.batchIDs == nil {
		return id
	}
	values := client.FromContext(ctx).Metadata.Get(batchIDKey)
	switch {
	case len(values) == 0:
		return id
	case len(values) > 1 || values[0] == "" || len(values[0]) > maxBatchIDBytes:
		e.seldom.Warn("request with a batch id that cannot be used: it must be one, of 1 to 256 bytes",
			zap.String("key", batchIDKey), zap.Int("values", len(values)), zap.Int("bytes", len(values[0])))
		return id
	}
	sum := sha256.Sum256([]byte(values[0]))
	return points.BatchID(sum[:])
}
