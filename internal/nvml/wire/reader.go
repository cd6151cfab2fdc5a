package wire

import (
	"encoding/binary"
	"math"
	"time"
)

// reader takes a payload apart. After the first thing that does not fit, bad is set and everything reads as zero.
type reader struct {
	data []byte
	bad  bool
}

func (r *reader) fail() {
	r.data, r.bad = nil, true
}

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.data)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.data = r.data[n:]
	return v
}

func (r *reader) varint() int64 {
	v, n := binary.Varint(r.data)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.data = r.data[n:]
	return v
}

func (r *reader) take(n uint64) []byte {
	if n > uint64(len(r.data)) {
		r.fail()
		return nil
	}
	b := r.data[:n]
	r.data = r.data[n:]
	return b
}

func (r *reader) string() string { return string(r.take(r.uvarint())) }

func (r *reader) byte() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) bool() bool { return r.byte() != 0 }

func (r *reader) float() float64 {
	if b := r.take(8); b != nil {
		return math.Float64frombits(binary.LittleEndian.Uint64(b))
	}
	return 0
}

func (r *reader) int() int { return int(r.varint()) }

func (r *reader) time() time.Time {
	if ns := r.varint(); ns != 0 {
		return time.Unix(0, ns)
	}
	return time.Time{}
}

func (r *reader) duration() time.Duration { return time.Duration(r.varint()) }

// count reads how many elements follow, each of at least so many bytes, so that no length allocates more than its frame
// holds.
func (r *reader) count(smallest int) int {
	n := r.uvarint()
	if n > uint64(len(r.data)/smallest) {
		r.fail()
		return 0
	}
	return int(n)
}

// end returns ErrMalformed unless the payload was read without trouble and to its end.
func (r *reader) end() error {
	if r.bad || len(r.data) > 0 {
		return ErrMalformed
	}
	return nil
}
