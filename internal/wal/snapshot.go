package wal

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
)

type logID [16]byte

func (id logID) String() string { return hex.EncodeToString(id[:]) }

// bounds name a range: no two ranges of a log have the same.
type bounds struct {
	segment    uint64
	start, end int64
}

type snapshotSegment struct{ number, nonce uint64 }

func newNonce() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return binary.LittleEndian.Uint64(b[:])
}

type snapshotRange struct {
	bounds
	rows int64
	sec  uint32
}

// snapshot is the payload of a segment's first record; see format.go.
type snapshot struct {
	id       logID
	own      snapshotSegment
	segments []snapshotSegment
	ranges   []snapshotRange
	carried  []byte
}

var errSnapshot = errors.New("malformed segment snapshot")

const (
	snapshotRangeBytes   = 36
	snapshotSegmentBytes = 16
)

func (s *snapshot) encode() []byte {
	le := binary.LittleEndian
	b := append([]byte(nil), s.id[:]...)
	b = le.AppendUint32(b, uint32(1+len(s.segments)))
	for _, seg := range append([]snapshotSegment{s.own}, s.segments...) {
		b = le.AppendUint64(b, seg.number)
		b = le.AppendUint64(b, seg.nonce)
	}
	b = le.AppendUint32(b, uint32(len(s.ranges)))
	for _, r := range s.ranges {
		b = le.AppendUint64(b, r.segment)
		b = le.AppendUint64(b, uint64(r.start))
		b = le.AppendUint64(b, uint64(r.end))
		b = le.AppendUint64(b, uint64(r.rows))
		b = le.AppendUint32(b, r.sec)
	}
	if len(b)+len(s.carried) <= maxPayload { // else it is forgotten, not the ranges
		b = append(b, s.carried...)
	}
	return appendControl(nil, 0, 0, kindSnapshot, 0, b)
}

func decodeSnapshot(b []byte) (*snapshot, error) {
	le := binary.LittleEndian
	s := &snapshot{}
	if len(b) < len(s.id)+4 {
		return nil, errSnapshot
	}
	copy(s.id[:], b)
	b = b[len(s.id):]
	n := int(le.Uint32(b))
	b = b[4:]
	if n == 0 || len(b) < n*snapshotSegmentBytes+4 {
		return nil, errSnapshot
	}
	for i := range n {
		seg := snapshotSegment{le.Uint64(b), le.Uint64(b[8:])}
		switch {
		case i == 0:
			s.own = seg
		case seg.number < s.own.number:
			s.segments = append(s.segments, seg)
		default:
			return nil, errSnapshot
		}
		b = b[snapshotSegmentBytes:]
	}
	n = int(le.Uint32(b))
	b = b[4:]
	if len(b) < n*snapshotRangeBytes {
		return nil, errSnapshot
	}
	for range n {
		r := snapshotRange{
			bounds: bounds{le.Uint64(b), int64(le.Uint64(b[8:])), int64(le.Uint64(b[16:]))},
			rows:   int64(le.Uint64(b[24:])),
			sec:    le.Uint32(b[32:]),
		}
		if r.start < 0 || r.end <= r.start || r.rows < 0 {
			return nil, errSnapshot
		}
		s.ranges = append(s.ranges, r)
		b = b[snapshotRangeBytes:]
	}
	if len(b) > 0 {
		s.carried = b
	}
	return s, nil
}

const (
	markBytes = 24
	cutBytes  = markBytes + len(logID{}) + 8
)

// cut is a range with all that its token is made of, so that damage to a snapshot gives no range another token.
type cut struct {
	bounds
	rows  int64
	id    logID
	nonce uint64
}

// append and appendDone append whole records for offset off.
func (c cut) append(dst []byte, seed uint32, off int64, sec uint32) []byte {
	le := binary.LittleEndian
	p := make([]byte, 0, cutBytes)
	p = le.AppendUint64(p, uint64(c.start))
	p = le.AppendUint64(p, uint64(c.end))
	p = le.AppendUint64(p, uint64(c.rows))
	p = append(p, c.id[:]...)
	p = le.AppendUint64(p, c.nonce)
	return appendControl(dst, seed, off, kindCut, sec, p)
}

func decodeCut(segment uint64, p []byte) (c cut, ok bool) {
	if len(p) != cutBytes {
		return c, false
	}
	le := binary.LittleEndian
	c = cut{
		bounds: bounds{segment, int64(le.Uint64(p)), int64(le.Uint64(p[8:]))},
		rows:   int64(le.Uint64(p[16:])),
		id:     logID(p[markBytes:]),
		nonce:  le.Uint64(p[markBytes+len(logID{}):]),
	}
	return c, c.start >= 0 && c.end > c.start && c.rows >= 0
}

func appendDone(dst []byte, seed uint32, off int64, b bounds) []byte {
	var p [markBytes]byte
	binary.LittleEndian.PutUint64(p[:], b.segment)
	binary.LittleEndian.PutUint64(p[8:], uint64(b.start))
	binary.LittleEndian.PutUint64(p[16:], uint64(b.end))
	return appendControl(dst, seed, off, kindDone, 0, p[:])
}

func decodeDone(p []byte) (bounds, bool) {
	if len(p) != markBytes {
		return bounds{}, false
	}
	le := binary.LittleEndian
	return bounds{le.Uint64(p), int64(le.Uint64(p[8:])), int64(le.Uint64(p[16:]))}, true
}
