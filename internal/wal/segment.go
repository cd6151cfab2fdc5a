package wal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"go.uber.org/zap"
)

const (
	segmentSuffix = ".seg"
	tempSuffix    = ".tmp"
	corruptFolder = "corrupt"
	// corruptKept bounds what damaged segments take on disk.
	corruptKept = 4
	// segmentRetry is the pause between attempts to begin a segment.
	segmentRetry = 200 * time.Millisecond
)

// segment is one file. Sealed ones never change again.
type segment struct {
	number uint64
	path   string
	seed   uint32
	nonce  uint64
	first  int64 // end of its snapshot; 0 if not known
	size   int64 // where the next record goes; 0 if not known
	onDisk int64 // the file's size
	open   int   // spans of it that are not done

	mu      sync.Mutex
	file    *os.File // nil until read or written
	closed  bool
	damaged bool
}

func segmentName(number uint64) string { return fmt.Sprintf("%016d%s", number, segmentSuffix) }

func (l *Log) newSegment(s snapshotSegment) *segment {
	return &segment{number: s.number, path: l.segmentPath(s.number), seed: seedFor(l.id, s.number), nonce: s.nonce}
}

// reader opens the file at first use, so that a long backlog holds few
// descriptors.
func (s *segment) reader() (*os.File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, os.ErrClosed
	}
	if s.file == nil {
		f, err := os.Open(s.path)
		if err != nil {
			return nil, err
		}
		s.file = f
	}
	return s.file, nil
}

func (s *segment) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	s.file = nil
	return err
}

func (s *segment) markDamaged() {
	s.mu.Lock()
	s.damaged = true
	s.mu.Unlock()
}

func (s *segment) isDamaged() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.damaged
}

// openSegment begins a new segment whose snapshot cuts everything uncut, and
// makes it the active one. What it cuts can be taken as soon as it returns nil.
func (l *Log) openSegment() error {
	own := snapshotSegment{l.next, newNonce()}
	snap := snapshot{id: l.id, own: own}
	if l.opts.Sealing != nil {
		snap.carried = l.opts.Sealing()
	}
	l.mu.Lock()
	for _, seg := range l.segments {
		snap.segments = append(snap.segments, snapshotSegment{seg.number, seg.nonce})
	}
	for _, spans := range [][]*span{l.live, l.uncut} {
		for _, s := range spans {
			if !s.done {
				snap.ranges = append(snap.ranges, snapshotRange{s.bounds(), s.rows, s.sec})
			}
		}
	}
	l.mu.Unlock()

	seg := l.newSegment(own)
	head := snap.encode()
	if err := l.createFile(seg, head); err != nil {
		l.openErr, l.retryAt = err, time.Now().Add(segmentRetry)
		return err
	}
	seg.first, seg.size, seg.onDisk = int64(len(head)), int64(len(head)), int64(len(head))
	l.next++
	l.openErr = nil

	l.mu.Lock()
	l.active = seg
	l.segments = append(l.segments, seg)
	l.header = seg.first
	l.grown(seg.size)
	l.stats.Ranges += len(l.uncut)
	l.live = append(l.live, l.uncut...)
	l.uncut = nil
	l.mu.Unlock()
	return nil
}

// createFile gives the file its name only when its snapshot is durable: a
// segment without a readable one is therefore damaged, not half made.
func (l *Log) createFile(seg *segment, head []byte) error {
	if err := inPlace(l.opts.Dir, l.dir); err != nil {
		return err
	}
	temp := seg.path + tempSuffix
	f, err := os.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(head, 0)
	if err == nil {
		err = fdatasync(f)
	}
	if err == nil {
		err = os.Rename(temp, seg.path)
	}
	if err == nil {
		err = l.dir.Sync()
	}
	if err != nil {
		f.Close()
		l.remove(temp)
		l.remove(seg.path)
		return err
	}
	seg.file = f
	return nil
}

// grown counts bytes written. l.mu is held.
func (l *Log) grown(n int64) {
	l.disk += n
	l.space.bytes -= n
}

// sweep deletes the oldest segments as long as all their ranges are done.
// Oldest first, because the marks of a segment's ranges are in later ones.
func (l *Log) sweep() {
	for {
		l.mu.Lock()
		var seg *segment
		if len(l.segments) > 0 && l.segments[0] != l.active && l.segments[0].open == 0 {
			seg = l.segments[0]
		}
		l.mu.Unlock()
		if seg == nil {
			return
		}
		l.drop(seg)
	}
}

// drop takes a finished segment out of the log: deleted, or set aside when
// damage was found in it.
func (l *Log) drop(seg *segment) {
	l.mu.Lock()
	for i, s := range l.segments {
		if s == seg {
			l.segments = append(l.segments[:i:i], l.segments[i+1:]...)
			l.disk -= seg.onDisk
			l.space.asked = time.Time{}
			break
		}
	}
	l.mu.Unlock()
	if err := seg.close(); err != nil {
		l.log.Warn("cannot close a log segment", zap.String("file", seg.path), zap.Error(err))
	}
	if seg.isDamaged() {
		l.setAside(seg.path)
		return
	}
	l.remove(seg.path)
}

func (l *Log) remove(path string) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		l.log.Warn("cannot delete a log file", zap.String("file", path), zap.Error(err))
	}
}

// setAside moves a damaged file out of the way, for someone to look at, and
// forgets the oldest such files.
func (l *Log) setAside(path string) {
	l.mu.Lock()
	l.stats.SetAside++
	l.mu.Unlock()
	folder, err := makeSubdir(l.opts.Dir, corruptFolder)
	if err == nil {
		err = os.Rename(path, filepath.Join(folder, filepath.Base(path)))
	}
	if err != nil {
		l.log.Warn("cannot set a damaged log segment aside, deleting it", zap.String("file", path), zap.Error(err))
		l.remove(path)
		return
	}
	l.log.Warn("damaged log segment set aside", zap.String("file", path), zap.String("folder", folder))
	entries, err := os.ReadDir(folder)
	for i := 0; err == nil && i < len(entries)-corruptKept; i++ {
		l.remove(filepath.Join(folder, entries[i].Name()))
	}
}
