package wire

import (
	"encoding/binary"
	"time"

	"github.com/pitwall-otel/pitwall/internal/nvml"
)

// Hello is the helper's first frame.
type Hello struct {
	Version int
	Cgo     bool // it was built with cgo and can load the library
}

// Ask asks for a collection.
type Ask struct {
	ID      uint64 // chosen by the asker, returned in the answers
	Classes nvml.Class
}

// Header is the helper's immediate answer to Ask.
type Header struct {
	ID            uint64
	Status        nvml.Status
	StatusSince   time.Time
	StatusError   string
	DriverVersion string
	NVMLVersion   string
	CUDAVersion   string
	Usage         nvml.Usage
	GPUs          []GPU
}

// GPU is whether a GPU was asked.
type GPU struct {
	Index     int
	BusySince time.Time // it still works on an earlier request, and was not asked; zero when it was
}

// Answer is what a GPU told, with its MIG devices and virtual GPUs behind it.
type Answer struct {
	ID      uint64
	Index   int
	Devices []nvml.Device
}

// AppendHello makes a frame of h in buf.
func AppendHello(buf []byte, h Hello) []byte {
	b := begin(buf, KindHello)
	b = binary.AppendUvarint(b, uint64(h.Version))
	return finish(appendBool(b, h.Cgo))
}

// ParseHello reads AppendHello's payload. What another version has behind the version is not looked at.
func ParseHello(payload []byte) (Hello, error) {
	r := &reader{data: payload}
	h := Hello{Version: int(r.uvarint())}
	if h.Version != Version && !r.bad {
		return h, nil
	}
	h.Cgo = r.bool()
	return h, r.end()
}

// AppendAsk makes a frame of a in buf.
func AppendAsk(buf []byte, a Ask) []byte {
	b := begin(buf, KindAsk)
	b = binary.AppendUvarint(b, a.ID)
	return finish(binary.AppendUvarint(b, uint64(a.Classes)))
}

// ParseAsk reads AppendAsk's payload.
func ParseAsk(payload []byte) (Ask, error) {
	r := &reader{data: payload}
	a := Ask{ID: r.uvarint(), Classes: nvml.Class(r.uvarint())}
	return a, r.end()
}

// AppendHeader makes a frame of h in buf.
func AppendHeader(buf []byte, h *Header) []byte {
	b := begin(buf, KindHeader)
	b = binary.AppendUvarint(b, h.ID)
	b = appendString(b, string(h.Status))
	b = appendTime(b, h.StatusSince)
	b = appendString(b, h.StatusError)
	b = appendString(b, h.DriverVersion)
	b = appendString(b, h.NVMLVersion)
	b = appendString(b, h.CUDAVersion)
	b = binary.AppendVarint(b, int64(h.Usage.PID))
	b = binary.AppendVarint(b, int64(h.Usage.CPU))
	b = binary.AppendUvarint(b, h.Usage.RSS)
	b = binary.AppendUvarint(b, h.Usage.Wake)
	b = binary.AppendUvarint(b, uint64(len(h.GPUs)))
	for _, g := range h.GPUs {
		b = binary.AppendVarint(b, int64(g.Index))
		b = appendTime(b, g.BusySince)
	}
	return finish(b)
}

// ParseHeader reads AppendHeader's payload.
func ParseHeader(payload []byte) (Header, error) {
	r := &reader{data: payload}
	h := Header{
		ID:            r.uvarint(),
		Status:        nvml.Status(r.string()),
		StatusSince:   r.time(),
		StatusError:   r.string(),
		DriverVersion: r.string(),
		NVMLVersion:   r.string(),
		CUDAVersion:   r.string(),
		Usage:         nvml.Usage{PID: r.int(), CPU: r.duration(), RSS: r.uvarint(), Wake: r.uvarint()},
	}
	if n := r.count(2); n > 0 {
		h.GPUs = make([]GPU, n)
	}
	for i := range h.GPUs {
		h.GPUs[i] = GPU{Index: r.int(), BusySince: r.time()}
	}
	return h, r.end()
}

// AppendEvent makes a frame of e in buf.
func AppendEvent(buf []byte, e *nvml.Event) []byte {
	b := begin(buf, KindEvent)
	b = append(b, byte(e.Kind))
	b = appendTime(b, e.Time)
	b = appendKey(b, e.Key)
	b = appendString(b, e.UUID)
	b = appendString(b, e.PCIBusID)
	b = binary.AppendUvarint(b, e.Data)
	b = binary.AppendVarint(b, int64(e.GPUInstance))
	b = binary.AppendVarint(b, int64(e.ComputeInstance))
	return finish(appendString(b, e.Text))
}

// ParseEvent reads AppendEvent's payload.
func ParseEvent(payload []byte) (nvml.Event, error) {
	r := &reader{data: payload}
	e := nvml.Event{
		Kind:            nvml.EventKind(r.byte()),
		Time:            r.time(),
		Key:             r.key(),
		UUID:            r.string(),
		PCIBusID:        r.string(),
		Data:            r.uvarint(),
		GPUInstance:     r.int(),
		ComputeInstance: r.int(),
		Text:            r.string(),
	}
	return e, r.end()
}
