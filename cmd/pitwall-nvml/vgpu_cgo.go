//go:build linux && cgo

package main

import (
	"reflect"
	"time"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/pitwall-otel/pitwall/internal/nvml"
)

// maxVGPUs bounds what a broken driver may claim.
const maxVGPUs = 64

// readVGPUs lists the virtual GPUs cut from this one, on their host.
func (g *gpu) readVGPUs(devices []nvml.Device, s *session, now time.Time) []nvml.Device {
	if !s.wants(nvml.ClassVGPU) {
		return devices
	}
	var active []gonvml.VgpuInstance
	why := s.list(nvml.VGPUInstances, placeVGPU, []string{"nvmlDeviceGetActiveVgpus"}, func() (r gonvml.Return) {
		active, r = g.handle.GetActiveVgpus()
		return r
	})
	if why != nvml.Present || len(active) == 0 {
		return devices
	}
	used := g.vgpuUtilization(s)
	for _, v := range active[:min(len(active), maxVGPUs)] {
		devices = append(devices, g.readVGPU(v, used, now))
	}
	return devices
}

// vgpuUtilization returns the newest sample of each virtual GPU; nil when the driver tells none.
func (g *gpu) vgpuUtilization(s *session) map[uint32][4]float64 {
	if !s.lib.has("nvmlDeviceGetVgpuUtilization") {
		return nil
	}
	kind, samples, r := g.handle.GetVgpuUtilization(g.used.vgpus)
	if r != gonvml.SUCCESS {
		return nil
	}
	newest, used := map[uint32]uint64{}, map[uint32][4]float64{}
	for _, v := range samples {
		if v.TimeStamp < newest[v.VgpuInstance] {
			continue
		}
		var percent [4]float64
		complete := true
		for i, raw := range [][8]byte{v.SmUtil, v.MemUtil, v.EncUtil, v.DecUtil} {
			x, ok := number64(kind, raw)
			percent[i], complete = x, complete && ok
		}
		if complete {
			newest[v.VgpuInstance], used[v.VgpuInstance] = v.TimeStamp, percent
			g.used.vgpus = max(g.used.vgpus, v.TimeStamp)
		}
	}
	return used
}

func (g *gpu) readVGPU(v gonvml.VgpuInstance, used map[uint32][4]float64, now time.Time) nvml.Device {
	id := uint32(reflect.ValueOf(v).Uint()) // go-nvml hides the number in an interface
	d := nvml.Device{
		Key: nvml.Key{Index: g.index, MIG: -1, VGPU: id}, ParentUUID: g.device.UUID, Architecture: g.device.Architecture,
		Minor: -1, GPUInstance: -1, ComputeInstance: -1, State: nvml.DeviceOK, Time: now,
	}
	if g.lib.has("nvmlVgpuInstanceGetUUID") {
		d.UUID = text(v.GetUUID())
	}
	fraction, there := used[id]
	for i, f := range []nvml.Field{nvml.UtilizationGPU, nvml.UtilizationMemory, nvml.UtilizationEncoder, nvml.UtilizationDecoder} {
		if there {
			d.Readings = append(d.Readings, nvml.Reading{Field: f, Value: fraction[i]})
		} else {
			d.Readings = append(d.Readings, nvml.Reading{Field: f, Absent: nvml.NotYet})
		}
	}
	if g.lib.has("nvmlVgpuInstanceGetType") {
		if kind, r := v.GetType(); r == gonvml.SUCCESS {
			g.describeVGPU(&d, kind)
		}
	}
	if g.lib.has("nvmlVgpuInstanceGetFbUsage") {
		n, r := v.GetFbUsage()
		d.Readings = append(d.Readings, reading(nvml.MemoryUsed, float64(n), r))
	}
	return d
}

func (g *gpu) describeVGPU(d *nvml.Device, kind gonvml.VgpuTypeId) {
	if g.lib.has("nvmlVgpuTypeGetName") {
		d.Name = text(kind.GetName())
	}
	if g.lib.has("nvmlVgpuTypeGetFramebufferSize") {
		n, r := kind.GetFramebufferSize()
		d.Readings = append(d.Readings, reading(nvml.MemoryTotal, float64(n), r))
	}
}

func reading(f nvml.Field, v float64, r gonvml.Return) nvml.Reading {
	if why := absent(r); why != nvml.Present {
		return nvml.Reading{Field: f, Absent: why}
	}
	return nvml.Reading{Field: f, Value: v}
}
