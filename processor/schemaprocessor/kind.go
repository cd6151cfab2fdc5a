package schemaprocessor

import (
	"math"
	"strconv"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// kind is the type of an attribute's value.
type kind uint8

const (
	anyKind kind = iota
	stringKind
	intKind
	doubleKind
	boolKind
	sliceKind
)

// kindOf returns the kind of a type in the registry; enums are strings.
func kindOf(registryType string) kind {
	switch registryType {
	case "string", "enum":
		return stringKind
	case "int":
		return intKind
	case "double":
		return doubleKind
	case "boolean":
		return boolKind
	case "string[]", "int[]", "double[]", "boolean[]":
		return sliceKind
	default:
		return anyKind
	}
}

// is reports whether a value of this type is of the kind.
func (k kind) is(t pcommon.ValueType) bool {
	switch k {
	case stringKind:
		return t == pcommon.ValueTypeStr
	case intKind:
		return t == pcommon.ValueTypeInt
	case doubleKind:
		return t == pcommon.ValueTypeDouble
	case boolKind:
		return t == pcommon.ValueTypeBool
	case sliceKind:
		return t == pcommon.ValueTypeSlice
	default:
		return true
	}
}

// absent reports whether a value says nothing: producers send empty text for a number that they do not have.
func (k kind) absent(v pcommon.Value) bool {
	return k != stringKind && k != anyKind && v.Type() == pcommon.ValueTypeStr && v.Str() == ""
}

// fits reports whether convert would succeed.
func (k kind) fits(v pcommon.Value) bool {
	switch k {
	case stringKind:
		return v.Type() == pcommon.ValueTypeInt || v.Type() == pcommon.ValueTypeDouble || v.Type() == pcommon.ValueTypeBool
	case intKind:
		_, ok := asInt(v)
		return ok
	case doubleKind:
		_, ok := asDouble(v)
		return ok
	case boolKind:
		_, ok := asBool(v)
		return ok
	default:
		return false
	}
}

// convert makes a value one of the kind. It does nothing where it cannot.
func (k kind) convert(v pcommon.Value) {
	switch k {
	case stringKind:
		v.SetStr(v.AsString())
	case intKind:
		if i, ok := asInt(v); ok {
			v.SetInt(i)
		}
	case doubleKind:
		if d, ok := asDouble(v); ok {
			v.SetDouble(d)
		}
	case boolKind:
		if b, ok := asBool(v); ok {
			v.SetBool(b)
		}
	default:
	}
}

func asInt(v pcommon.Value) (int64, bool) {
	switch v.Type() {
	case pcommon.ValueTypeInt:
		return v.Int(), true
	case pcommon.ValueTypeStr:
		i, err := strconv.ParseInt(v.Str(), 10, 64)
		return i, err == nil
	case pcommon.ValueTypeDouble:
		// Beyond 2^53 a double no longer says which integer was meant.
		d := v.Double()
		return int64(d), d == math.Trunc(d) && math.Abs(d) <= 1<<53
	default:
		return 0, false
	}
}

func asDouble(v pcommon.Value) (float64, bool) {
	switch v.Type() {
	case pcommon.ValueTypeDouble:
		return v.Double(), true
	case pcommon.ValueTypeInt:
		return float64(v.Int()), true
	case pcommon.ValueTypeStr:
		d, err := strconv.ParseFloat(v.Str(), 64)
		return d, err == nil
	default:
		return 0, false
	}
}

func asBool(v pcommon.Value) (value, ok bool) {
	switch v.Type() {
	case pcommon.ValueTypeBool:
		return v.Bool(), true
	case pcommon.ValueTypeStr:
		b, err := strconv.ParseBool(v.Str())
		return b, err == nil
	case pcommon.ValueTypeInt:
		return v.Int() == 1, v.Int() == 0 || v.Int() == 1
	default:
		return false, false
	}
}
