package mapping

import (
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/exposition"
)

// Identity says whose page it is.
type Identity struct {
	// Host and Port are where the page is asked for: the engine, or the router in front of engines.
	Host string
	Port int
	// Attributes are the resource's, of all engines on the page: run, role, replica. inference.role is also the role of
	// engines that do not say theirs (vLLM).
	Attributes pcommon.Map
}

// Target is one page over time. It is not safe for concurrent use.
type Target struct {
	mapper   *Mapper
	identity Identity
	report   Report
}

// NewTarget returns the state of one page, which belongs to one goroutine.
func (m *Mapper) NewTarget(i Identity) *Target { return &Target{mapper: m, identity: i} }

// Map returns the points of one page, with the time at which it was scraped. Each engine or router on the page is a resource.
func (t *Target) Map(_ *exposition.Reader, _ time.Time) (pmetric.Metrics, *Report) {
	return pmetric.NewMetrics(), &t.report
}

// Down returns inference.engine.up = 0 for the engines that the page had before, for a scrape that failed.
func (t *Target) Down(_ time.Time) pmetric.Metrics { return pmetric.NewMetrics() }
