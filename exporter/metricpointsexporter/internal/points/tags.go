package points

import (
	"bytes"
	"slices"
	"strings"

	"github.com/pitwall-otel/pitwall/schema/names"
)

// resourceTags are the resource's part of tags_json, rendered once for all points of the resource.
type resourceTags struct {
	text   []byte
	pieces []piece
	// whole is the batch's index of the tags of a point without attributes; rendered is false until one was seen.
	whole    uint32
	rendered bool
	// quarantined says that the schema processor set the resource apart.
	quarantined bool
}

// piece is one `"key":value` of a tags_json in the making. Its text is in the resource's buffer when rendered, else it
// is the attribute with that index, or the extra tag.
type piece struct {
	key        string
	origin     origin
	index      int
	start, end int
}

type origin uint8

// Where two pieces have one key, the earlier origin wins.
const (
	fromExtra origin = iota
	fromPoint
	fromResource
)

// maxRequestTags bounds the tags of one request, in bytes. A histogram repeats its point's tags in every bucket's row, so
// a request of a megabyte could otherwise ask for gigabytes.
const maxRequestTags = 32 << 20

// extraTag is a tag that the encoding itself adds: le or quantile.
type extraTag struct {
	key  string
	text []byte // needs no escaping
}

// startResource renders the configured resource attributes that were just read.
func (e *Encoder) startResource() {
	r := &e.resource
	r.text, r.pieces, r.rendered, r.quarantined = r.text[:0], r.pieces[:0], false, false
	for i := range e.attributes {
		a := &e.attributes[i]
		r.quarantined = r.quarantined || a.key == names.AttributePitwallQuarantineReason
		if _, ok := e.tagged[a.key]; !ok || a.taken {
			continue
		}
		start := len(r.text)
		r.text = e.appendMember(r.text, a.key, a.value)
		r.pieces = append(r.pieces, piece{key: a.key, origin: fromResource, start: start, end: len(r.text)})
	}
	sortPieces(r.pieces)
	// The keys alias the resource, which outlives every point of it.
}

// tags renders the tags of the point whose attributes were just read and returns their place in the batch.
func (e *Encoder) tags(extra extraTag) uint32 {
	if extra.key == "" && e.noneLeft() {
		if !e.resource.rendered {
			e.pieces = append(e.pieces[:0], e.resource.pieces...)
			e.resource.whole, e.resource.rendered = e.renderTags(extra), true
		}
		return e.resource.whole
	}
	e.pieces = e.pieces[:0]
	if extra.key != "" {
		e.pieces = append(e.pieces, piece{key: extra.key, origin: fromExtra})
	}
	if len(e.batch.tags.bytes) > maxRequestTags {
		e.counts.Truncated++
		return e.renderTags(extra)
	}
	for i := range e.attributes {
		if !e.attributes[i].taken {
			e.pieces = append(e.pieces, piece{key: e.attributes[i].key, origin: fromPoint, index: i})
		}
	}
	e.pieces = append(e.pieces, e.resource.pieces...)
	sortPieces(e.pieces)
	return e.renderTags(extra)
}

func (e *Encoder) noneLeft() bool {
	for i := range e.attributes {
		if !e.attributes[i].taken {
			return false
		}
	}
	return true
}

// insertionSortLimit is where the few tags of a usual point end; it spares them the generic sort.
const insertionSortLimit = 24

func sortPieces(pieces []piece) {
	if len(pieces) > insertionSortLimit {
		slices.SortStableFunc(pieces, comparePieces)
		return
	}
	for i := 1; i < len(pieces); i++ {
		for j := i; j > 0 && comparePieces(pieces[j], pieces[j-1]) < 0; j-- {
			pieces[j], pieces[j-1] = pieces[j-1], pieces[j]
		}
	}
}

func comparePieces(a, b piece) int {
	if c := strings.Compare(a.key, b.key); c != 0 {
		return c
	}
	return int(a.origin) - int(b.origin)
}

func (e *Encoder) renderTags(extra extraTag) uint32 {
	if len(e.pieces) == 0 {
		return 0
	}
	t := &e.batch.tags
	begin := len(t.bytes)
	t.bytes = append(t.bytes, '{')
	for i, p := range e.pieces {
		if i > 0 && e.pieces[i-1].key == p.key {
			continue
		}
		before := len(t.bytes)
		if before > begin+1 {
			t.bytes = append(t.bytes, ',')
		}
		switch p.origin {
		case fromExtra:
			t.bytes = append(appendString(append(t.bytes, '"'), p.key), `":`...)
			t.bytes = append(append(append(t.bytes, '"'), extra.text...), '"')
		case fromPoint:
			t.bytes = e.appendMember(t.bytes, p.key, e.attributes[p.index].value)
		default:
			t.bytes = append(t.bytes, e.resource.text[p.start:p.end]...)
		}
		if len(t.bytes)-begin >= e.settings.MaxTagsBytes && p.origin != fromExtra {
			t.bytes = t.bytes[:before]
			e.counts.Truncated++
		}
	}
	t.bytes = append(t.bytes, '}')
	// Points of one series often follow each other; their tags need to stand only once.
	if previous := len(t.ends) - 1; previous > 0 && bytes.Equal(t.last(), t.bytes[begin:]) {
		t.bytes = t.bytes[:begin]
		return uint32(previous)
	}
	return t.close()
}
