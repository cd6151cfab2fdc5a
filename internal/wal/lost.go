package wal

import (
	"errors"
	"io"

	"go.uber.org/zap"
)

// countLost counts as damaged the rows of a log of which no snapshot can be read, as far as their records can. They are
// not delivered: without the log's id they would get new tokens, and those that were stored would be stored twice.
func (l *Log) countLost(numbers []uint64) {
	found := newLedger()
	for _, n := range numbers {
		if err := l.findLost(n, found); err != nil {
			l.log.Warn("cannot count the rows of a log segment", zap.String("file", l.segmentPath(n)), zap.Error(err))
		}
	}
	for _, s := range found.spans {
		l.stats.DamagedRows += s.rows
	}
}

func (l *Log) findLost(number uint64, found *ledger) error {
	seg := l.newSegment(snapshotSegment{number: number})
	file, err := seg.reader()
	if err != nil {
		return err
	}
	defer seg.close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	sc := scanner{credulous: true}
	sc.reset(file, 0, 0, info.Size())
	w := walker{seg: seg, found: found}
	for {
		rec, err := sc.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		w.record(rec)
	}
	w.flush()
	return nil
}
