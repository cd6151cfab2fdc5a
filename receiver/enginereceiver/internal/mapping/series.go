package mapping

import (
	"math"

	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/exposition"
)

// series is what one line of the page means. There are as many as lines, so it is small: of the line itself it has a hash
// and the length.
type series struct {
	hash   uint64
	length uint32
	scrape uint32 // the last one that had it
	family *family
	// instance is nil where there was none to be had.
	instance *instance
	outputs  []output
	// follower is the series that stood behind it on the page.
	follower *series
	// reason is why it means nothing.
	reason Reason
	part   exposition.Part
	// stale says that another look may find room for it.
	stale bool
}

// forgotten says that a point of it is no longer kept.
func (s *series) forgotten() bool {
	for i := range s.outputs {
		if s.outputs[i].point.removed {
			return true
		}
	}
	return s.stale || s.instance != nil && s.instance.removed
}

// judge says whether a value can be one of the series.
func (s *series) judge(v float64) Reason {
	switch s.part {
	case exposition.Created:
		return kept
	case exposition.Sum:
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			return kept // of what can be negative it is
		}
	default:
	}
	switch {
	case math.IsNaN(v):
		return DropNaN
	case math.IsInf(v, 0):
		return DropInfinite
	case v < 0 && (s.family.producer != "" || s.family.kind != exposition.Gauge && s.family.kind != exposition.Unknown):
		return DropNegative
	}
	return kept
}

// output is what a series adds to one point.
type output struct {
	point *point
	rank  rank
	// scale multiplies the series' value. With labelled it is the value.
	scale float64
	slot  int32
	how   combine
	role  role
}

// role says where an output's value comes from.
type role uint8

const (
	valued   role = iota
	labelled      // the labels say it
	flagged       // 1 for everything above 0
)
