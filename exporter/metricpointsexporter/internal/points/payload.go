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
	Request       Request

	heads                                            int
	headRuns, headHosts, headMetrics, headUnits      packed
	rowHeads, rowTags, ranks, devices, steps, millis packed
	values                                           []byte

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
	r, err := p.open(data)
	if err != nil {
		return Payload{}, err
	}
	p.Rows = r.length()
	p.heads = r.length()
	r.ok = r.ok && p.heads <= p.Rows // each was made for a row; a short payload cannot claim a long list
	p.strings = r.texts()
	p.tags = r.texts()
	for _, column := range []*packed{&p.headRuns, &p.headHosts, &p.headMetrics, &p.headUnits} {
		*column = r.packed(p.heads)
		r.ok = r.ok && column.allBelow(p.heads, p.strings.Len())
	}
	for _, column := range []*packed{&p.rowHeads, &p.rowTags, &p.ranks, &p.devices, &p.steps, &p.millis} {
		*column = r.packed(p.Rows)
	}
	p.values = r.take(p.Rows * 8)
	if !r.ok || len(r.data) != 0 || !p.strings.valid() || !p.tags.valid() ||
		!p.rowHeads.allBelow(p.Rows, p.heads) || !p.rowTags.allBelow(p.Rows, p.tags.Len()) {
		return Payload{}, errShortPayload
	}
	return p, nil
}

// open reads the head of a payload: what is the same in all its rows.
func (p *Payload) open(data []byte) (reader, error) {
	if len(data) < 2 {
		return reader{}, errShortPayload
	}
	if data[0] != plainVersion && data[0] != requestVersion {
		return reader{}, errors.New("payload of an unknown version")
	}
	r := reader{data: data[1:], ok: true}
	p.SchemaVersion = string(r.take(r.octet()))
	if data[0] == requestVersion {
		copy(p.Request.ID[:], r.take(len(p.Request.ID)))
		p.Request.States = r.take(r.length())
	}
	return r, nil
}

// RequestOf reads no more of a payload than what it says of its request and the version of its schema. It aliases the payload.
func RequestOf(payload []byte) (r Request, schemaVersion string) {
	if len(payload) == 0 || payload[0] != requestVersion {
		return Request{}, ""
	}
	var p Payload
	_, _ = p.open(payload) // one that is not a payload says nothing
	return p.Request, p.SchemaVersion
}

// Strings are the runs, hosts, metrics and units that heads point to.
func (p *Payload) Strings() Texts { return p.strings }

// Tags are the tags_json values that rows point to; number 0 is empty.
func (p *Payload) Tags() Texts { return p.tags }

// Heads is the number of heads.
func (p *Payload) Heads() int { return p.heads }

// Head returns the string indexes of head i.
func (p *Payload) Head(i int) (run, host, metric, unit uint32) {
	return uint32(p.headRuns.at(i)), uint32(p.headHosts.at(i)), uint32(p.headMetrics.at(i)), uint32(p.headUnits.at(i))
}

// RowHead returns the index of row i's head.
func (p *Payload) RowHead(i int) uint32 { return uint32(p.rowHeads.at(i)) }

// RowTags returns the index of row i's tags.
func (p *Payload) RowTags(i int) uint32 { return uint32(p.rowTags.at(i)) }

// Rank returns row i's rank.
func (p *Payload) Rank(i int) uint32 { return uint32(p.ranks.at(i)) }

// Device returns row i's device.
func (p *Payload) Device(i int) uint16 { return uint16(p.devices.at(i)) }

// Step returns row i's step.
func (p *Payload) Step(i int) uint64 { return p.steps.at(i) }

// Millis returns row i's event time in milliseconds since the epoch.
func (p *Payload) Millis(i int) int64 { return int64(p.millis.at(i)) }

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

func (r *reader) packed(n int) packed {
	width := r.octet()
	least := r.take(8)
	switch width {
	case 0, 1, 2, 4, 8:
	default:
		r.ok = false
	}
	data := r.take(n * width)
	if !r.ok {
		return packed{}
	}
	return packed{least: binary.LittleEndian.Uint64(least), width: width, data: data}
}

func (r *reader) texts() Texts {
	n, size := r.length(), r.length()
	return Texts{ends: r.take(n * 4), bytes: r.take(size)}
}
