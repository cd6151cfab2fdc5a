package points

import (
	"encoding/binary"
	"math"
)

// payloadVersion is the first byte of every payload.
const payloadVersion = 1

// head is what rows of one series family share; the fields index the batch's strings.
type head struct{ run, host, metric, unit uint32 }

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

func (t *texts) size() int { return 8 + len(t.ends)*4 + len(t.bytes) }

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
	heads   []head

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
	b.heads = b.heads[:0]
	b.rowHeads, b.rowTags, b.ranks = b.rowHeads[:0], b.rowTags[:0], b.ranks[:0]
	b.devices, b.steps, b.millis, b.values = b.devices[:0], b.steps[:0], b.millis[:0], b.values[:0]
}

// rowBytes is the size of one row's columns in a payload.
const rowBytes = 3*4 + 2 + 3*8

// appendTo packs the batch behind dst, in the order that Payload reads it back.
func (b *batch) appendTo(dst []byte, schemaVersion string) []byte {
	rows := len(b.values)
	if need := 16 + len(schemaVersion) + b.strings.size() + b.tags.size() + len(b.heads)*16 + rows*rowBytes; cap(dst)-len(dst) < need {
		grown := make([]byte, len(dst), len(dst)+need+need/4)
		copy(grown, dst)
		dst = grown
	}
	le := binary.LittleEndian
	dst = append(dst, payloadVersion, byte(len(schemaVersion)))
	dst = append(dst, schemaVersion...)
	dst = le.AppendUint32(dst, uint32(rows))
	dst = le.AppendUint32(dst, uint32(len(b.heads)))
	dst = b.strings.appendTo(dst)
	dst = b.tags.appendTo(dst)
	for _, h := range b.heads {
		dst = le.AppendUint32(dst, h.run)
		dst = le.AppendUint32(dst, h.host)
		dst = le.AppendUint32(dst, h.metric)
		dst = le.AppendUint32(dst, h.unit)
	}
	for _, v := range b.millis {
		dst = le.AppendUint64(dst, uint64(v))
	}
	for _, v := range b.values {
		dst = le.AppendUint64(dst, math.Float64bits(v))
	}
	for _, v := range b.steps {
		dst = le.AppendUint64(dst, v)
	}
	dst = appendUint32s(dst, b.rowHeads)
	dst = appendUint32s(dst, b.rowTags)
	dst = appendUint32s(dst, b.ranks)
	for _, v := range b.devices {
		dst = le.AppendUint16(dst, v)
	}
	return dst
}

func appendUint32s(dst []byte, values []uint32) []byte {
	for _, v := range values {
		dst = binary.LittleEndian.AppendUint32(dst, v)
	}
	return dst
}
