package block

import (
	"cmp"
	"slices"

	"github.com/ClickHouse/ch-go/proto"
)

// maxRemembered bounds the strings that a dictionary keeps between ranges.
const maxRemembered = 1 << 16

// dictionary is one LowCardinality(String) column in the making: the distinct strings of the range, and each row's.
type dictionary struct {
	known    map[string]*word
	sequence uint64
	words    []*word
	rows     []uint32 // per row: the word's id, in order of arrival
	remap    []uint32 // per string of the payload being added: id+1, 0 when not yet met
	ordered  []uint32 // id → position in the sorted dictionary
	column   proto.ColLowCardinalityRaw
	index    proto.ColStr
}

type word struct {
	text     string
	sequence uint64
	id       uint32
}

func (d *dictionary) reset(number uint64) {
	if d.known == nil || len(d.known) > maxRemembered {
		d.known = make(map[string]*word)
	}
	d.sequence = number
	d.words, d.rows = d.words[:0], d.rows[:0]
}

// startPayload forgets the string indexes of the payload before.
func (d *dictionary) startPayload(texts int) {
	d.remap = slices.Grow(d.remap[:0], texts)[:texts]
	clear(d.remap)
}

// id returns the dictionary's id of the payload's string i.
func (d *dictionary) id(i uint32, text []byte) uint32 {
	if id := d.remap[i]; id != 0 {
		return id - 1
	}
	w := d.known[string(text)]
	if w == nil {
		w = &word{text: string(text)}
		d.known[w.text] = w
	}
	if w.sequence != d.sequence {
		w.sequence, w.id = d.sequence, uint32(len(d.words))
		d.words = append(d.words, w)
	}
	d.remap[i] = w.id + 1
	return w.id
}

// order sorts the words; afterwards ordered[id] compares as the strings do.
func (d *dictionary) order() {
	slices.SortFunc(d.words, func(a, b *word) int { return cmp.Compare(a.text, b.text) })
	d.ordered = slices.Grow(d.ordered[:0], len(d.words))[:len(d.words)]
	for position, w := range d.words {
		d.ordered[w.id] = uint32(position)
	}
}

// text is a row's string, once the words are ordered.
func (d *dictionary) text(row uint32) string { return d.words[d.ordered[d.rows[row]]].text }

// fill makes the column of the given rows.
func (d *dictionary) fill(rows []uint32) proto.ColInput {
	d.index.Reset()
	for _, w := range d.words {
		d.index.Append(w.text)
	}
	d.column.Index = &d.index
	d.column.Keys8, d.column.Keys16, d.column.Keys32 = d.column.Keys8[:0], d.column.Keys16[:0], d.column.Keys32[:0]
	switch {
	case len(d.words) <= 1<<8:
		d.column.Key = proto.KeyUInt8
		for _, row := range rows {
			d.column.Keys8 = append(d.column.Keys8, uint8(d.ordered[d.rows[row]]))
		}
	case len(d.words) <= 1<<16:
		d.column.Key = proto.KeyUInt16
		for _, row := range rows {
			d.column.Keys16 = append(d.column.Keys16, uint16(d.ordered[d.rows[row]]))
		}
	default:
		d.column.Key = proto.KeyUInt32
		for _, row := range rows {
			d.column.Keys32 = append(d.column.Keys32, d.ordered[d.rows[row]])
		}
	}
	return &d.column
}
