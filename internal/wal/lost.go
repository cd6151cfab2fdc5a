package wal

import (
	"errors"
	"io"
	"slices"

	"go.uber.org/zap"
)

// findID is for a log of which no snapshot can be read: every cut has the log's id. What such a log refused when it also
// had to leave a segment cannot be told from what it accepted any more.
func (l *Log) findID(numbers []uint64) (id logID, found bool) {
	for _, n := range slices.Backward(numbers) {
		l.credulous(n, func(file io.ReaderAt, rec record) bool {
			c, ok := decodeCut(n, rec.payload)
			if rec.kind != kindCut || !ok {
				return true
			}
			proof := scanner{file: file, seed: seedFor(c.id, n), end: rec.end}
			if _, ok, _ := proof.at(rec.off); ok {
				id, found = c.id, true
			}
			return !found
		})
		if found {
			return id, true
		}
	}
	return id, false
}

// countLost counts as damaged the rows of a log that has lost its id, as far as its records can be read. They are not
// delivered, because their headers cannot be trusted. None of them was handed out: not even one cut is left.
func (l *Log) countLost(numbers []uint64) {
	for _, n := range numbers {
		l.credulous(n, func(_ io.ReaderAt, rec record) bool {
			if rec.kind == kindData {
				l.stats.DamagedRows += int64(rec.rows)
			}
			return true
		})
	}
}

// credulous yields the records of a segment whose payloads are good, whatever their headers prove, until yield says no.
func (l *Log) credulous(number uint64, yield func(file io.ReaderAt, rec record) bool) {
	seg := l.newSegment(snapshotSegment{number: number})
	file, err := seg.reader()
	if err != nil {
		l.log.Warn("cannot read a log segment", zap.String("file", seg.path), zap.Error(err))
		return
	}
	defer seg.close()
	info, err := file.Stat()
	if err != nil {
		l.log.Warn("cannot read a log segment", zap.String("file", seg.path), zap.Error(err))
		return
	}
	sc := scanner{credulous: true}
	sc.reset(file, 0, 0, info.Size())
	for {
		rec, err := sc.next()
		if err != nil && !errors.Is(err, io.EOF) {
			l.log.Warn("cannot read a log segment", zap.String("file", seg.path), zap.Error(err))
		}
		if err != nil || !yield(file, rec) {
			return
		}
	}
}
