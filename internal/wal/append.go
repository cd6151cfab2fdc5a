package wal

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

const (
	// queueBytes bounds what waits for the committer, groupBytes what it writes
	// at once.
	queueBytes = 32 << 20
	groupBytes = 16 << 20
	// maxRanges bounds the snapshot and the memory that ranges take.
	maxRanges = 1 << 20
)

// waiter is one Append waiting for the committer's answer.
type waiter struct {
	payload []byte
	rows    uint32
	crc     uint32
	size    int64
	done    chan error
}

// Append returns nil once the payload, which stands for rows rows, is on disk
// and will be handed out; one without rows is for Kept only. On an error it
// will not be. The payload is the caller's again after return. A payload waits
// for the disk, however long that takes, once it is in the queue; ctx ends only
// the wait for room there.
func (l *Log) Append(ctx context.Context, payload []byte, rows int) error {
	size := recordBytes(len(payload))
	if len(payload) > maxPayload || size > l.opts.MaxBytes/2 {
		return fmt.Errorf("%w: %d bytes", ErrTooLarge, len(payload))
	}
	if len(payload) == 0 || rows < 0 || rows > math.MaxUint32 {
		return fmt.Errorf("append of %d bytes for %d rows: there must be bytes, and rows must not be negative", len(payload), rows)
	}
	w := l.waiters.Get().(*waiter)
	w.payload, w.rows, w.size = payload, uint32(rows), size
	w.crc = checksum(payload)
	err := l.enqueue(ctx, w)
	if err == nil {
		poke(l.wake)
		err = <-w.done
	} else if errors.Is(err, ErrFull) {
		poke(l.wake) // it may be able to make room
	}
	w.payload = nil
	l.waiters.Put(w)
	return err
}

func (l *Log) enqueue(ctx context.Context, w *waiter) error {
	for {
		l.mu.Lock()
		if l.closed {
			l.mu.Unlock()
			return ErrClosed
		}
		if err := l.full(w.size); err != nil {
			l.refused = true
			l.mu.Unlock()
			return err
		}
		if l.queued == 0 || l.queued+w.size <= queueBytes {
			l.queue = append(l.queue, w)
			l.queued += w.size
			l.pending += w.size
			l.mu.Unlock()
			return nil
		}
		if l.room == nil {
			l.room = make(chan struct{})
		}
		room := l.room
		l.mu.Unlock()
		select {
		case <-room:
		case <-ctx.Done():
			return ctx.Err()
		case <-l.stop:
			return ErrClosed
		}
	}
}

// full reports why size more bytes cannot be taken. l.mu is held.
func (l *Log) full(size int64) error {
	if l.disk+l.pending+size > l.opts.MaxBytes {
		return fmt.Errorf("%w: %d of at most %d bytes in %s", ErrFull, l.disk+l.pending, l.opts.MaxBytes, l.opts.Dir)
	}
	// The next segment needs its header, or a full log could not drain.
	least := l.opts.MinFreeBytes + l.header
	if free := l.space.free(l.dir, time.Now()); free-l.pending-size < least {
		return fmt.Errorf("%w: %d bytes free on the file system of %s, %d must remain", ErrFull, free, l.opts.Dir, least)
	}
	if len(l.live) >= maxRanges {
		return fmt.Errorf("%w: %d ranges waiting in %s", ErrFull, len(l.live), l.opts.Dir)
	}
	return nil
}
