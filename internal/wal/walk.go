package wal

import (
	"errors"
	"io"

	"go.uber.org/zap"
)

// walker follows the records of a segment and keeps what is not cut yet.
type walker struct {
	seg   *segment
	found *ledger
	kept  func([]byte)
	run   span // records not cut
	held  span // behind them, records with a good header and an unreadable payload
	lost  bool // a record of another type was unreadable
	gap   bool // any record was
}

// walk reads all records of a segment. A segment in which no record can be read
// is set aside.
func (l *Log) walk(number uint64, found *ledger) error {
	// Without its own nonce, which a snapshot or a cut may tell, its tokens are new ones.
	seg := l.newSegment(snapshotSegment{number, newNonce()})
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
	w := walker{seg: seg, found: found, kept: l.opts.Kept}
	if w.kept == nil {
		w.kept = func([]byte) {}
	}
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
	if seg.size == 0 {
		w.kept(nil)
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

func (w *walker) record(rec record) {
	if !rec.intact {
		// A torn end, or damage: what follows tells.
		w.held.extend(w.seg, rec)
		w.lost = w.lost || rec.kind != kindData
		w.gap = true
		return
	}
	broken := rec.gap || w.lost
	if broken || w.gap {
		w.kept(nil)
	}
	w.seg.damaged = w.seg.damaged || broken || w.held.rows > 0
	w.seg.size = rec.end
	w.run.join(w.held)
	w.held, w.lost, w.gap = span{}, false, false
	if broken {
		// It may have been a cut; a range must not reach across it.
		w.flush()
	}
	switch rec.kind {
	case kindData:
		w.run.extend(w.seg, rec)
		w.kept(rec.payload)
	case kindCut:
		w.flush()
		w.found.cut(w.seg, rec)
	case kindDone:
		w.found.done(rec)
	case kindSnapshot:
		w.seg.first = rec.end
		if snap, err := decodeSnapshot(rec.payload); err == nil {
			w.seg.nonce = snap.own.nonce
		}
	}
}

// flush ends the run.
func (w *walker) flush() {
	if w.run.rows > 0 {
		s := w.run
		w.found.add(&s, true)
	}
	w.run = span{}
}

// extend adds a data record's rows; records without rows add nothing.
func (s *span) extend(seg *segment, rec record) {
	if rec.kind != kindData || rec.rows == 0 {
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
