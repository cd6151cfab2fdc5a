package nvmlreceiver

import (
	"strconv"

	"github.com/pitwall-otel/pitwall/internal/nvml"
	"github.com/pitwall-otel/pitwall/receiver/nvmlreceiver/internal/metadata"
)

// Units of NVML in ours.
const (
	milli = 1e-3
	mega  = 1e6
	mebi  = 1 << 20
	kibi  = 1 << 10
	kilo  = 1e3
)

// vitals are what changes all the time: utilization, power, temperature, clocks.
func (r *recorder) vitals(x nvml.Reading) {
	task := func(name string) {
		r.mb.RecordHwGpuUtilizationDataPoint(r.ts, x.Value/100, r.id, r.index, name, r.named...)
	}
	limit := func(name string) { r.mb.RecordNvidiaGpuPowerLimitDataPoint(r.ts, x.Value*milli, r.id, r.index, name) }
	switch x.Field {
	case nvml.UtilizationGPU:
		task("general")
	case nvml.UtilizationEncoder:
		task("encoder")
	case nvml.UtilizationDecoder:
		task("decoder")
	case nvml.UtilizationMemory:
		r.mb.RecordNvidiaGpuMemoryControllerUtilizationDataPoint(r.ts, x.Value/100, r.id, r.index)
	case nvml.UtilizationJPEG:
		r.mb.RecordNvidiaGpuEngineUtilizationDataPoint(r.ts, x.Value/100, r.id, r.index, "jpeg")
	case nvml.UtilizationOFA:
		r.mb.RecordNvidiaGpuEngineUtilizationDataPoint(r.ts, x.Value/100, r.id, r.index, "ofa")
	case nvml.PowerUsage:
		r.mb.RecordHwPowerDataPoint(r.ts, x.Value*milli, r.id, gpuType, r.index, r.named...)
	case nvml.PowerInstant:
		r.mb.RecordNvidiaGpuPowerInstantDataPoint(r.ts, x.Value*milli, r.id, r.index)
	case nvml.PowerLimitEnforced:
		limit("enforced")
	case nvml.PowerLimitRequested:
		limit("requested")
	case nvml.Energy:
		r.mb.RecordHwEnergyDataPoint(r.ts, x.Value*milli, r.id, gpuType, r.index, r.named...)
	case nvml.TemperatureGPU:
		r.mb.RecordHwTemperatureDataPoint(r.ts, x.Value, r.id, gpuType, r.index, "gpu", r.named...)
	case nvml.TemperatureMemory:
		r.mb.RecordHwTemperatureDataPoint(r.ts, x.Value, r.id, gpuType, r.index, "memory", r.named...)
	case nvml.FanSpeed:
		r.mb.RecordHwFanSpeedRatioDataPoint(r.ts, x.Value/100, r.fan(x.Index), r.index, metadata.WithHwParentMetricAttribute(r.id))
	case nvml.FanSpeedRPM:
		r.mb.RecordHwFanSpeedDataPoint(r.ts, x.Value, r.fan(x.Index), r.index, metadata.WithHwParentMetricAttribute(r.id))
	case nvml.Clock:
		if domain := clockName(x.Index); domain != "" {
			r.mb.RecordNvidiaGpuClockDataPoint(r.ts, x.Value*mega, r.id, r.index, domain)
		}
	case nvml.PerformanceState:
		r.mb.RecordNvidiaGpuPerformanceStateDataPoint(r.ts, int64(x.Value), r.id, r.index)
	default:
	}
}

// fan is a component of its own, whose parent is the GPU.
func (r *recorder) fan(index uint16) string { return r.id + "/fan" + strconv.Itoa(int(index)) }

func clockName(domain uint16) string {
	switch nvml.ClockDomain(domain) {
	case nvml.ClockGraphics:
		return "graphics"
	case nvml.ClockSM:
		return "sm"
	case nvml.ClockMemory:
		return "memory"
	case nvml.ClockVideo:
		return "video"
	default:
		return ""
	}
}

// settings are what hardly ever changes: modes and limits.
func (r *recorder) settings(x nvml.Reading) {
	power := func(name string) { r.mb.RecordNvidiaGpuPowerLimitDataPoint(r.ts, x.Value*milli, r.id, r.index, name) }
	switch x.Field {
	case nvml.PersistenceMode:
		r.mb.RecordNvidiaGpuPersistenceModeDataPoint(r.ts, int64(x.Value), r.id, r.index)
	case nvml.ComputeMode:
		for mode := range 4 {
			r.mb.RecordNvidiaGpuComputeModeDataPoint(r.ts, one(mode == int(x.Value)), r.id, r.index, nvml.ComputeModeName(float64(mode)))
		}
	case nvml.MIGMode:
		r.mb.RecordNvidiaGpuMigEnabledDataPoint(r.ts, int64(x.Value), r.id, r.index)
	case nvml.MIGDevices:
		r.mb.RecordNvidiaGpuMigDevicesDataPoint(r.ts, int64(x.Value), r.id, r.index)
	case nvml.PowerLimitDefault:
		power("default")
	case nvml.PowerLimitMin:
		power("min")
	case nvml.PowerLimitMax:
		power("max")
	case nvml.TemperatureThreshold:
		limit := func(kind, location string) {
			r.mb.RecordHwTemperatureLimitDataPoint(r.ts, x.Value, r.id, gpuType, r.index, kind, location, r.named...)
		}
		switch nvml.TemperatureLimit(x.Index) {
		case nvml.TemperatureShutdown:
			limit("critical", "gpu")
		case nvml.TemperatureSlowdown:
			limit("throttled", "gpu")
		case nvml.TemperatureGPUMax:
			limit("max", "gpu")
		case nvml.TemperatureMemoryMax:
			limit("max", "memory")
		}
	case nvml.ClockMax:
		if domain := clockName(x.Index); domain != "" {
			r.mb.RecordNvidiaGpuClockLimitDataPoint(r.ts, x.Value*mega, r.id, r.index, domain)
		}
	case nvml.PCIeGenerationMax:
		r.mb.RecordNvidiaGpuPcieGenerationLimitDataPoint(r.ts, int64(x.Value), r.id, r.index)
	case nvml.PCIeWidthMax:
		r.mb.RecordNvidiaGpuPcieWidthLimitDataPoint(r.ts, int64(x.Value), r.id, r.index)
	default:
	}
}
