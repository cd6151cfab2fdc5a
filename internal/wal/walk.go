package wal

import (
	"errors"
	"io"
	"math/rand/v2"

	"go.uber.org/zap"
)

// walk reads all records of a segment. A segment in which no record can be read
// is set aside.
func (l *Log) walk(number uint64, found *ledger) error {
	// Without its own nonce its tokens are new ones.
	seg := l.newSegment(snapshotSegment{number, rand.Uint64()})
	file, err := seg.reader()
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		return err
	}
	seg.onDisk = info.Size()
	var sc scanner
	sc.reset(file, seg.seed, 0, seg.onDisk)
	var run, held span // uncut records; behind them, unreadable payloads with good headers
	lost := false      // a record of another type was unreadable
	flush := func() {
		if run.rows > 0 {
			s := run
			found.add(&s, true)
		}
		run = span{}
	}
	for {
		rec, err := sc.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if !rec.intact {
			// A torn end, or damage: what follows tells.
			held.extend(seg, rec)
			lost = lost || rec.kind != kindData
			continue
		}
		seg.damaged = seg.damaged || rec.gap || lost || held.rows > 0
		seg.size = rec.end
		run.join(held)
		if rec.gap || lost {
			// It may have been a cut; a range must not reach across it.
			flush()
		}
		held, lost = span{}, false
		switch rec.kind {
		case kindSnapshot:
			seg.first = rec.end
			if snap, err := decodeSnapshot(rec.payload); err == nil {
				seg.nonce = snap.own.nonce
			}
		case kindData:
			run.extend(seg, rec)
		case kindCut:
			flush()
			found.cut(seg, rec)
		case kindDone:
			if b, ok := decodeDone(rec.payload); ok {
				if s := found.spans[key(b)]; s != nil && s.end == b.end {
					found.drop(s)
				}
			}
		}
	}
	flush()
	if seg.size == 0 {
		l.setAside(seg.path)
		return seg.close()
	}
	if seg.first == 0 {
		seg.damaged = true
	}
	if torn := seg.onDisk - seg.size; torn > 0 {
		l.log.Info("log segment ends in an unfinished write", zap.String("file", seg.path), zap.Int64("bytes", torn))
	}
	l.segments = append(l.segments, seg)
	return nil
}

// extend adds a data record's rows; records of other types add nothing.
func (s *span) extend(seg *segment, rec record) {
	if rec.kind != kindData {
		return
	}
	if s.rows == 0 {
		*s = span{seg: seg, start: rec.off, sec: rec.sec}
	}
	s.end = rec.end
	s.rows += int64(rec.rows)
}

// join appends a run that follows.
func (s *span) join(next span) {
	switch {
	case next.rows == 0:
	case s.rows == 0:
		*s = next
	default:
		s.end = next.end
		s.rows += next.rows
	}
}
