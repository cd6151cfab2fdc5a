package wal

import (
	"context"
	"fmt"
)

// Range is a fixed part of the log, the same after every restart until it is
// done.
type Range struct {
	Rows int // rows appended in it; Read may find fewer
	log  *Log
	span *span
}

// Token names the range among all logs, copies of this one included: log id (32
// hex digits), segment, start, end, and the segment's nonce (16 hex digits).
func (r Range) Token() string {
	return fmt.Sprintf("%s-%d-%d-%d-%016x", r.log.id, r.span.seg.number, r.span.start, r.span.end, r.span.seg.nonce)
}

// Recovered reports whether the range was in the log when it was opened: it may have been handed out before.
func (r Range) Recovered() bool { return r.span.recovered }

// Next waits for the next range and hands it out, oldest first, each once per
// opening. Many may be out at a time.
func (l *Log) Next(ctx context.Context) (Range, error) {
	for {
		l.mu.Lock()
		if l.closed {
			l.mu.Unlock()
			return Range{}, ErrClosed
		}
		if l.handed < len(l.live) {
			s := l.live[l.handed]
			l.handed++
			last := l.handed == len(l.live)
			l.mu.Unlock()
			if last {
				poke(l.wake) // uncut rows may have become old behind it
			} else {
				poke(l.ready)
			}
			return Range{Rows: int(s.rows), log: l, span: s}, nil
		}
		l.mu.Unlock()
		select {
		case <-l.ready:
		case <-ctx.Done():
			return Range{}, ctx.Err()
		case <-l.stop:
			return Range{}, ErrClosed
		}
	}
}

func (l *Log) notifyReady() {
	l.mu.Lock()
	waiting := l.handed < len(l.live)
	l.mu.Unlock()
	if waiting {
		poke(l.ready)
	}
}

// Done lets go of a range that was stored or given up. It does not wait: the
// mark is with the kernel soon, on disk with the next append. Files whose
// ranges are all done are deleted. A second Done of a range does nothing.
func (l *Log) Done(r Range) {
	l.mu.Lock()
	s := r.span
	if s.done || l.closed {
		l.mu.Unlock()
		return
	}
	s.done = true
	s.seg.open--
	l.marks = append(l.marks, s.bounds())
	l.stats.Ranges--
	l.stats.Rows -= s.rows
	l.stats.Bytes -= s.end - s.start
	for len(l.live) > 0 && l.live[0].done {
		l.live[0] = nil
		l.live = l.live[1:]
		l.handed--
	}
	l.mu.Unlock()
	poke(l.wake)
}
