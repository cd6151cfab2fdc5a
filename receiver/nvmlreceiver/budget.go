package nvmlreceiver

import (
	"time"
)

const (
	// budgetWindow is over what the cost is averaged. Nothing is decided before it is full.
	budgetWindow = time.Minute
	maxLevel     = 3
	// The cost must be below this share of the budget for a while before more is read again.
	recoverBelow = 0.5
	maxPatience  = 60
)

// budget keeps the cost of collecting below a share of one core, by levels: 0 reads everything, each further one less.
type budget struct {
	limit float64
	level int
	// average is the share of one core, each collection weighed with the time that it stands for.
	average float64

	last     time.Time // the collection before
	changed  time.Time // the level
	lowSince time.Time
	patience int  // windows of low cost before more is tried; doubled when that was a mistake
	trial    bool // the level was lowered last
}

func newBudget(limit float64) *budget { return &budget{limit: limit, patience: 1} }

// observe takes what the collection that ended at now used, and says whether the level changed.
func (b *budget) observe(now time.Time, used time.Duration) (changed bool) {
	if b.last.IsZero() {
		// The first collection pays for starting up.
		b.last, b.changed, b.lowSince = now, now, now
		return false
	}
	elapsed := now.Sub(b.last)
	if elapsed <= 0 {
		return false
	}
	b.last = now
	share := max(0, used.Seconds()) / elapsed.Seconds()
	// What another level cost says nothing of this one.
	b.average += (share - b.average) * min(1, elapsed.Seconds()/min(budgetWindow, now.Sub(b.changed)).Seconds())
	if b.limit <= 0 {
		return false
	}
	if b.average >= recoverBelow*b.limit {
		b.lowSince = now
	}
	settled := now.Sub(b.changed)
	switch {
	case b.average > b.limit && b.level < maxLevel && settled >= budgetWindow:
		if b.trial {
			b.patience = min(2*b.patience, maxPatience)
		}
		b.level++
		b.changed, b.trial = now, false
		return true
	case b.level > 0 && settled >= budgetWindow && now.Sub(b.lowSince) >= time.Duration(b.patience)*budgetWindow:
		b.level--
		b.changed, b.lowSince, b.trial = now, now, true
		return true
	case b.level == 0 && settled >= maxPatience*budgetWindow:
		b.patience, b.trial = 1, false
	}
	return false
}
