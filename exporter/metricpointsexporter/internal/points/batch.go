package points

import (
	"encoding/binary"
	"math"
	"slices"
)

// The first byte of every payload.
const (
	plainVersion   = 1
	requestVersion = 2 // a Request stands behind the schema version
)

// Request is what a payload says of its request beside the rows.
type Request struct {
	ID     BatchID
	States []byte // of package delta, for when the payload is on disk
}

func (r Request) empty() bool { return r.ID == (BatchID{}) && len(r.States) == 0 }

// BatchID is what remains of the id that a client gave its request; zero without one.
type BatchID [16]byte

// head is what rows of one series family share; the fields index the batch's strings.
type head struct{ run, host, metric, unit uint32 }

// heads are the batch's heads, by column.
type heads struct{ run, host, metric, unit []uint32 }

func (h *heads) reset() {
	h.run, h.host, h.metric, h.unit = h.run[:0], h.host[:0], h.metric[:0], h.unit[:0]
}

func (h *heads) append(v head) {
	h.run, h.host = append(h.run, v.run), append(h.host, v.host)
	h.metric, h.unit = append(h.metric, v.metric), append(h.unit, v.unit)
}

// texts is a list of strings in one buffer. ends[i] is where string i stops.
type texts struct {
	bytes []byte
	ends  []uint32
}

func (t *texts) reset() { t.bytes, t.ends = t.bytes[:0], t.ends[:0] }

// close ends the string that was appended to t.bytes and returns its index.
func (t *texts) close() uint32 {
	t.ends = append(t.ends, uint32(len(t.bytes)))
	return uint32(len(t.ends) - 1)
}

func (t *texts) last() []byte {
	n := len(t.ends)
	start := uint32(0)
	if n > 1 {
		start = t.ends[n-2]
	}
	return t.bytes[start:t.ends[n-1]]
}

func (t *texts) appendTo(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(t.ends)))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(t.bytes)))
	for _, end := range t.ends {
		dst = binary.LittleEndian.AppendUint32(dst, end)
	}
	return append(dst, t.bytes...)
}

// batch holds the rows of one request as columns.
type batch struct {
	strings texts
	tags    texts
	heads   heads
	last    head // of heads

	rowHeads, rowTags, ranks []uint32
	devices                  []uint16
	steps                    []uint64
	millis                   []int64
	values                   []float64
}

func (b *batch) reset() {
	b.strings.reset()
	b.tags.reset()
	b.tags.close() // index 0: no tags
	b.heads.reset()
	b.rowHeads, b.rowTags, b.ranks = b.rowHeads[:0], b.rowTags[:0], b.ranks[:0]
	b.devices, b.steps, b.millis, b.values = b.devices[:0], b.steps[:0], b.millis[:0], b.values[:0]
}

// appendTo packs the batch behind dst, in the order that ParsePayload reads it back.
func (b *batch) appendTo(dst []byte, schemaVersion string, r Request) []byte {
	le := binary.LittleEndian
	version := byte(plainVersion)
	if !r.empty() {
		version = requestVersion
	}
	const most = 7*4 + 4 + 3*8 // bytes of a row and a head of its own, nothing packed
	dst = slices.Grow(dst, len(b.values)*most+len(b.strings.bytes)+len(b.tags.bytes)+4*len(b.strings.ends)+4*len(b.tags.ends)+len(r.States)+512)
	dst = append(dst, version, byte(len(schemaVersion)))
	dst = append(dst, schemaVersion...)
	if version == requestVersion {
		dst = append(dst, r.ID[:]...)
		dst = le.AppendUint32(dst, uint32(len(r.States)))
		dst = append(dst, r.States...)
	}
	dst = le.AppendUint32(dst, uint32(len(b.values)))
	dst = le.AppendUint32(dst, uint32(len(b.heads.run)))
	dst = b.strings.appendTo(dst)
	dst = b.tags.appendTo(dst)
	for _, column := range [][]uint32{b.heads.run, b.heads.host, b.heads.metric, b.heads.unit, b.rowHeads, b.rowTags, b.ranks} {
		dst = appendPacked(dst, column)
	}
	dst = appendPacked(dst, b.devices)
	dst = appendPacked(dst, b.steps)
	dst = appendPacked(dst, b.millis)
	for _, v := range b.values {
		dst = le.AppendUint64(dst, math.Float64bits(v))
	}
	return dst
}
