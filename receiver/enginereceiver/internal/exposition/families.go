package exposition

import (
	"bytes"
	"hash/maphash"
)

// family is what TYPE lines said under one name.
type family struct {
	name  []byte
	kind  Type
	typed bool
}

// families finds the family that a sample belongs to. Names are compared with colon and underscore as the same letter:
// client_python 0.23 to 0.25 keeps the colon in metadata and loses it in samples when it escapes for OpenMetrics.
type families struct {
	list    []family
	index   map[uint64]int
	seed    maphash.Seed
	limit   int
	current int // of the last TYPE line: where nearly all samples belong
	// openMetrics: the TYPE line of a counter lacks the _total of its samples.
	openMetrics bool
	folded      []byte
	counter     []byte
}

func newFamilies(limit int, openMetrics bool) families {
	return families{
		index: make(map[uint64]int), seed: maphash.MakeSeed(),
		limit: limit, current: -1, openMetrics: openMetrics,
	}
}

// declare returns the family of a TYPE line's name; nil when there are too many.
func (f *families) declare(name []byte) *family {
	key := f.key(name)
	if i, ok := f.index[key]; ok {
		return &f.list[i]
	}
	if len(f.list) >= f.limit {
		return nil
	}
	f.index[key] = len(f.list)
	f.list = append(f.list, family{name: name})
	return &f.list[len(f.list)-1]
}

// setType reports false when the family had another type.
func (f *families) setType(name []byte, kind Type) (declared, agrees bool) {
	fam := f.declare(name)
	if fam == nil {
		return false, true
	}
	agrees = !fam.typed || fam.kind == kind
	fam.kind, fam.typed = kind, true
	f.current = f.index[f.key(name)]
	return true, agrees
}

func (f *families) key(name []byte) uint64 {
	f.folded = append(f.folded[:0], name...)
	for i, c := range f.folded {
		if c == ':' {
			f.folded[i] = '_'
		}
	}
	return maphash.Bytes(f.seed, f.folded)
}

// find returns the index of the family of that name which has a TYPE line, or -1.
func (f *families) find(name []byte) int {
	if i, ok := f.index[f.key(name)]; ok && f.list[i].typed {
		return i
	}
	return -1
}

// resolve says which family a sample of that name belongs to (-1 for none), as which part, and under what name.
func (f *families) resolve(name []byte) (i int, part Part, family []byte) {
	if base, ok := bytes.CutSuffix(name, []byte("_created")); ok {
		// First of all: in the text format the start time has a TYPE line of its own, gauge.
		if i, family := f.created(base); i >= 0 {
			return i, Created, family
		}
	}
	if f.current >= 0 {
		if rest, ok := cutFolded(name, f.list[f.current].name); ok {
			if part, ok := partOf(f.list[f.current].kind, rest); ok {
				return f.current, part, familyName(name, rest, part)
			}
		}
	}
	if i := f.find(name); i >= 0 {
		return i, Value, name
	}
	cut := bytes.LastIndexByte(name, '_')
	if cut <= 0 {
		return -1, Value, name
	}
	if i := f.find(name[:cut]); i >= 0 {
		if part, ok := partOf(f.list[i].kind, name[cut:]); ok {
			return i, part, familyName(name, name[cut:], part)
		}
	}
	return -1, Value, name
}

// created finds the family whose start time base_created is.
func (f *families) created(base []byte) (i int, family []byte) {
	f.counter = append(append(f.counter[:0], base...), "_total"...)
	if i := f.find(f.counter); i >= 0 && f.list[i].kind == Counter {
		return i, f.counter
	}
	i = f.find(base)
	if i < 0 {
		return -1, nil
	}
	switch f.list[i].kind {
	case Histogram, Summary:
		return i, base
	case Counter:
		if f.openMetrics {
			return i, f.counter
		}
		return i, base
	default:
		return -1, nil
	}
}

// partOf says what a sample is whose name goes on with rest after that of a family of this type.
func partOf(kind Type, rest []byte) (Part, bool) {
	switch string(rest) {
	case "":
		return Value, true
	case "_total":
		return Value, kind == Counter
	case "_info":
		return Value, kind == Info
	case "_bucket":
		return Bucket, kind == Histogram || kind == GaugeHistogram
	case "_sum":
		return Sum, kind == Histogram || kind == Summary || kind == GaugeHistogram
	case "_count":
		return Count, kind == Histogram || kind == Summary || kind == GaugeHistogram
	case "_gsum":
		return Sum, kind == GaugeHistogram
	case "_gcount":
		return Count, kind == GaugeHistogram
	}
	return Value, false
}

func familyName(name, rest []byte, part Part) []byte {
	if part == Value {
		return name
	}
	return name[:len(name)-len(rest)]
}

// cutFolded is bytes.CutPrefix with colon and underscore as the same letter.
func cutFolded(name, prefix []byte) ([]byte, bool) {
	if len(name) < len(prefix) {
		return nil, false
	}
	for i, c := range prefix {
		if d := name[i]; d != c && !(c == ':' && d == '_') && !(c == '_' && d == ':') {
			return nil, false
		}
	}
	return name[len(prefix):], true
}
