package wal

import (
	"cmp"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.uber.org/zap"
)

// recover builds the state from the newest readable snapshot and the records
// from its segment on. It changes nothing that still matters.
func (l *Log) recover() error {
	numbers, err := l.listSegments()
	if err != nil {
		return err
	}
	var snap *snapshot
	base := len(numbers)
	for base > 0 && snap == nil {
		base--
		if snap, err = l.readSnapshot(numbers[base]); err != nil {
			return err
		}
	}
	found := newLedger()
	if snap != nil {
		if l.opts.Carried != nil {
			l.opts.Carried(snap.carried)
		}
		l.id = snap.id
		if found, err = l.older(numbers[:base], snap); err != nil {
			return err
		}
	} else if id, ok := l.findID(numbers); ok {
		l.id = id
	} else {
		_, _ = rand.Read(l.id[:]) // never fails
		l.countLost(numbers)
		for _, n := range numbers {
			l.setAside(l.segmentPath(n))
		}
		return nil
	}
	for _, n := range numbers[base:] {
		if err := l.walk(n, found); err != nil {
			return err
		}
	}
	l.adopt(found)
	return nil
}

func (l *Log) segmentPath(n uint64) string { return filepath.Join(l.opts.Dir, segmentName(n)) }

// listSegments returns the segments there are, ascending, sets the number of
// the next one and removes half-made files.
func (l *Log) listSegments() ([]uint64, error) {
	entries, err := os.ReadDir(l.opts.Dir)
	if err != nil {
		return nil, err
	}
	var numbers []uint64
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), segmentSuffix+tempSuffix) {
			l.remove(filepath.Join(l.opts.Dir, e.Name()))
		}
		n, ok := segmentNumber(e.Name())
		if ok && e.Type().IsRegular() {
			numbers = append(numbers, n)
		}
		l.next = max(l.next, n)
	}
	slices.Sort(numbers)
	// A number stays taken while its damaged file is kept: tokens must not repeat.
	aside, err := os.ReadDir(filepath.Join(l.opts.Dir, corruptFolder))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	for _, e := range aside {
		if n, ok := segmentNumber(e.Name()); ok {
			l.next = max(l.next, n)
		}
	}
	l.next++
	return numbers, nil
}

func segmentNumber(name string) (uint64, bool) {
	digits, ok := strings.CutSuffix(name, segmentSuffix)
	n, err := strconv.ParseUint(digits, 10, 63)
	if !ok || err != nil || segmentName(n) != name {
		return 0, false
	}
	return n, true
}

// readSnapshot returns nil if the segment has no readable one. An error is not
// about what is on disk: going on after it would take good segments for bad.
func (l *Log) readSnapshot(number uint64) (*snapshot, error) {
	f, err := os.Open(l.segmentPath(number))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	sc := scanner{file: f, end: info.Size()}
	rec, ok, err := sc.at(0)
	if err != nil || !ok || !rec.intact || rec.kind != kindSnapshot {
		return nil, err
	}
	snap, err := decodeSnapshot(rec.payload)
	if err != nil || snap.own.number != number {
		return nil, nil
	}
	return snap, nil
}

// ledger is what recovery knows so far, ranges by where they begin.
type ledger struct {
	spans map[bounds]*span // end is 0 in the key
	loose map[*span]bool   // those not cut
}

func newLedger() *ledger { return &ledger{spans: map[bounds]*span{}, loose: map[*span]bool{}} }

func key(b bounds) bounds { return bounds{b.segment, b.start, 0} }

func (f *ledger) add(s *span, loose bool) {
	f.spans[key(s.bounds())] = s
	if loose {
		f.loose[s] = true
	}
}

func (f *ledger) drop(s *span) {
	delete(f.spans, key(s.bounds()))
	delete(f.loose, s)
}

// older takes over what the snapshot says of the segments before it, without
// reading them.
func (l *Log) older(numbers []uint64, snap *snapshot) (*ledger, error) {
	found := newLedger()
	segments := map[uint64]*segment{}
	for _, s := range snap.segments {
		seg := l.newSegment(s)
		info, err := os.Stat(seg.path)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		seg.onDisk = info.Size()
		l.segments = append(l.segments, seg)
		segments[s.number] = seg
	}
	for _, n := range numbers {
		if segments[n] != nil {
			continue
		}
		// Not in the snapshot: finished before it was written, or not of this log.
		own, err := l.readSnapshot(n)
		if err != nil {
			return nil, err
		}
		if own != nil && own.id == l.id {
			l.remove(l.segmentPath(n))
		} else {
			l.setAside(l.segmentPath(n))
		}
	}
	for _, r := range snap.ranges {
		if seg := segments[r.segment]; seg != nil {
			found.add(&span{seg: seg, start: r.start, end: r.end, rows: r.rows, sec: r.sec}, false)
		} else if len(l.segments) > 0 && r.segment > l.segments[0].number {
			// Segments go oldest first: this one did not go by our hand.
			l.stats.DamagedRows += r.rows
			l.log.Warn("log segment is missing", zap.String("file", l.segmentPath(r.segment)), zap.Int64("rows_lost", r.rows))
		}
	}
	return found, nil
}

// cut replaces the loose runs that a cut record covers by its range. Runs before
// it have lost their own cut record and stay.
func (f *ledger) cut(seg *segment, rec record) {
	c, ok := decodeCut(seg.number, rec.payload)
	if !ok || c.end > rec.off {
		return
	}
	seg.nonce = c.nonce // of the snapshot, or in its stead
	for s := range f.loose {
		if s.seg == seg && s.start >= c.start && s.end <= c.end {
			f.drop(s)
		}
	}
	f.add(&span{seg: seg, start: c.start, end: c.end, rows: c.rows, sec: rec.sec}, false)
}

func (f *ledger) done(rec record) {
	b, ok := decodeDone(rec.payload)
	if !ok {
		return
	}
	if s := f.spans[key(b)]; s != nil && s.end == b.end {
		f.drop(s)
	}
}

// adopt makes what was found the state of the log.
func (l *Log) adopt(found *ledger) {
	for _, s := range found.spans {
		s.recovered = true
		s.seg.open++
		l.stats.Rows += s.rows
		l.stats.Bytes += s.end - s.start
		if found.loose[s] {
			l.uncut = append(l.uncut, s)
		} else {
			l.live = append(l.live, s)
		}
	}
	l.stats.Ranges = len(l.live)
	order := func(a, b *span) int {
		return cmp.Or(cmp.Compare(a.seg.number, b.seg.number), cmp.Compare(a.start, b.start))
	}
	slices.SortFunc(l.live, order)
	slices.SortFunc(l.uncut, order)
	for _, seg := range l.segments {
		l.disk += seg.onDisk
	}
}

// emptySegments are those that earlier openings left with nothing but their
// snapshot. They can go once a newer snapshot is durable.
func (l *Log) emptySegments() []*segment {
	var empty []*segment
	for _, seg := range l.segments {
		if seg.first > 0 && seg.size == seg.first && !seg.damaged {
			empty = append(empty, seg)
		}
	}
	return empty
}
