//go:build linux && cgo

package main

import (
	"strings"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/pitwall-otel/pitwall/internal/nvml"
)

// identify finds the GPU's handle and looks whether it is the GPU that it was. If not, all that is known of it is
// forgotten. It also makes the MIG devices be looked for again.
func (g *gpu) identify() gonvml.Return {
	handle, ret := g.lib.DeviceGetHandleByIndex(g.index)
	if ret != gonvml.SUCCESS {
		return ret
	}
	device := nvml.Device{Key: nvml.Key{Index: g.index, MIG: -1}, Minor: -1, GPUInstance: -1, ComputeInstance: -1}
	device.UUID, ret = g.uuid(handle)
	if absent(ret) == nvml.Lost {
		return ret
	}
	device.PCIBusID = busID(g.lib, handle)
	g.lookForMIGs = true
	if g.handle == handle && device.UUID == g.device.UUID && device.PCIBusID == g.device.PCIBusID {
		return gonvml.SUCCESS
	}
	describe(g.lib, handle, &device)
	g.handle, g.device = handle, device
	g.memory, g.links, g.used = memory{}, links{}, lastSeen{}
	g.gpm.free(g.lib)
	g.forgetMIGs()
	g.events.register(g, handle, device)
	return gonvml.SUCCESS
}

func (g *gpu) uuid(handle gonvml.Device) (string, gonvml.Return) {
	if !g.lib.has("nvmlDeviceGetUUID") {
		return "", gonvml.ERROR_FUNCTION_NOT_FOUND
	}
	s, ret := handle.GetUUID()
	return text(s, ret), ret
}

func busID(l *library, handle gonvml.Device) string {
	if !l.has("nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2", "nvmlDeviceGetPciInfo") {
		return ""
	}
	info, ret := handle.GetPciInfo()
	if ret != gonvml.SUCCESS {
		return ""
	}
	id := chars(info.BusId[:])
	if id == "" { // the oldest version of the function
		id = chars(info.BusIdLegacy[:])
	}
	return text(strings.ToUpper(id), ret)
}

// chars makes a string of C's chars up to the first zero, or of all.
func chars(c []int8) string {
	b := make([]byte, 0, len(c))
	for _, v := range c {
		if v == 0 {
			break
		}
		b = append(b, byte(v))
	}
	return string(b)
}

// describe asks for what stays the same.
func describe(l *library, handle gonvml.Device, d *nvml.Device) {
	if l.has("nvmlDeviceGetSerial") {
		d.Serial = text(handle.GetSerial())
	}
	if l.has("nvmlDeviceGetName") {
		d.Name = text(handle.GetName())
	}
	if l.has("nvmlDeviceGetVbiosVersion") {
		d.VBIOS = text(handle.GetVbiosVersion())
	}
	if l.has("nvmlDeviceGetMinorNumber") {
		if minor, ret := handle.GetMinorNumber(); ret == gonvml.SUCCESS {
			d.Minor = minor
		}
	}
	if l.has("nvmlDeviceGetBrand") {
		if brand, ret := handle.GetBrand(); ret == gonvml.SUCCESS {
			d.Brand = nvml.BrandName(int(brand))
		}
	}
	if l.has("nvmlDeviceGetArchitecture") {
		if arch, ret := handle.GetArchitecture(); ret == gonvml.SUCCESS {
			d.Architecture = nvml.ArchitectureName(int(arch))
		}
	}
	if l.has("nvmlDeviceGetVirtualizationMode") {
		if mode, ret := handle.GetVirtualizationMode(); ret == gonvml.SUCCESS {
			d.Mode = nvml.VirtualizationName(int(mode))
		}
	}
}
