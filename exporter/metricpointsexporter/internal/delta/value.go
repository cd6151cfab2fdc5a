package delta

import (
	"encoding/binary"
	"errors"
	"math"
)

// value is what a cumulative histogram said at one time. An explicit histogram has its buckets in positive, from offset 0.
type value struct {
	start, at uint64 // nanoseconds since 1970; start 0 if unknown
	count     uint64
	sum       float64
	hasSum    bool
	refused   bool // only requests that the log did not take had it
	// layout is what values must have in common to be compared: the explicit bounds, or the zero bucket's threshold.
	layout             uint64
	scale              int32
	zero               uint64
	positive, negative buckets
}

// buckets are counts of neighbouring buckets, the first of which has the index offset.
type buckets struct {
	offset int64
	counts []uint64
}

func (b buckets) end() int64 { return b.offset + int64(len(b.counts)) }

// at is the count of the bucket with that index.
func (b buckets) at(index int64) uint64 {
	if index < b.offset || index >= b.end() {
		return 0
	}
	return b.counts[index-b.offset]
}

// coarser joins neighbouring buckets, two for each scale that is lost.
func (b buckets) coarser(scales int64) buckets {
	if scales <= 0 || len(b.counts) == 0 {
		return b
	}
	shift := min(scales, 63)
	first, last := b.offset>>shift, (b.end()-1)>>shift
	joined := buckets{offset: first, counts: make([]uint64, last-first+1)}
	for i, n := range b.counts {
		joined.counts[(b.offset+int64(i))>>shift-first] += n
	}
	return joined
}

// since is what came on top of before; false if a count went down. Its buckets are those of b.
func (b buckets) since(before buckets) (buckets, bool) {
	for i, n := range before.counts {
		if n > b.at(before.offset+int64(i)) {
			return buckets{}, false
		}
	}
	grown := buckets{offset: b.offset, counts: make([]uint64, len(b.counts))}
	for i, n := range b.counts {
		grown.counts[i] = n - before.at(b.offset+int64(i))
	}
	return grown, true
}

// comparable reports whether both have the same buckets, or v has coarser ones.
func (v *value) comparable(before *value) bool {
	return v.layout == before.layout && v.scale <= before.scale
}

// since is what came on top of before, which must be comparable; false if a count went down, so all of v is new.
func (v *value) since(before *value) (value, bool) {
	lost := int64(before.scale) - int64(v.scale)
	positive, ok := v.positive.since(before.positive.coarser(lost))
	negative, ok2 := v.negative.since(before.negative.coarser(lost))
	if !ok || !ok2 || v.count < before.count || v.zero < before.zero {
		return value{}, false
	}
	grown := *v
	grown.start = before.at
	grown.count -= before.count
	grown.zero -= before.zero
	grown.sum -= before.sum
	grown.hasSum = v.hasSum && before.hasSum
	grown.positive, grown.negative = positive, negative
	return grown, true
}

// encode writes v as it is kept and stored; parseValue reads it.
func (v *value) encode() []byte {
	le := binary.LittleEndian
	dst := le.AppendUint64(nil, v.start)
	dst = le.AppendUint64(dst, v.at)
	dst = le.AppendUint64(dst, v.layout)
	dst = append(dst, flag(v.hasSum, hasSum)|flag(v.refused, refused))
	dst = le.AppendUint64(dst, math.Float64bits(v.sum))
	dst = binary.AppendUvarint(dst, v.count)
	dst = binary.AppendUvarint(dst, v.zero)
	dst = binary.AppendVarint(dst, int64(v.scale))
	for _, b := range []buckets{v.positive, v.negative} {
		dst = binary.AppendVarint(dst, b.offset)
		dst = binary.AppendUvarint(dst, uint64(len(b.counts)))
		for _, n := range b.counts {
			dst = binary.AppendUvarint(dst, n)
		}
	}
	return dst
}

const (
	hasSum byte = 1 << iota
	refused
)

func flag(set bool, bit byte) byte {
	if set {
		return bit
	}
	return 0
}

var errMalformed = errors.New("malformed state of a histogram")

func parseValue(data []byte) (v value, err error) {
	r := reader{data: data}
	v.start, v.at, v.layout = r.fixed(), r.fixed(), r.fixed()
	flags := r.take(1)
	v.sum = math.Float64frombits(r.fixed())
	v.count, v.zero = r.uvarint(), r.uvarint()
	scale := r.varint()
	v.scale = int32(scale)
	for _, b := range []*buckets{&v.positive, &v.negative} {
		b.offset = r.varint()
		n := r.uvarint()
		if n > uint64(len(r.data)) || int64(int32(b.offset)) != b.offset { // a count takes a byte at least
			return value{}, errMalformed
		}
		if n > 0 {
			b.counts = make([]uint64, n)
		}
		for i := range b.counts {
			b.counts[i] = r.uvarint()
		}
	}
	if r.bad || len(r.data) > 0 || int64(v.scale) != scale || flags[0] > hasSum|refused {
		return value{}, errMalformed
	}
	v.hasSum, v.refused = flags[0]&hasSum != 0, flags[0]&refused != 0
	return v, nil
}
