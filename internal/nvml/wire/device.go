package wire

import (
	"encoding/binary"

	"github.com/pitwall-otel/pitwall/internal/nvml"
)

// AppendAnswer makes a frame of a in buf.
func AppendAnswer(buf []byte, a *Answer) []byte {
	b := begin(buf, KindAnswer)
	b = binary.AppendUvarint(b, a.ID)
	b = binary.AppendVarint(b, int64(a.Index))
	b = binary.AppendUvarint(b, uint64(len(a.Devices)))
	for i := range a.Devices {
		b = appendDevice(b, &a.Devices[i])
	}
	return finish(b)
}

// ParseAnswer reads AppendAnswer's payload.
func ParseAnswer(payload []byte) (Answer, error) {
	r := &reader{data: payload}
	a := Answer{ID: r.uvarint(), Index: r.int()}
	if n := r.count(smallestDevice); n > 0 {
		a.Devices = make([]nvml.Device, n)
	}
	for i := range a.Devices {
		r.device(&a.Devices[i])
	}
	return a, r.end()
}

// What elements take at least, in bytes.
const (
	smallestDevice  = 25
	smallestReading = 3
	smallestProcess = 6
	smallestSample  = 6
)

func appendKey(b []byte, k nvml.Key) []byte {
	b = binary.AppendVarint(b, int64(k.Index))
	b = binary.AppendVarint(b, int64(k.MIG))
	return binary.AppendUvarint(b, uint64(k.VGPU))
}

func (r *reader) key() nvml.Key {
	return nvml.Key{Index: r.int(), MIG: r.int(), VGPU: uint32(r.uvarint())}
}

func appendDevice(b []byte, d *nvml.Device) []byte {
	b = appendKey(b, d.Key)
	for _, s := range [...]string{
		d.UUID, d.ParentUUID, d.Serial, d.Name, d.Brand, d.Architecture, d.PCIBusID, d.VBIOS, d.Mode, d.MIGProfile,
		string(d.State), d.Error,
	} {
		b = appendString(b, s)
	}
	b = binary.AppendVarint(b, int64(d.Minor))
	b = binary.AppendVarint(b, int64(d.GPUInstance))
	b = binary.AppendVarint(b, int64(d.ComputeInstance))
	b = appendTime(b, d.StateSince)
	b = appendTime(b, d.Time)
	b = binary.AppendVarint(b, int64(d.Wall))
	b = binary.AppendVarint(b, int64(d.CPU))

	b = binary.AppendUvarint(b, uint64(len(d.Readings)))
	for _, v := range d.Readings {
		b = binary.AppendUvarint(b, uint64(v.Field))
		b = binary.AppendUvarint(b, uint64(v.Index))
		b = append(b, byte(v.Absent))
		if v.Absent == nvml.Present {
			b = appendFloat(b, v.Value)
		}
	}
	b = binary.AppendUvarint(b, uint64(len(d.Processes)))
	for _, p := range d.Processes {
		b = binary.AppendUvarint(b, uint64(p.PID))
		b = append(b, byte(p.Type))
		b = appendBool(b, p.HasMemory)
		b = binary.AppendUvarint(b, p.UsedMemory)
		b = binary.AppendVarint(b, int64(p.GPUInstance))
		b = binary.AppendVarint(b, int64(p.ComputeInstance))
	}
	b = binary.AppendUvarint(b, uint64(len(d.ProcessUtilization)))
	for _, p := range d.ProcessUtilization {
		b = binary.AppendUvarint(b, uint64(p.PID))
		b = appendTime(b, p.Time)
		for _, v := range [...]uint32{p.SM, p.Memory, p.Encoder, p.Decoder} {
			b = binary.AppendUvarint(b, uint64(v))
		}
	}
	return b
}

func (r *reader) device(d *nvml.Device) {
	d.Key = r.key()
	var state string
	for _, s := range [...]*string{
		&d.UUID, &d.ParentUUID, &d.Serial, &d.Name, &d.Brand, &d.Architecture, &d.PCIBusID, &d.VBIOS, &d.Mode,
		&d.MIGProfile, &state, &d.Error,
	} {
		*s = r.string()
	}
	d.State = nvml.State(state)
	d.Minor, d.GPUInstance, d.ComputeInstance = r.int(), r.int(), r.int()
	d.StateSince, d.Time = r.time(), r.time()
	d.Wall, d.CPU = r.duration(), r.duration()

	if n := r.count(smallestReading); n > 0 {
		d.Readings = make([]nvml.Reading, n)
	}
	for i := range d.Readings {
		v := &d.Readings[i]
		v.Field, v.Index, v.Absent = nvml.Field(r.uvarint()), uint16(r.uvarint()), nvml.Absent(r.byte())
		if v.Absent == nvml.Present {
			v.Value = r.float()
		}
	}
	if n := r.count(smallestProcess); n > 0 {
		d.Processes = make([]nvml.Process, n)
	}
	for i := range d.Processes {
		p := &d.Processes[i]
		p.PID, p.Type, p.HasMemory = uint32(r.uvarint()), nvml.ProcessType(r.byte()), r.bool()
		p.UsedMemory, p.GPUInstance, p.ComputeInstance = r.uvarint(), r.int(), r.int()
	}
	if n := r.count(smallestSample); n > 0 {
		d.ProcessUtilization = make([]nvml.ProcessSample, n)
	}
	for i := range d.ProcessUtilization {
		p := &d.ProcessUtilization[i]
		p.PID, p.Time = uint32(r.uvarint()), r.time()
		for _, v := range [...]*uint32{&p.SM, &p.Memory, &p.Encoder, &p.Decoder} {
			*v = uint32(r.uvarint())
		}
	}
}
