package points

import (
	"encoding/binary"
	"errors"
	"math"
)

var errShortPayload = errors.New("payload ends early or points outside itself")

// Payload reads what an Encoder packed, without copying.
type Payload struct {
	Rows          int
	SchemaVersion string

	heads, millis, values, steps, rowHeads, rowTags, ranks, devices []byte

	strings, tags Texts
}

// Texts is a list of strings inside a payload.
type Texts struct {
	ends, bytes []byte
}

// Len is the number of strings.
func (t Texts) Len() int { return len(t.ends) / 4 }

// Span is where string i lies in the text that AppendAll appends.
func (t Texts) Span(i int) (start, end uint32) {
	if i > 0 {
		start = binary.LittleEndian.Uint32(t.ends[i*4-4:])
	}
	return start, binary.LittleEndian.Uint32(t.ends[i*4:])
}

// At returns string i; it aliases the payload.
func (t Texts) At(i int) []byte {
	start, end := t.Span(i)
	return t.bytes[start:end]
}

// AppendAll appends all strings, one behind the other.
func (t Texts) AppendAll(dst []byte) []byte { return append(dst, t.bytes...) }

func (t Texts) valid() bool {
	previous := uint32(0)
	for i := 0; i < len(t.ends); i += 4 {
		end := binary.LittleEndian.Uint32(t.ends[i:])
		if end < previous || int(end) > len(t.bytes) {
			return false
		}
		previous = end
	}
	return true
}

// ParsePayload checks that everything in the payload points inside it, so that reading rows needs no further checks.
func ParsePayload(data []byte) (Payload, error) {
	var p Payload
	if len(data) < 2 {
		return p, errShortPayload
	}
	if data[0] != payloadVersion {
		return p, errors.New("payload of an unknown version")
	}
	r := reader{data: data[1:], ok: true}
	p.SchemaVersion = string(r.take(r.octet()))
	p.Rows = r.length()
	heads := r.length()
	p.strings = r.texts()
	p.tags = r.texts()
	p.heads = r.take(heads * 16)
	p.millis = r.take(p.Rows * 8)
	p.values = r.take(p.Rows * 8)
	p.steps = r.take(p.Rows * 8)
	p.rowHeads = r.take(p.Rows * 4)
	p.rowTags = r.take(p.Rows * 4)
	p.ranks = r.take(p.Rows * 4)
	p.devices = r.take(p.Rows * 2)
	if !r.ok || len(r.data) != 0 || !p.strings.valid() || !p.tags.valid() {
		return Payload{}, errShortPayload
	}
	if !allBelow(p.heads, p.strings.Len()) || !allBelow(p.rowHeads, heads) || !allBelow(p.rowTags, p.tags.Len()) {
		return Payload{}, errShortPayload
	}
	return p, nil
}

func allBelow(indexes []byte, limit int) bool {
	for i := 0; i+4 <= len(indexes); i += 4 {
		if int(binary.LittleEndian.Uint32(indexes[i:])) >= limit {
			return false
		}
	}
	return true
}

// Strings are the runs, hosts, metrics and units that heads point to.
func (p *Payload) Strings() Texts { return p.strings }

// Tags are the tags_json values that rows point to; number 0 is empty.
func (p *Payload) Tags() Texts { return p.tags }

// Heads is the number of heads.
func (p *Payload) Heads() int { return len(p.heads) / 16 }

// Head returns the string indexes of head i.
func (p *Payload) Head(i int) (run, host, metric, unit uint32) {
	h := p.heads[i*16 : i*16+16]
	le := binary.LittleEndian
	return le.Uint32(h), le.Uint32(h[4:]), le.Uint32(h[8:]), le.Uint32(h[12:])
}

// RowHead and RowTags return the indexes of row i's head and tags.
func (p *Payload) RowHead(i int) uint32 { return binary.LittleEndian.Uint32(p.rowHeads[i*4:]) }

// RowTags returns the index of row i's tags.
func (p *Payload) RowTags(i int) uint32 { return binary.LittleEndian.Uint32(p.rowTags[i*4:]) }

// Rank returns row i's rank.
func (p *Payload) Rank(i int) uint32 { return binary.LittleEndian.Uint32(p.ranks[i*4:]) }

// Device returns row i's device.
func (p *Payload) Device(i int) uint16 { return binary.LittleEndian.Uint16(p.devices[i*2:]) }

// Step returns row i's step.
func (p *Payload) Step(i int) uint64 { return binary.LittleEndian.Uint64(p.steps[i*8:]) }

// Millis returns row i's event time in milliseconds since the epoch.
func (p *Payload) Millis(i int) int64 { return int64(binary.LittleEndian.Uint64(p.millis[i*8:])) }

// Value returns row i's value.
func (p *Payload) Value(i int) float64 {
	return math.Float64frombits(binary.LittleEndian.Uint64(p.values[i*8:]))
}

// reader takes pieces off the front; once something is missing, ok stays false and every piece is empty.
type reader struct {
	data []byte
	ok   bool
}

func (r *reader) take(n int) []byte {
	if !r.ok || n < 0 || n > len(r.data) {
		r.ok = false
		return nil
	}
	piece := r.data[:n:n]
	r.data = r.data[n:]
	return piece
}

func (r *reader) octet() int {
	piece := r.take(1)
	if len(piece) < 1 {
		return 0
	}
	return int(piece[0])
}

func (r *reader) length() int {
	piece := r.take(4)
	if len(piece) < 4 {
		return 0
	}
	return int(binary.LittleEndian.Uint32(piece))
}

func (r *reader) texts() Texts {
	n, size := r.length(), r.length()
	return Texts{ends: r.take(n * 4), bytes: r.take(size)}
}
