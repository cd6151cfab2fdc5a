package main

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// literal writes a value as Go source of package schema. Zero fields are left out, types inside slices too.
func literal(v reflect.Value) string {
	var b strings.Builder
	writeLiteral(&b, v, true)
	return b.String()
}

func writeLiteral(b *strings.Builder, v reflect.Value, named bool) {
	switch v.Kind() {
	case reflect.String:
		b.WriteString(strconv.Quote(v.String()))
	case reflect.Bool:
		b.WriteString(strconv.FormatBool(v.Bool()))
	case reflect.Int:
		b.WriteString(strconv.FormatInt(v.Int(), 10))
	case reflect.Uint8:
		b.WriteString(strconv.FormatUint(v.Uint(), 10))
	case reflect.Float64:
		b.WriteString(strconv.FormatFloat(v.Float(), 'g', -1, 64))
	case reflect.Pointer:
		b.WriteString("&" + v.Type().Elem().Name())
		writeLiteral(b, v.Elem(), false)
	case reflect.Slice:
		writeSlice(b, v, named)
	case reflect.Struct:
		writeStruct(b, v, named)
	default:
		panic(fmt.Sprintf("a definition holds a %s, which the generator cannot write", v.Type()))
	}
}

func writeSlice(b *strings.Builder, v reflect.Value, named bool) {
	if named {
		b.WriteString("[]" + v.Type().Elem().Name())
	}
	b.WriteByte('{')
	for i := range v.Len() {
		if i > 0 {
			b.WriteString(", ")
		}
		writeLiteral(b, v.Index(i), false)
	}
	b.WriteByte('}')
}

func writeStruct(b *strings.Builder, v reflect.Value, named bool) {
	if named {
		b.WriteString(v.Type().Name())
	}
	b.WriteByte('{')
	first := true
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			continue
		}
		if !first {
			b.WriteString(", ")
		}
		first = false
		b.WriteString(v.Type().Field(i).Name + ": ")
		writeLiteral(b, v.Field(i), true)
	}
	b.WriteByte('}')
}
