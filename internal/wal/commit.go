package wal

import (
	"time"

	"go.uber.org/zap"
)

const (
	// bufferKeep is the largest write buffer kept between groups, bufferIdle that kept while there is nothing to write.
	bufferKeep = 2 * groupBytes
	bufferIdle = 1 << 20
)

// batch is what the committer writes at once.
type batch struct {
	marks []bounds
	group []*waiter
	cut   bool // the uncut rows are old enough to become a range
}

// run is the committer: the only writer of files, owned by Open and Close.
func (l *Log) run() {
	defer close(l.stopped)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for stopping := false; !stopping; {
		select {
		case <-l.wake:
		case <-timer.C:
		case <-l.stop:
			stopping = true // and what is queued by now is the last
		}
		timer.Reset(l.work())
	}
	if l.active != nil {
		if err := fdatasync(l.active.file); err != nil {
			l.log.Warn("cannot flush the log", zap.String("file", l.active.path), zap.Error(err))
		}
	}
}

// work writes until nothing is left to write and returns how long there will be
// nothing unless it is woken.
func (l *Log) work() time.Duration {
	for {
		if l.active == nil && !time.Now().Before(l.retryAt) {
			l.begunSegment(l.openSegment())
		}
		b, wait := l.take()
		if b == nil {
			if cap(l.buf) > bufferIdle {
				l.buf = nil
			}
			return wait
		}
		l.commit(b)
		l.sweep()
		if l.active != nil && l.active.size >= l.opts.SegmentBytes && !time.Now().Before(l.retryAt) {
			l.begunSegment(l.openSegment())
		}
		l.reclaim()
	}
}

// take collects what is to be written, or says how long nothing will be.
func (l *Log) take() (*batch, time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := &l.batch
	b.marks, l.marks = l.marks, b.marks[:0]
	clear(b.group)
	b.group, b.cut = b.group[:0], false

	var size int64
	n := 0
	for n < len(l.queue) && size < groupBytes {
		size += l.queue[n].size
		n++
	}
	if n > 0 {
		b.group = append(b.group, l.queue[:n]...)
		rest := copy(l.queue, l.queue[n:])
		clear(l.queue[rest:])
		l.queue = l.queue[:rest]
		l.queued -= size
		if l.room != nil {
			close(l.room)
			l.room = nil
		}
	}

	wait := time.Hour
	now := time.Now()
	if l.active == nil {
		wait = l.retryAt.Sub(now)
	} else if len(l.uncut) > 0 && l.handed == len(l.live) {
		due := l.uncutAt.Add(l.opts.CutInterval)
		if l.retryAt.After(due) {
			due = l.retryAt
		}
		wait = due.Sub(now)
		b.cut = wait <= 0
	}
	if len(b.marks) == 0 && len(b.group) == 0 && !b.cut {
		return nil, max(wait, time.Millisecond)
	}
	return b, 0
}

// commit writes a batch, makes it durable, shows it to the others and answers.
func (l *Log) commit(b *batch) {
	err := l.openErr
	if l.active != nil {
		l.encode(b)
		err = l.write()
	}
	l.mu.Lock()
	for _, w := range b.group {
		l.pending -= w.size
	}
	if l.active != nil && err == nil {
		l.publish(b)
	}
	l.mu.Unlock()
	if err == nil && l.opts.Kept != nil {
		for _, w := range b.group {
			l.opts.Kept(w.payload)
		}
	}
	if err != nil {
		err = asFull(err)
		l.log.Warn("cannot write to the log", zap.String("directory", l.opts.Dir), zap.Error(err))
	}
	for _, w := range b.group {
		w.done <- err
	}
	l.notifyReady()
}

// encode lays the batch out behind the active segment's end: marks, then data
// with a cut wherever enough rows have come together. l.cuts and l.tail take
// what that makes of the uncut rows; they count once the write has succeeded.
func (l *Log) encode(b *batch) {
	seg, now := l.active, uint32(time.Now().Unix())
	if cap(l.buf) > bufferKeep {
		l.buf = nil
	}
	l.buf, l.cuts = l.buf[:0], l.cuts[:0]
	l.tail = span{seg: seg}
	if len(l.uncut) > 0 {
		l.tail = *l.uncut[0]
	}
	end := func() int64 { return seg.size + int64(len(l.buf)) }
	cutTail := func() {
		c := cut{bounds: l.tail.bounds(), rows: l.tail.rows, id: l.id, nonce: seg.nonce}
		l.buf = c.append(l.buf, seg.seed, end(), l.tail.sec)
		l.cuts = append(l.cuts, l.tail)
		l.tail = span{seg: seg}
	}
	for _, m := range b.marks {
		l.buf = appendDone(l.buf, seg.seed, end(), m)
	}
	for _, w := range b.group {
		// One without rows is in no range, unless between others' rows.
		if l.tail.rows == 0 && w.rows > 0 {
			l.tail.start, l.tail.sec = end(), now
		}
		h := header{kind: kindData, rows: w.rows, sec: now, crc: w.crc}
		l.buf = appendRecord(l.buf, seg.seed, end(), h, w.payload)
		if w.rows == 0 {
			continue
		}
		l.tail.end = end()
		l.tail.rows += int64(w.rows)
		if l.tail.rows >= int64(l.opts.CutRows) {
			cutTail()
		}
	}
	if b.cut && l.tail.rows > 0 {
		cutTail()
	}
}

// write puts the buffer behind the active segment's end, durably: marks too, so
// that a power failure does not send again what a store has, which may have lost
// its memory of tokens in the same moment. On an error nothing of it remains
// there, or that segment is no longer active.
func (l *Log) write() error {
	seg := l.active
	_, err := seg.file.WriteAt(l.buf, seg.size)
	if err != nil {
		l.retryAt = time.Now().Add(segmentRetry)
		// Also the shortening must be durable, or a crash brings refused bytes back.
		if seg.file.Truncate(seg.size) == nil && fdatasync(seg.file) == nil {
			return err
		}
		l.abandon()
		return err
	}
	if err = fdatasync(seg.file); err != nil {
		// The kernel may have forgotten which pages failed: this file is not to be trusted with more.
		_ = seg.file.Truncate(seg.size)
		l.abandon()
		return err
	}
	if err = inPlace(seg.path, seg.file); err != nil {
		if seg.file.Truncate(seg.size) == nil {
			_ = fdatasync(seg.file)
		}
		l.abandon()
		return err
	}
	return nil
}

// abandon goes on in a new segment. Its snapshot names what of this one belongs
// to the log; the tail does not.
func (l *Log) abandon() {
	seg := l.active
	l.mu.Lock()
	if info, err := seg.file.Stat(); err == nil {
		l.disk += info.Size() - seg.onDisk
		seg.onDisk = info.Size()
	}
	l.active = nil
	l.mu.Unlock()
	l.begunSegment(l.openSegment())
}

// publish shows a written batch to the others. l.mu is held.
func (l *Log) publish(b *batch) {
	seg, n := l.active, int64(len(l.buf))
	seg.size += n
	seg.onDisk = seg.size
	l.grown(n)

	for _, w := range b.group {
		l.stats.Rows += int64(w.rows)
		l.stats.AppendedRows += int64(w.rows)
	}
	before := int64(0)
	if len(l.uncut) > 0 {
		before = l.uncut[0].end - l.uncut[0].start
		seg.open--
	}
	for i := range l.cuts {
		s := l.cuts[i]
		l.live = append(l.live, &s)
		l.stats.Ranges++
		l.stats.Bytes += s.end - s.start
	}
	l.stats.Bytes += l.tail.end - l.tail.start - before
	seg.open += len(l.cuts)
	switch {
	case l.tail.rows == 0:
		l.uncut = l.uncut[:0]
		return
	case len(l.uncut) > 0 && len(l.cuts) == 0:
		*l.uncut[0] = l.tail
	default:
		s := l.tail
		l.uncut, l.uncutAt = append(l.uncut[:0], &s), time.Now()
	}
	seg.open++
}

// begunSegment is told the outcome of openSegment.
func (l *Log) begunSegment(err error) {
	if err != nil {
		l.log.Warn("cannot begin a log segment, will try again", zap.String("directory", l.opts.Dir), zap.Error(err))
		return
	}
	l.notifyReady()
	l.sweep()
}

// reclaim frees the active segment's room when everything is done and room is
// what the log was refused for.
func (l *Log) reclaim() {
	l.mu.Lock()
	due := l.refused && len(l.live) == 0 && len(l.uncut) == 0 && l.active != nil && l.active.size > l.active.first
	if len(l.live) == 0 && len(l.uncut) == 0 {
		l.refused = false
	}
	seg := l.active
	l.mu.Unlock()
	if !due {
		return
	}
	err := l.openSegment()
	if err != nil && isSpace(err) {
		// Not even room for the next one: what this one holds is not needed any more.
		l.mu.Lock()
		l.active = nil
		l.mu.Unlock()
		l.drop(seg)
		err = l.openSegment()
	}
	l.begunSegment(err)
}
