package nvmlreceiver

import (
	"time"
)

// activity is what a GPU did in the time before a collection.
type activity int

const (
	unknown activity = iota
	idle
	busy
)

// account adds up a device's time: idle, busy and unknown make all time since start, so sums of them are right over any
// devices and any time. It starts anew when the device's run changes, so that each run has its own.
type account struct {
	start               time.Time
	idle, busy, unknown time.Duration
}

// advance books the time since the collection before. What was seen now stands for it, unless it is longer than longest, as
// after a suspended machine: then nobody knows.
func (a *account) advance(now time.Time, elapsed, longest time.Duration, what activity) {
	if a.start.IsZero() {
		a.start = now
	}
	if elapsed <= 0 {
		return
	}
	if elapsed > longest {
		what = unknown
	}
	switch what {
	case idle:
		a.idle += elapsed
	case busy:
		a.busy += elapsed
	default:
		a.unknown += elapsed
	}
}
