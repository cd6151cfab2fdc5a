package fakenvml

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pitwall-otel/pitwall/internal/nvml"
)

// Record returns the script of the machine that a snapshot is of, so that it can be replayed where there is no GPU. What
// names one machine is left out: serial numbers and UUIDs are made up. Ask for all classes, twice, for a complete one.
func Record(s nvml.Snapshot) string {
	r := &recorder{}
	r.line("driver", s.DriverVersion)
	r.line("nvml", s.NVMLVersion)
	var major, minor int
	if n, _ := fmt.Sscanf(s.CUDAVersion, "%d.%d", &major, &minor); n == 2 {
		r.line("cuda", strconv.Itoa(major*1000+minor*10))
	}
	count := 0
	for i := range s.Devices {
		d := &s.Devices[i]
		count = max(count, d.Key.Index+1)
		switch {
		case d.Key.VGPU != 0:
			r.vgpu(d)
		case d.Key.MIG >= 0:
			r.mig(d)
		default:
			r.gpu(d)
		}
	}
	r.line("count", strconv.Itoa(count))
	return r.text.String()
}

type recorder struct {
	text  strings.Builder
	vgpus int // of the GPU at hand
}

func (r *recorder) line(key, value string) {
	if value != "" {
		fmt.Fprintf(&r.text, "%s=%s\n", key, value)
	}
}

// numbered writes the number that NVML has for a word.
func (r *recorder) numbered(key, word string, name func(int) string) {
	for n := range 32 {
		if word != "" && name(n) == word {
			r.line(key, strconv.Itoa(n))
		}
	}
}

func (r *recorder) gpu(d *nvml.Device) {
	at := fmt.Sprintf("gpu.%d.", d.Key.Index)
	r.vgpus = 0
	r.line(at+"name", d.Name)
	r.line(at+"uuid", fmt.Sprintf("GPU-00000000-0000-4000-8000-0000000000%02d", d.Key.Index))
	if d.Serial != "" {
		r.line(at+"serial", fmt.Sprintf("00000000000%02d", d.Key.Index))
	}
	r.line(at+"vbios", d.VBIOS)
	r.line(at+"pci", d.PCIBusID)
	if d.Minor >= 0 {
		r.line(at+"minor", strconv.Itoa(d.Minor))
	}
	r.numbered(at+"brand", d.Brand, nvml.BrandName)
	r.numbered(at+"architecture", d.Architecture, nvml.ArchitectureName)
	r.numbered(at+"virtualization", d.Mode, nvml.VirtualizationName)
	r.line(at+"events", "65439")
	r.readings(at, d)
	for n, p := range d.Processes {
		memory := int64(-1)
		if p.HasMemory {
			memory = int64(p.UsedMemory)
		}
		r.line(at+fmt.Sprintf("process.%d", n),
			fmt.Sprintf("%c %d %d %d %d", "cgm"[p.Type%3], p.PID, memory, p.GPUInstance, p.ComputeInstance))
	}
	for n, p := range d.ProcessUtilization {
		r.line(at+fmt.Sprintf("process_util.%d", n), fmt.Sprintf("%d %d %d %d %d", p.PID, p.SM, p.Memory, p.Encoder, p.Decoder))
	}
}

func (r *recorder) mig(d *nvml.Device) {
	at := fmt.Sprintf("gpu.%d.mig.%d.", d.Key.Index, d.Key.MIG)
	name := d.Name
	if d.MIGProfile != "" {
		name += " MIG " + d.MIGProfile
	}
	r.line(at+"name", name)
	r.line(at+"uuid", fmt.Sprintf("MIG-00000000-0000-4000-8000-00000000%02d%02d", d.Key.Index, d.Key.MIG))
	r.line(at+"gi", strconv.Itoa(d.GPUInstance))
	r.line(at+"ci", strconv.Itoa(d.ComputeInstance))
	r.readings(at, d)
}

func (r *recorder) vgpu(d *nvml.Device) {
	at := fmt.Sprintf("gpu.%d.", d.Key.Index)
	values := map[nvml.Field]uint64{}
	for _, v := range d.Readings {
		values[v.Field] = uint64(v.Value)
	}
	r.line(at+fmt.Sprintf("vgpu.%d", r.vgpus), fmt.Sprintf("%d %d %d 00000000-0000-4000-8000-00000000%02d%02d",
		d.Key.VGPU, values[nvml.MemoryTotal]>>30, values[nvml.MemoryUsed], d.Key.Index, r.vgpus))
	r.line(at+fmt.Sprintf("vgpu_util.%d", r.vgpus), fmt.Sprintf("%d %d %d %d %d", d.Key.VGPU, values[nvml.UtilizationGPU],
		values[nvml.UtilizationMemory], values[nvml.UtilizationEncoder], values[nvml.UtilizationDecoder]))
	r.vgpus++
}

func (r *recorder) readings(at string, d *nvml.Device) {
	fans, gpm, reserved := 0, false, false
	old := slices.ContainsFunc(d.Readings, func(v nvml.Reading) bool { return v.Field == nvml.NVLinkCRCFlit })
	for _, v := range d.Readings {
		key := Key(v.Field, v.Index)
		switch { // GPUs before Hopper have another function for an NVLink's errors
		case old && v.Field == nvml.NVLinkReplays:
			key = fmt.Sprintf("nvlink.%d.error.0", v.Index)
		case old && v.Field == nvml.NVLinkRecovers:
			key = fmt.Sprintf("nvlink.%d.error.1", v.Index)
		}
		switch {
		case v.Absent == nvml.NoPermission && key != "":
			r.line(at+key, "fail(4)")
		case v.Absent == nvml.Unsupported && strings.HasPrefix(key, "processes."): // the fake has empty lists else
			r.line(at+key, "fail(3)")
		}
		if v.Absent != nvml.Present || key == "" {
			continue
		}
		r.line(at+key, strconv.FormatFloat(v.Value, 'f', -1, 64))
		gpm = gpm || v.Field.Class() == nvml.ClassGPM
		reserved = reserved || v.Field == nvml.MemoryReserved
		if v.Field == nvml.FanSpeed {
			fans++
		}
	}
	if !reserved { // the driver tells it in what is used
		r.line(at+"memory_reserved", "0")
	}
	if d.Key.MIG < 0 {
		r.line(at+"fans", strconv.Itoa(fans))
	}
	if gpm { // a MIG device's is asked of its GPU
		r.line(fmt.Sprintf("gpu.%d.gpm", d.Key.Index), "1")
	}
}
