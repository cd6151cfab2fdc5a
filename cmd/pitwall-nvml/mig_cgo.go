//go:build linux && cgo

package main

import (
	"strings"
	"time"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/pitwall-otel/pitwall/internal/nvml"
)

// unknownMode is a MIG mode that no GPU has.
const unknownMode = -1

// mig is one MIG device.
type mig struct {
	handle gonvml.Device
	device nvml.Device // identity
	memory memory
	gpm    gpm
	calls  []call
}

// readMIGMode looks at the mode, and for the MIG devices when it changed or relist said so: looking costs the driver
// much, so it is not done each time.
func (g *gpu) readMIGMode(s *session) {
	if !g.lookForMIGs && !s.wants(nvml.ClassModes) {
		return
	}
	why, known := s.memory.calls[placeMIGMode]
	var current, pending int
	if !known {
		why = nvml.Unsupported
		if s.lib.has("nvmlDeviceGetMigMode") {
			var r gonvml.Return
			current, pending, r = g.handle.GetMigMode()
			why = s.settle(r)
		}
		if lasting(why) {
			s.memory.calls[placeMIGMode] = why
		}
	}
	switched := why == nvml.Present && current != g.mode
	if switched && g.mode != unknownMode {
		s.memory.clear(time.Now()) // what a GPU can tell differs by mode
	}
	if switched || g.lookForMIGs && (why == nvml.Present || lasting(why)) {
		g.mode, g.lookForMIGs = current, false
		g.findMIGs(s)
	}
	if !s.wants(nvml.ClassModes) {
		return
	}
	if why != nvml.Present {
		s.absent(nvml.MIGMode, 0, why)
		s.absent(nvml.MIGModePending, 0, why)
		s.absent(nvml.MIGDevices, 0, why)
		return
	}
	s.present(nvml.MIGMode, 0, float64(current))
	s.present(nvml.MIGModePending, 0, float64(pending))
	s.present(nvml.MIGDevices, 0, float64(len(g.migs)))
}

// maxMIGs bounds what a broken driver may claim; seven is the most today.
const maxMIGs = 32

// findMIGs lists the MIG devices and keeps what is known of those that were there before.
func (g *gpu) findMIGs(s *session) {
	before := g.migs
	g.migs = nil
	if g.mode == gonvml.DEVICE_MIG_ENABLE && s.lib.has("nvmlDeviceGetMaxMigDeviceCount") &&
		s.lib.has("nvmlDeviceGetMigDeviceHandleByIndex") {
		n, r := g.handle.GetMaxMigDeviceCount()
		if s.settle(r) != nvml.Present {
			n = 0
		}
		for i := range min(n, maxMIGs) {
			handle, r := g.handle.GetMigDeviceHandleByIndex(i)
			if r == gonvml.SUCCESS {
				g.migs = append(g.migs, g.describeMIG(handle, i))
			}
		}
	}
	for _, old := range before {
		kept := false
		for i, m := range g.migs {
			if m.handle == old.handle && m.device.UUID == old.device.UUID && m.device.Key == old.device.Key {
				g.migs[i], kept = old, true
			}
		}
		if !kept {
			old.gpm.free(g.lib)
		}
	}
}

func (g *gpu) describeMIG(handle gonvml.Device, index int) *mig {
	d := g.device
	d.Key.MIG = index
	d.UUID, d.ParentUUID = "", g.device.UUID
	if s, r := g.uuid(handle); r == gonvml.SUCCESS {
		d.UUID = s
	}
	if g.lib.has("nvmlDeviceGetGpuInstanceId") {
		if id, r := handle.GetGpuInstanceId(); r == gonvml.SUCCESS {
			d.GPUInstance = id
		}
	}
	if g.lib.has("nvmlDeviceGetComputeInstanceId") {
		if id, r := handle.GetComputeInstanceId(); r == gonvml.SUCCESS {
			d.ComputeInstance = id
		}
	}
	if g.lib.has("nvmlDeviceGetName") { // NVIDIA A100-SXM4-40GB MIG 1g.5gb
		if _, profile, found := strings.Cut(text(handle.GetName()), " MIG "); found {
			d.MIGProfile = profile
		}
	}
	return &mig{handle: handle, device: d, calls: []call{memoryInfo(g.lib)}}
}

func (g *gpu) forgetMIGs() {
	for _, m := range g.migs {
		m.gpm.free(g.lib)
	}
	g.migs, g.mode, g.lookForMIGs = nil, unknownMode, true
}

// readMIGs asks for what a MIG device has of its own.
func (g *gpu) readMIGs(devices []nvml.Device, classes nvml.Class, now time.Time) []nvml.Device {
	for _, m := range g.migs {
		s := newSession(g.lib, &m.memory, classes, now, nil)
		for i := range m.calls {
			s.call(m.handle, i, &m.calls[i])
		}
		if m.device.GPUInstance >= 0 { // else it would be the whole GPU's
			s.readGPM(g.handle, &m.gpm, m.device.GPUInstance)
		}
		s.sort()
		d := m.device
		d.State, d.Time = nvml.DeviceOK, now
		switch {
		case s.lost != gonvml.SUCCESS:
			d.State, d.Error = nvml.DeviceLost, errorText(g.lib, s.lost)
			g.relist.Store(true)
		case gone(s.readings):
			g.relist.Store(true) // another split: the handle is of no device any more
			fallthrough
		default:
			d.Readings = s.readings
		}
		devices = append(devices, d)
	}
	return devices
}

// gone says whether not even memory could be read, which every MIG device has.
func gone(readings []nvml.Reading) bool {
	return len(readings) > 0 && readings[0].Field == nvml.MemoryTotal && readings[0].Absent != nvml.Present
}
