package exposition

import (
	"bytes"
	"hash/maphash"
	"math"
	"strconv"
)

// Known is a series that an earlier body of the same server had: instead of its hundred bytes their number and hash.
type Known struct {
	Hash  uint64
	Bytes int
	Type  Type
	Part  Part
}

// Memory is what a reader keeps of one body for the next of the same server: its metadata lines. Pages hardly change but
// for their values, so a line that begins with the series that stood there before, below the same TYPE lines, needs no
// lexer. That is most of the time that reading takes.
type Memory struct {
	seed        maphash.Seed
	openMetrics bool
	text        []byte
	lines       []metadataLine
	samples     int // as far as lines hold: up to the first bad line
}

// NewMemory returns one that holds nothing.
func NewMemory() Memory { return Memory{seed: maphash.MakeSeed()} }

// Hash of a series. Its seed is the memory's own, so that no server can make two series with the same.
func (m *Memory) Hash(series []byte) uint64 { return maphash.Bytes(m.seed, series) }

// maxMemory is ten times the metadata of an engine with all its options.
const maxMemory = 256 << 10

// metadataLine is a line beginning with #.
type metadataLine struct {
	end     int // in text
	samples int // how many other lines stand before it
}

// Follow makes the reader use and renew the memory. Expect returns the series that stood, in the body before, after the
// one that Next returned last; a zero Known when there is none. It is called before each sample. Samples that
// are as expected have no Family, Name, Help and Unit.
func (r *Reader) Follow(m *Memory, expect func() Known) {
	r.memory, r.expect = m, expect
	r.following = m.samples > 0 && m.openMetrics == r.openMetrics && r.err == nil
}

// follow advances to the next sample while the body is like the one before. When it is not, it leaves the rest to Next.
func (r *Reader) follow() bool {
	for r.pos < len(r.body) {
		rest := r.body[r.pos:]
		switch rest[0] {
		case '\n':
			r.pos++
			continue
		case '#':
			if !r.metadataDue() || !r.sameMetadata(rest) {
				r.unfollow()
				return false
			}
			continue
		}
		known := r.expect()
		n := known.Bytes
		if r.followed == r.memory.samples || r.metadataDue() || n == 0 || n >= len(rest) || rest[n] != ' ' || r.samples == r.limits.Samples ||
			r.memory.Hash(rest[:n]) != known.Hash {
			break
		}
		text := rest[n+1 : n+1+bytes.IndexByte(rest[n+1:], '\n')]
		value, ok := number(text)
		if !ok {
			break
		}
		r.pos += n + 1 + len(text) + 1
		r.samples++
		r.followed++
		r.sample = Sample{Type: known.Type, Part: known.Part, Series: rest[:n:n], Value: value}
		r.family = -1
		return true
	}
	r.unfollow()
	return false
}

// metadataDue says whether a metadata line stood here in the body before.
func (r *Reader) metadataDue() bool {
	return r.metadata < len(r.memory.lines) && r.memory.lines[r.metadata].samples == r.followed
}

func (r *Reader) sameMetadata(rest []byte) bool {
	m, start := r.memory, 0
	if r.metadata > 0 {
		start = m.lines[r.metadata-1].end
	}
	line := m.text[start:m.lines[r.metadata].end]
	if !bytes.HasPrefix(rest, line) {
		return false
	}
	r.pos += len(line)
	r.metadata++
	return true
}

// unfollow brings the families to the state that reading every line would have left them in.
func (r *Reader) unfollow() {
	r.following = false
	r.name = nil
	if r.pos == len(r.body) || r.metadata == 0 {
		return
	}
	pos := r.pos
	body := r.body
	r.body, r.pos = r.memory.text[:r.memory.lines[r.metadata-1].end], 0
	for r.read() {
	}
	r.body, r.pos, r.parser = body, pos, nil
}

// remember renews the memory at the end of a body that was not as expected, with the lines above its first bad one: what
// is remembered is read without looking for such.
func (r *Reader) remember() {
	m := r.memory
	if m == nil || r.bad == (Bad{}) && r.followed == r.samples && r.metadata == len(m.lines) && r.followed == m.samples {
		return
	}
	*m = Memory{seed: m.seed, openMetrics: r.openMetrics, text: m.text[:0], lines: m.lines[:0]}
	body := r.body
	if r.bad != (Bad{}) {
		body = body[:bytes.LastIndexByte(body[:r.good], '\n')+1]
	}
	for line := range bytes.Lines(body) {
		switch line[0] {
		case '#':
			m.text = append(m.text, line...)
			m.lines = append(m.lines, metadataLine{end: len(m.text), samples: m.samples})
		case '\n':
		default:
			m.samples++
		}
	}
	if len(m.text) > maxMemory {
		*m = Memory{seed: m.seed}
	}
}

// number reads what textparse reads as a value, if there is nothing but the value. False says nothing about the line.
func number(text []byte) (float64, bool) {
	for _, c := range text {
		switch c {
		case ' ', '\t', 'p', 'P', '_', 'x', 'X':
			return 0, false
		}
	}
	value, err := strconv.ParseFloat(string(text), 64)
	if math.IsNaN(value) {
		value = math.NaN() // one of many
	}
	return value, err == nil
}
