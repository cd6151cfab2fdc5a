package chdb

import "unsafe"

// Param is the value of a {Name:Type} placeholder, in ClickHouse's text form.
type Param struct {
	Name, Value string
}

// packedParams is a parameter list as the library takes it: four arrays.
// The slices keep the arrays, and so the strings, alive.
type packedParams struct {
	names, nameLens, values, valueLens unsafe.Pointer

	pointers []unsafe.Pointer
	lens     []uint64
}

func packParams(params []Param) *packedParams {
	n := len(params)
	p := &packedParams{}
	if n == 0 {
		return p
	}
	p.pointers, p.lens = make([]unsafe.Pointer, 2*n), make([]uint64, 2*n)
	for i, param := range params {
		p.pointers[i], p.lens[i] = data(param.Name), uint64(len(param.Name))
		p.pointers[n+i], p.lens[n+i] = data(param.Value), uint64(len(param.Value))
	}
	p.names, p.values = unsafe.Pointer(&p.pointers[0]), unsafe.Pointer(&p.pointers[n])
	p.nameLens, p.valueLens = unsafe.Pointer(&p.lens[0]), unsafe.Pointer(&p.lens[n])
	return p
}
