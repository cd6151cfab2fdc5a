package wal

import (
	"errors"
	"fmt"
	"io"
	"os"

	"go.uber.org/zap"
)

// Read calls yield for each payload of the range, in the order of appending;
// the payload is valid during the call only. Payloads that are damaged on disk
// are left out and their rows counted: that is the int. The error is yield's,
// or ErrClosed. A range may be read again and gives the same, unless the disk
// decays meanwhile.
func (l *Log) Read(r Range, yield func(payload []byte, rows int) error) (int, error) {
	s := r.span
	found := 0
	file, err := s.seg.reader()
	switch {
	case errors.Is(err, os.ErrClosed):
		return 0, ErrClosed
	case err == nil:
		found, err = l.scan(file, s, yield)
		if err != nil {
			return 0, err
		}
	case !errors.Is(err, os.ErrNotExist) && !isIO(err) || l.elsewhere():
		// No descriptor left, or the folder was moved: passes, and nothing is lost.
		return 0, fmt.Errorf("read log segment: %w", err)
	}
	damaged := max(0, r.Rows-found)
	if damaged > 0 {
		s.seg.markDamaged()
		l.log.Warn("part of a log range cannot be read", zap.String("file", s.seg.path),
			zap.Int64("start", s.start), zap.Int64("end", s.end), zap.Int("rows_lost", damaged))
	}
	l.mu.Lock()
	l.stats.DamagedRows += int64(damaged - s.damaged)
	s.damaged = damaged
	l.mu.Unlock()
	return damaged, nil
}

func (l *Log) scan(file io.ReaderAt, s *span, yield func([]byte, int) error) (int, error) {
	sc := l.scanners.Get().(*scanner)
	defer func() {
		sc.file = nil
		if cap(sc.buf) <= scanKeep {
			l.scanners.Put(sc)
		}
	}()
	sc.reset(file, s.seg.seed, s.start, s.end)
	rows := 0
	for {
		rec, err := sc.next()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if errors.Is(err, os.ErrClosed) {
			return 0, ErrClosed
		}
		if err != nil {
			return 0, err
		}
		if rec.kind != kindData || !rec.intact || rec.rows == 0 {
			continue
		}
		if err := yield(rec.payload, int(rec.rows)); err != nil {
			return 0, err
		}
		rows += int(rec.rows)
	}
}
