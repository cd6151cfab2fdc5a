package metricpointsexporter

import (
	"time"

	"github.com/pitwall-otel/pitwall/exporter/metricpointsexporter/internal/delta"
)

// newDeltas knows nothing yet: the log tells it.
func (e *metricPoints) newDeltas() *delta.Converter {
	began := time.Now()
	return delta.New(delta.Options{
		Schema: e.encoding.Registry.Version(),
		// It stands in every segment's header, and a segment is an eighth of a small log.
		MaxBytes:     int(min(e.config.Cumulative.MaxSizeMiB<<20, e.config.Log.MaxSizeMiB<<20/32)),
		MaxStaleness: e.config.Cumulative.MaxStaleness,
		Now:          time.Now,
		Elapsed:      func() time.Duration { return time.Since(began) }, // not by the wall clock, which jumps
	})
}
