//go:build linux && cgo

package main

import (
	"slices"
	"time"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/pitwall-otel/pitwall/internal/nvml"
)

// memory is of what a device cannot do, so that it is not asked for every time. The keys are calls' places in their
// list, and field values.
type memory struct {
	since  time.Time
	calls  map[int]nvml.Absent
	values map[valueKey]nvml.Absent
}

func (m *memory) clear(now time.Time) {
	*m = memory{since: now, calls: map[int]nvml.Absent{}, values: map[valueKey]nvml.Absent{}}
}

// session is one collection from one device.
type session struct {
	lib      *library
	memory   *memory
	classes  nvml.Class
	readings []nvml.Reading
	lost     gonvml.Return // not SUCCESS when the device was lost on the way; nothing more is asked then
}

// newSession begins a collection. The readings go into room, which is of the last one.
func newSession(lib *library, m *memory, classes nvml.Class, now time.Time, room []nvml.Reading) *session {
	if m.calls == nil || now.Sub(m.since) > forget {
		m.clear(now)
	}
	return &session{lib: lib, memory: m, classes: classes, readings: room[:0]}
}

func (s *session) wants(c nvml.Class) bool { return s.classes&c != 0 && s.lost == gonvml.SUCCESS }

func (s *session) present(f nvml.Field, index uint16, v float64) {
	s.readings = append(s.readings, nvml.Reading{Field: f, Index: index, Value: v})
}

func (s *session) absent(f nvml.Field, index uint16, why nvml.Absent) {
	s.readings = append(s.readings, nvml.Reading{Field: f, Index: index, Absent: why})
}

// settle notes a return value: it says why there is no value, and whether the device is lost.
func (s *session) settle(ret gonvml.Return) nvml.Absent {
	why := absent(ret)
	if why == nvml.Lost {
		s.lost = ret
	}
	return why
}

// lasting says whether an absence is worth remembering.
func lasting(why nvml.Absent) bool { return why == nvml.Unsupported || why == nvml.NoPermission }

func (s *session) sort() {
	slices.SortFunc(s.readings, func(a, b nvml.Reading) int {
		if a.Field != b.Field {
			return int(a.Field) - int(b.Field)
		}
		return int(a.Index) - int(b.Index)
	})
}

// call is a function of the library and the fields that it fills.
type call struct {
	fields  []nvml.Field
	index   uint16
	symbols []string // it needs one of them
	do      func(d gonvml.Device, out []float64) gonvml.Return
}

// mostFields is of the call that fills most.
const mostFields = 5

// call asks for one call's fields, unless it is known that they are not to be had.
func (s *session) call(d gonvml.Device, place int, c *call) {
	if !s.wants(c.fields[0].Class()) {
		return
	}
	why, known := s.memory.calls[place]
	var out [mostFields]float64
	if !known {
		if why = nvml.Unsupported; s.lib.has(c.symbols...) {
			why = s.settle(c.do(d, out[:]))
		}
		if lasting(why) {
			s.memory.calls[place] = why
		}
	}
	for i, f := range c.fields {
		if why == nvml.Present {
			s.present(f, c.index, out[i])
		} else {
			s.absent(f, c.index, why)
		}
	}
}
