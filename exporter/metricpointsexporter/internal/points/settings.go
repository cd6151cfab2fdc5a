package points

import (
	"time"

	"github.com/pitwall-otel/pitwall/schema"
)

// TimePolicy says what becomes of a point whose own time is absent or outside the accepted window.
type TimePolicy string

const (
	// TimeKeep stores the point with the time it came with (an absent time is the epoch).
	TimeKeep TimePolicy = "keep"
	// TimeClamp moves the time to the nearest end of the window.
	TimeClamp TimePolicy = "clamp"
	// TimeDrop makes no row.
	TimeDrop TimePolicy = "drop"
)

// The window of accepted event times relative to now.
const (
	oldestAge   = 400 * 24 * time.Hour
	newestAhead = time.Hour
)

// Settings are the parts of the exporter's configuration that shape rows.
type Settings struct {
	Registry *schema.Registry
	// ResourceTags are the resource attributes that become tags.
	ResourceTags []string
	TimePolicy   TimePolicy
	// MaxNameBytes bounds metric, run_id, host and unit; MaxAttributeBytes one tag's value; MaxTagsBytes a row's tags.
	MaxNameBytes, MaxAttributeBytes, MaxTagsBytes int
}

// Counts says what one request became. Rows are what the table will hold; the others are points or values.
type Counts struct {
	Rows int
	// NoRecordedValue and TimeDropped are points that made no row.
	NoRecordedValue, TimeDropped int
	// StartUnknown and Repeated are points of cumulative histograms that made none; see package delta.
	StartUnknown, Repeated int
	// TimeOutside counts points outside the window, whatever the policy did with them.
	TimeOutside int
	// Truncated counts values cut at a limit, tags left out for MaxTagsBytes, and rows without tags because those of the
	// request are too many.
	Truncated int
}
