package metricpointsexporter

import (
	"sync"
	"sync/atomic"

	"github.com/pitwall-otel/pitwall/exporter/metricpointsexporter/internal/points"
	"github.com/pitwall-otel/pitwall/internal/wal"
)

// Reasons why accepted points are not in the table.
const (
	reasonNoRecordedValue = "no_recorded_value" // the point says that there is no value
	reasonTimeOutside     = "time_outside"      // time_policy drop
	reasonLogDamaged      = "log_damaged"       // the disk gave back something else than was written
	reasonRejected        = "rejected"          // the server will never take it; kept as a dead letter
	reasonDuplicate       = "duplicate"         // a request with this batch id, or a histogram no older than it, was accepted before
	reasonStartUnknown    = "start_unknown"     // the first known value of a cumulative histogram that began earlier
)

// ledger counts what became of every accepted point: accepted = stored + dropped + queued in every snapshot.
//
// Accepted and queued come from the log, under its lock; stored and dropped change together with the log's Done, under
// ours. That is why the three sides are counted apart and still add up.
type ledger struct {
	log *wal.Log
	// lost are points that were accepted before this start and that the log does not have any more.
	lost int64

	// settling is held while a range leaves the log, and while a snapshot is taken.
	settling sync.Mutex
	stored   int64
	damaged  int64
	rejected int64

	noRecordedValue, timeDropped, duplicate, startUnknown, timeOutside, truncated, refused atomic.Int64
}

func newLedger(log *wal.Log) *ledger { return &ledger{log: log, lost: log.Stats().DamagedRows} }

func (l *ledger) accept(counts points.Counts) {
	l.noRecordedValue.Add(int64(counts.NoRecordedValue))
	l.timeDropped.Add(int64(counts.TimeDropped))
	l.startUnknown.Add(int64(counts.StartUnknown))
	l.duplicate.Add(int64(counts.Repeated))
	l.timeOutside.Add(int64(counts.TimeOutside))
	l.truncated.Add(int64(counts.Truncated))
}

func (l *ledger) acceptDuplicate(counts points.Counts) { l.duplicate.Add(all(counts)) }

func (l *ledger) refuse(counts points.Counts) { l.refused.Add(all(counts)) }

func all(counts points.Counts) int64 {
	return int64(counts.Rows + counts.NoRecordedValue + counts.TimeDropped + counts.StartUnknown + counts.Repeated)
}

// outcome says what became of a range's rows.
type outcome struct{ stored, damaged, rejected int }

// settle takes a finished range out of the log and enters what became of it.
func (l *ledger) settle(r wal.Range, o outcome) {
	l.settling.Lock()
	defer l.settling.Unlock()
	l.log.Done(r)
	l.stored += int64(o.stored)
	l.damaged += int64(o.damaged)
	l.rejected += int64(o.rejected)
}

// balance is one consistent view of the ledger, in points.
type balance struct {
	accepted, stored, queued, refused int64
	dropped                           [6]dropped
	log                               wal.Stats
}

type dropped struct {
	reason string
	points int64
}

func (l *ledger) balance() balance {
	l.settling.Lock()
	defer l.settling.Unlock()
	stats := l.log.Stats()
	noValue, timeDropped := l.noRecordedValue.Load(), l.timeDropped.Load()
	duplicate, startUnknown := l.duplicate.Load(), l.startUnknown.Load()
	return balance{
		accepted: stats.AppendedRows + stats.RecoveredRows + l.lost + noValue + timeDropped + duplicate + startUnknown,
		stored:   l.stored,
		queued:   stats.Rows,
		refused:  l.refused.Load(),
		dropped: [6]dropped{
			{reasonNoRecordedValue, noValue},
			{reasonTimeOutside, timeDropped},
			{reasonLogDamaged, l.damaged + l.lost},
			{reasonRejected, l.rejected},
			{reasonDuplicate, duplicate},
			{reasonStartUnknown, startUnknown},
		},
		log: stats,
	}
}
