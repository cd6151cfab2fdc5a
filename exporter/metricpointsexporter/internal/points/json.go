package points

import (
	"encoding/base64"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// maxDepth bounds nested attribute values; what lies deeper becomes null.
const maxDepth = 16

// appendMember appends `"key":value`, the value cut at the limit.
func (e *Encoder) appendMember(dst []byte, key string, value pcommon.Value) []byte {
	if len(key) > e.settings.MaxNameBytes {
		key = cutRunes(key, e.settings.MaxNameBytes)
		e.counts.Truncated++
	}
	dst = append(appendString(append(dst, '"'), key), `":`...)
	switch value.Type() {
	case pcommon.ValueTypeStr:
		return e.appendLimited(dst, value.Str())
	case pcommon.ValueTypeBytes:
		limit := e.settings.MaxAttributeBytes
		raw := value.Bytes().AsRaw()
		if base64.StdEncoding.EncodedLen(len(raw)) > limit {
			raw = raw[:limit/4*3]
			e.counts.Truncated++
		}
		return append(base64.StdEncoding.AppendEncode(append(dst, '"'), raw), '"')
	case pcommon.ValueTypeMap, pcommon.ValueTypeSlice:
		e.nested = appendValue(e.nested[:0], value, 0)
		if len(e.nested) > e.settings.MaxAttributeBytes {
			// Cut JSON is no JSON any more: what fits is kept as text.
			return e.appendLimited(dst, string(e.nested[:e.settings.MaxAttributeBytes+1]))
		}
		return append(dst, e.nested...)
	default:
		return appendValue(dst, value, 0)
	}
}

func (e *Encoder) appendLimited(dst []byte, s string) []byte {
	if len(s) > e.settings.MaxAttributeBytes {
		s = cutRunes(s, e.settings.MaxAttributeBytes)
		e.counts.Truncated++
	}
	return append(appendString(append(dst, '"'), s), '"')
}

func appendValue(dst []byte, value pcommon.Value, depth int) []byte {
	switch value.Type() {
	case pcommon.ValueTypeStr:
		return append(appendString(append(dst, '"'), value.Str()), '"')
	case pcommon.ValueTypeInt:
		return strconv.AppendInt(dst, value.Int(), 10)
	case pcommon.ValueTypeDouble:
		return appendNumber(dst, value.Double())
	case pcommon.ValueTypeBool:
		return strconv.AppendBool(dst, value.Bool())
	case pcommon.ValueTypeBytes:
		return append(base64.StdEncoding.AppendEncode(append(dst, '"'), value.Bytes().AsRaw()), '"')
	case pcommon.ValueTypeMap:
		if depth < maxDepth {
			return appendMap(dst, value.Map(), depth+1)
		}
	case pcommon.ValueTypeSlice:
		if depth < maxDepth {
			return appendSlice(dst, value.Slice(), depth+1)
		}
	}
	return append(dst, "null"...)
}

func appendMap(dst []byte, m pcommon.Map, depth int) []byte {
	keys := make([]string, 0, m.Len())
	for key := range m.All() {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	dst = append(dst, '{')
	for i, key := range slices.Compact(keys) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendString(append(dst, '"'), key), `":`...)
		value, _ := m.Get(key)
		dst = appendValue(dst, value, depth)
	}
	return append(dst, '}')
}

func appendSlice(dst []byte, s pcommon.Slice, depth int) []byte {
	dst = append(dst, '[')
	for i, value := range s.All() {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendValue(dst, value, depth)
	}
	return append(dst, ']')
}

// appendNumber writes a double; JSON has no NaN and no infinities, so they become strings as in OTLP's JSON.
func appendNumber(dst []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, `"NaN"`...)
	case math.IsInf(f, 1):
		return append(dst, `"Infinity"`...)
	case math.IsInf(f, -1):
		return append(dst, `"-Infinity"`...)
	default:
		return strconv.AppendFloat(dst, f, 'g', -1, 64)
	}
}

const hexDigits = "0123456789abcdef"

// appendString writes the inside of a JSON string; bytes that are no UTF-8 become U+FFFD.
func appendString(dst []byte, s string) []byte {
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				dst = append(append(dst, s[start:i]...), "\uFFFD"...)
				start = i + 1
			}
			i += size
			continue
		}
		dst = append(dst, s[start:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		start = i
	}
	return append(dst, s[start:]...)
}
