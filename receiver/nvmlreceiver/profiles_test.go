package nvmlreceiver

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"go.opentelemetry.io/collector/component"

	"github.com/pitwall-otel/pitwall/internal/nvml"
)

var metadataID = component.MustNewID("nvml")

// gpu builds what the driver tells of a device, a class at a time.
type gpu struct{ nvml.Device }

func newGPU(index int, product, architecture string) *gpu {
	return &gpu{nvml.Device{
		Key: nvml.Key{Index: index, MIG: -1}, UUID: fmt.Sprintf("GPU-%08d-aaaa-bbbb-cccc-000000000000", index), Serial: fmt.Sprintf("16528230%05d", index),
		Name: product, Architecture: architecture, PCIBusID: fmt.Sprintf("00000000:%02X:00.0", 0x18+index), VBIOS: "96.00.BC.00.01", Minor: index,
		GPUInstance: -1, ComputeInstance: -1, State: nvml.DeviceOK,
	}}
}

func (g *gpu) with(field nvml.Field, values ...float64) *gpu {
	for index, v := range values {
		g.Readings = append(g.Readings, nvml.Reading{Field: field, Index: uint16(index), Value: v})
	}
	return g.sorted()
}

// at sets one reading by its index.
func (g *gpu) at(field nvml.Field, index uint16, v float64) *gpu {
	g.Readings = slices.DeleteFunc(g.Readings, func(x nvml.Reading) bool { return x.Field == field && x.Index == index })
	g.Readings = append(g.Readings, nvml.Reading{Field: field, Index: index, Value: v})
	return g.sorted()
}

func (g *gpu) absent(why nvml.Absent, fields ...nvml.Field) *gpu {
	for _, f := range fields {
		g.Readings = slices.DeleteFunc(g.Readings, func(x nvml.Reading) bool { return x.Field == f })
		g.Readings = append(g.Readings, nvml.Reading{Field: f, Absent: why})
	}
	return g.sorted()
}

func (g *gpu) sorted() *gpu {
	slices.SortStableFunc(g.Readings, func(a, b nvml.Reading) int {
		return cmp.Or(cmp.Compare(a.Field, b.Field), cmp.Compare(a.Index, b.Index))
	})
	return g
}

func (g *gpu) processes(pids ...uint32) *gpu {
	for _, pid := range pids {
		g.Processes = append(g.Processes, nvml.Process{PID: pid, UsedMemory: 60 << 30, HasMemory: true, GPUInstance: -1, ComputeInstance: -1})
	}
	return g
}

const (
	gib = 1 << 30
	mib = 1 << 20
)

// basics are what every GPU has.
func (g *gpu) basics() *gpu {
	return g.with(nvml.UtilizationGPU, 87).with(nvml.UtilizationMemory, 43).with(nvml.UtilizationEncoder, 0).with(nvml.UtilizationDecoder, 2).
		with(nvml.MemoryTotal, 80*gib).with(nvml.MemoryUsed, 60*gib).with(nvml.MemoryFree, 19*gib).with(nvml.MemoryReserved, gib).
		with(nvml.BAR1Total, 128*gib).with(nvml.BAR1Used, 3*mib).with(nvml.BAR1Free, 128*gib-3*mib).
		with(nvml.PowerUsage, 412_345).with(nvml.PowerLimitEnforced, 400_000).with(nvml.PowerLimitRequested, 400_000).
		with(nvml.TemperatureGPU, 61).
		with(nvml.Clock, 1410, 1410, 1593, 1275).with(nvml.PerformanceState, 0).
		with(nvml.ClocksEventReasons, 1<<nvml.ThrottleSWPowerCap).
		with(nvml.PCIeGeneration, 4).with(nvml.PCIeWidth, 16).with(nvml.PCIeReplays, 3).
		with(nvml.PersistenceMode, 1).with(nvml.ComputeMode, 0).
		with(nvml.PowerLimitDefault, 400_000).with(nvml.PowerLimitMin, 100_000).with(nvml.PowerLimitMax, 400_000).
		with(nvml.TemperatureThreshold, 92, 89, 95, 85).with(nvml.ClockMax, 1410, 1410, 1593, 1290).
		with(nvml.PCIeGenerationMax, 4).with(nvml.PCIeWidthMax, 16).
		with(nvml.ComputeProcesses, 1).with(nvml.GraphicsProcesses, 1).absent(nvml.Unsupported, nvml.MPSProcesses)
}

// server adds what data centre GPUs since Ampere have.
func (g *gpu) server() *gpu {
	g.with(nvml.UtilizationJPEG, 0).with(nvml.UtilizationOFA, 0).with(nvml.PowerInstant, 420_000).with(nvml.Energy, 5_000_000_000).
		with(nvml.TemperatureMemory, 72).
		with(nvml.ECCMode, 1).with(nvml.ECCModePending, 1).
		with(nvml.ECCVolatileCorrectedTotal, 2).with(nvml.ECCVolatileUncorrectedTotal, 0).
		with(nvml.ECCAggregateCorrectedTotal, 17).with(nvml.ECCAggregateUncorrectedTotal, 1).
		at(nvml.ECCVolatileCorrected, uint16(nvml.LocationDeviceMemory), 2).at(nvml.ECCAggregateUncorrected, uint16(nvml.LocationSRAM), 1).
		with(nvml.RemappedRowsCorrected, 1).with(nvml.RemappedRowsUncorrected, 0).with(nvml.RemappedRowsPending, 0).with(nvml.RemappedRowsFailed, 0).
		with(nvml.RemapBanks, 639, 1, 0, 0, 0).
		with(nvml.MIGMode, 0).with(nvml.MIGDevices, 0).
		absent(nvml.Unsupported, nvml.FanSpeed, nvml.RetiredPagesSingleBit, nvml.RetiredPagesDoubleBit)
	for link := range uint16(4) {
		g.at(nvml.NVLinkUp, link, 1).at(nvml.NVLinkSpeed, link, 25_000).at(nvml.NVLinkTxData, link, 1<<30).at(nvml.NVLinkRxData, link, 1<<29).
			at(nvml.NVLinkReplays, link, float64(link)).at(nvml.NVLinkRecovers, link, 0).at(nvml.NVLinkCRCFlit, link, 0).at(nvml.NVLinkCRCData, link, 0)
	}
	return g
}

// hopper adds GPM, the driver's own counters, and the recovery action.
func (g *gpu) hopper() *gpu {
	return g.with(nvml.GPMGraphicsUtil, 99).with(nvml.GPMSMUtil, 81.5).with(nvml.GPMSMOccupancy, 32.25).with(nvml.GPMIntegerUtil, 11).
		with(nvml.GPMTensorUtil, 47).with(nvml.GPMDFMATensor, 0.5).with(nvml.GPMHMMATensor, 46).with(nvml.GPMIMMATensor, 0.5).
		with(nvml.GPMDRAMBandwidth, 55).with(nvml.GPMFP64Util, 0).with(nvml.GPMFP32Util, 12).with(nvml.GPMFP16Util, 8).
		with(nvml.GPMPCIeTxRate, 1024).with(nvml.GPMPCIeRxRate, 2048).with(nvml.GPMNVLinkTxRate, 90_000).with(nvml.GPMNVLinkRxRate, 91_000).
		with(nvml.PCIeTxBytes, 4_294_967_000).with(nvml.PCIeRxBytes, 1_000_000).
		at(nvml.ThrottleTime, uint16(nvml.ThrottleSWPowerCap), 7e9).at(nvml.ThrottleTime, uint16(nvml.ThrottleSyncBoost), 0).
		at(nvml.ThrottleTime, uint16(nvml.ThrottleSWThermalSlowdown), 0).at(nvml.ThrottleTime, uint16(nvml.ThrottleHWThermalSlowdown), 0).
		at(nvml.ThrottleTime, uint16(nvml.ThrottleHWPowerBrakeSlowdown), 0).
		with(nvml.RecoveryAction, 0)
}

func a100(index int) *gpu {
	return newGPU(index, "NVIDIA A100-SXM4-80GB", "ampere").basics().server().
		at(nvml.ViolationTime, uint16(nvml.PolicyPower), 3e9).at(nvml.ViolationTime, uint16(nvml.PolicyThermal), 1e9).
		absent(nvml.Unsupported, nvml.GPMGraphicsUtil, nvml.ThrottleTime).
		with(nvml.PCIeTxRate, 512_000).with(nvml.PCIeRxRate, 256_000)
}

func h100(index int) *gpu {
	return newGPU(index, "NVIDIA H100 80GB HBM3", "hopper").basics().server().hopper()
}

func h200(index int) *gpu {
	g := newGPU(index, "NVIDIA H200", "hopper").basics().server().hopper()
	return g.at(nvml.MemoryTotal, 0, 141*gib).at(nvml.MemoryFree, 0, 80*gib).at(nvml.MemoryUsed, 0, 60*gib).at(nvml.PCIeGeneration, 0, 5).
		with(nvml.GPMDMMATensor, 0.25)
}

func geforce(index int) *gpu {
	return newGPU(index, "NVIDIA GeForce RTX 4090", "ada").basics().with(nvml.FanSpeed, 35, 36).with(nvml.FanSpeedRPM, 1200, 1210).
		with(nvml.PCIeTxRate, 1000).with(nvml.PCIeRxRate, 2000).
		absent(nvml.Unsupported, nvml.ECCMode, nvml.MIGMode, nvml.NVLinkUp, nvml.GPMGraphicsUtil, nvml.ThrottleTime, nvml.TemperatureMemory)
}

// old is a GPU before Ampere on a driver that lacks the newer functions.
func old(index int) *gpu {
	return newGPU(index, "Tesla V100-SXM2-32GB", "volta").basics().with(nvml.ECCMode, 1).
		with(nvml.RetiredPagesSingleBit, 4).with(nvml.RetiredPagesDoubleBit, 1).with(nvml.RetiredPagesPending, 1).
		with(nvml.PCIeTxRate, 1000).with(nvml.PCIeRxRate, 2000).
		absent(nvml.Unsupported, nvml.ThrottleTime, nvml.ViolationTime, nvml.MemoryReserved, nvml.UtilizationJPEG, nvml.UtilizationOFA, nvml.RemappedRowsFailed)
}

// slices of a GPU in MIG mode.
func migs(parent *gpu, count int) []nvml.Device {
	parent.at(nvml.MIGMode, 0, 1).at(nvml.MIGDevices, 0, float64(count)).absent(nvml.Unsupported, nvml.UtilizationGPU, nvml.UtilizationMemory)
	devices := []nvml.Device{parent.Device}
	for n := range count {
		g := newGPU(parent.Key.Index, parent.Name, parent.Architecture)
		g.Key.MIG, g.UUID, g.ParentUUID = n, fmt.Sprintf("MIG-%08d-%04d-bbbb-cccc-000000000000", parent.Key.Index, n), parent.UUID
		g.GPUInstance, g.ComputeInstance, g.MIGProfile = 7+n, 0, "1g.10gb"
		g.with(nvml.MemoryTotal, 10*gib).with(nvml.MemoryUsed, float64(n)*gib).with(nvml.MemoryFree, float64(10-n)*gib).
			with(nvml.ECCVolatileCorrectedTotal, 0).absent(nvml.Unsupported, nvml.UtilizationGPU)
		if parent.Architecture == "hopper" {
			g.with(nvml.GPMGraphicsUtil, float64(n)).with(nvml.GPMSMUtil, float64(n)).with(nvml.GPMTensorUtil, 1).with(nvml.GPMDFMATensor, 1)
		}
		devices = append(devices, g.Device)
	}
	return devices
}

func answer(devices ...*gpu) nvml.Snapshot {
	var list []nvml.Device
	for _, g := range devices {
		list = append(list, g.Device)
	}
	return answerOf(list)
}

func answerOf(devices []nvml.Device) nvml.Snapshot {
	return nvml.Snapshot{
		Status: nvml.StatusOK, DriverVersion: "580.65.06", CUDAVersion: "13.0", Wall: 12 * time.Millisecond,
		Helper: nvml.Usage{PID: 77, CPU: time.Second, RSS: 9 * mib}, Devices: devices,
	}
}
