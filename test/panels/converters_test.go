package panels

import (
	"encoding/json"
	"reflect"
	"regexp"
	"time"

	"github.com/grafana/grafana-plugin-sdk-go/data"
	"github.com/grafana/grafana-plugin-sdk-go/data/sqlutil"
)

// converters say which field of a frame a column of ClickHouse becomes, as in the data source's plugin 4.20. A type that
// is not here has no place in a panel: the test of all panels refuses it, as the plugin would show it as text or fail.
func converters() []sqlutil.Converter {
	list := []sqlutil.Converter{
		nullable[string](`^(LowCardinality\(Nullable\(String\)\)|Nullable\(String\))$`, data.FieldTypeNullableString),
		nullable[time.Time](`^Nullable\(Date`, data.FieldTypeNullableTime),
		scalar[string](`^(String|LowCardinality\(String\)|Enum(8|16)\(.*\))$`, data.FieldTypeString),
		scalar[time.Time](`^Date`, data.FieldTypeTime),
		asJSON(`^(Array|Map|Tuple)\(`),
	}
	list = append(list, number[uint8]("UInt8", data.FieldTypeUint8, data.FieldTypeNullableUint8)...)
	list = append(list, number[uint16]("UInt16", data.FieldTypeUint16, data.FieldTypeNullableUint16)...)
	list = append(list, number[uint32]("UInt32", data.FieldTypeUint32, data.FieldTypeNullableUint32)...)
	list = append(list, number[uint64]("UInt64", data.FieldTypeUint64, data.FieldTypeNullableUint64)...)
	list = append(list, number[int8]("Int8", data.FieldTypeInt8, data.FieldTypeNullableInt8)...)
	list = append(list, number[int16]("Int16", data.FieldTypeInt16, data.FieldTypeNullableInt16)...)
	list = append(list, number[int32]("Int32", data.FieldTypeInt32, data.FieldTypeNullableInt32)...)
	list = append(list, number[int64]("Int64", data.FieldTypeInt64, data.FieldTypeNullableInt64)...)
	list = append(list, number[float32]("Float32", data.FieldTypeFloat32, data.FieldTypeNullableFloat32)...)
	list = append(list, number[float64]("Float64", data.FieldTypeFloat64, data.FieldTypeNullableFloat64)...)
	list = append(list, number[bool]("Bool", data.FieldTypeBool, data.FieldTypeNullableBool)...)
	return list
}

func number[T any](name string, field, nullableField data.FieldType) []sqlutil.Converter {
	return []sqlutil.Converter{scalar[T]("^"+name+"$", field), nullable[T](`^Nullable\(`+name+`\)$`, nullableField)}
}

func scalar[T any](pattern string, field data.FieldType) sqlutil.Converter {
	return converter(pattern, reflect.TypeFor[T](), field, func(in any) (any, error) { return *in.(*T), nil })
}

// nullable asks for a pointer to a pointer, because the driver hands a nil over as a typed pointer; the SDK takes one off.
func nullable[T any](pattern string, field data.FieldType) sqlutil.Converter {
	return converter(pattern, reflect.TypeFor[**T](), field, func(in any) (any, error) { return *in.(**T), nil })
}

func asJSON(pattern string) sqlutil.Converter {
	return converter(pattern, reflect.TypeFor[any](), data.FieldTypeJSON, func(in any) (any, error) {
		text, err := json.Marshal(in)
		return json.RawMessage(text), err
	})
}

func converter(pattern string, scan reflect.Type, field data.FieldType, convert func(any) (any, error)) sqlutil.Converter {
	return sqlutil.Converter{
		Name:           pattern,
		InputScanType:  scan,
		InputTypeRegex: regexp.MustCompile(pattern),
		FrameConverter: sqlutil.FrameConverter{FieldType: field, ConverterFunc: convert},
	}
}
