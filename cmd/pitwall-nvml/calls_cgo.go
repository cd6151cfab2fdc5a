//go:build linux && cgo

package main

import (
	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/pitwall-otel/pitwall/internal/nvml"
)

type (
	device = gonvml.Device
	ret    = gonvml.Return
)

// calls lists the functions that are asked one by one. A further one is one more entry.
func calls(lib *library) []call {
	list := []call{
		{
			fields: []nvml.Field{nvml.UtilizationGPU, nvml.UtilizationMemory}, symbols: []string{"nvmlDeviceGetUtilizationRates"},
			do: func(d device, out []float64) ret {
				v, r := d.GetUtilizationRates()
				out[0], out[1] = float64(v.Gpu), float64(v.Memory)
				return r
			},
		},
		period(nvml.UtilizationEncoder, "nvmlDeviceGetEncoderUtilization", device.GetEncoderUtilization),
		period(nvml.UtilizationDecoder, "nvmlDeviceGetDecoderUtilization", device.GetDecoderUtilization),
		period(nvml.UtilizationJPEG, "nvmlDeviceGetJpgUtilization", device.GetJpgUtilization),
		period(nvml.UtilizationOFA, "nvmlDeviceGetOfaUtilization", device.GetOfaUtilization),
		memoryInfo(lib),
		{
			fields: []nvml.Field{nvml.BAR1Total, nvml.BAR1Used, nvml.BAR1Free}, symbols: []string{"nvmlDeviceGetBAR1MemoryInfo"},
			do: func(d device, out []float64) ret {
				v, r := d.GetBAR1MemoryInfo()
				out[0], out[1], out[2] = float64(v.Bar1Total), float64(v.Bar1Used), float64(v.Bar1Free)
				return r
			},
		},
		one(nvml.PowerUsage, "nvmlDeviceGetPowerUsage", device.GetPowerUsage),
		one(nvml.PowerLimitEnforced, "nvmlDeviceGetEnforcedPowerLimit", device.GetEnforcedPowerLimit),
		one(nvml.PowerLimitRequested, "nvmlDeviceGetPowerManagementLimit", device.GetPowerManagementLimit),
		one(nvml.PowerLimitDefault, "nvmlDeviceGetPowerManagementDefaultLimit", device.GetPowerManagementDefaultLimit),
		{
			fields:  []nvml.Field{nvml.PowerLimitMin, nvml.PowerLimitMax},
			symbols: []string{"nvmlDeviceGetPowerManagementLimitConstraints"},
			do: func(d device, out []float64) ret {
				least, most, r := d.GetPowerManagementLimitConstraints()
				out[0], out[1] = float64(least), float64(most)
				return r
			},
		},
		one(nvml.Energy, "nvmlDeviceGetTotalEnergyConsumption", device.GetTotalEnergyConsumption),
		one(nvml.TemperatureGPU, "nvmlDeviceGetTemperature", func(d device) (uint32, ret) {
			return d.GetTemperature(gonvml.TEMPERATURE_GPU)
		}),
		{
			fields: []nvml.Field{nvml.FanSpeedRPM}, symbols: []string{"nvmlDeviceGetFanSpeedRPM"},
			do: func(d device, out []float64) ret {
				v, r := d.GetFanSpeedRPM()
				out[0] = float64(v.Speed)
				return r
			},
		},
		{
			fields: []nvml.Field{nvml.PerformanceState}, symbols: []string{"nvmlDeviceGetPerformanceState"},
			do: func(d device, out []float64) ret {
				v, r := d.GetPerformanceState()
				if r == gonvml.SUCCESS && v == gonvml.PSTATE_UNKNOWN {
					return gonvml.ERROR_NO_DATA
				}
				out[0] = float64(v)
				return r
			},
		},
		clocksEventReasons(lib),
		one(nvml.PCIeGeneration, "nvmlDeviceGetCurrPcieLinkGeneration", device.GetCurrPcieLinkGeneration),
		one(nvml.PCIeWidth, "nvmlDeviceGetCurrPcieLinkWidth", device.GetCurrPcieLinkWidth),
		one(nvml.PCIeGenerationMax, "nvmlDeviceGetMaxPcieLinkGeneration", device.GetMaxPcieLinkGeneration),
		one(nvml.PCIeWidthMax, "nvmlDeviceGetMaxPcieLinkWidth", device.GetMaxPcieLinkWidth),
		one(nvml.PCIeReplays, "nvmlDeviceGetPcieReplayCounter", device.GetPcieReplayCounter),
		one(nvml.PCIeTxRate, "nvmlDeviceGetPcieThroughput", func(d device) (uint32, ret) {
			return d.GetPcieThroughput(gonvml.PCIE_UTIL_TX_BYTES)
		}),
		one(nvml.PCIeRxRate, "nvmlDeviceGetPcieThroughput", func(d device) (uint32, ret) {
			return d.GetPcieThroughput(gonvml.PCIE_UTIL_RX_BYTES)
		}),
		one(nvml.PersistenceMode, "nvmlDeviceGetPersistenceMode", device.GetPersistenceMode),
		one(nvml.ComputeMode, "nvmlDeviceGetComputeMode", device.GetComputeMode),
	}
	for domain := range nvml.ClockVideo + 1 {
		list = append(list, clock(nvml.Clock, domain, "nvmlDeviceGetClockInfo", device.GetClockInfo),
			clock(nvml.ClockMax, domain, "nvmlDeviceGetMaxClockInfo", device.GetMaxClockInfo))
	}
	for limit := range nvml.TemperatureGPUMax + 1 {
		list = append(list, indexed(nvml.TemperatureThreshold, uint16(limit), "nvmlDeviceGetTemperatureThreshold",
			func(d device) (uint32, ret) { return d.GetTemperatureThreshold(gonvml.TemperatureThresholds(limit)) }))
	}
	return append(list, eccCalls()...)
}

type number interface {
	~int | ~int32 | ~uint32 | ~uint64
}

// one makes the call of a function that returns a number.
func one[T number](f nvml.Field, symbol string, get func(device) (T, ret)) call {
	return indexed(f, 0, symbol, get)
}

func indexed[T number](f nvml.Field, index uint16, symbol string, get func(device) (T, ret)) call {
	return call{fields: []nvml.Field{f}, index: index, symbols: []string{symbol}, do: func(d device, out []float64) ret {
		v, r := get(d)
		out[0] = float64(v)
		return r
	}}
}

// period makes the call of a function that returns a utilisation and how long it was sampled.
func period(f nvml.Field, symbol string, get func(device) (uint32, uint32, ret)) call {
	return one(f, symbol, func(d device) (uint32, ret) {
		v, _, r := get(d)
		return v, r
	})
}

func clock(f nvml.Field, domain nvml.ClockDomain, symbol string, get func(device, gonvml.ClockType) (uint32, ret)) call {
	return indexed(f, uint16(domain), symbol, func(d device) (uint32, ret) { return get(d, gonvml.ClockType(domain)) })
}

// memoryInfo tells reserved memory apart where the driver can.
func memoryInfo(lib *library) call {
	if !lib.has("nvmlDeviceGetMemoryInfo_v2") {
		return call{
			fields:  []nvml.Field{nvml.MemoryTotal, nvml.MemoryUsed, nvml.MemoryFree},
			symbols: []string{"nvmlDeviceGetMemoryInfo"},
			do: func(d device, out []float64) ret {
				v, r := d.GetMemoryInfo()
				out[0], out[1], out[2] = float64(v.Total), float64(v.Used), float64(v.Free)
				return r
			},
		}
	}
	return call{
		fields:  []nvml.Field{nvml.MemoryTotal, nvml.MemoryUsed, nvml.MemoryFree, nvml.MemoryReserved},
		symbols: []string{"nvmlDeviceGetMemoryInfo_v2"},
		do: func(d device, out []float64) ret {
			v, r := d.GetMemoryInfo_v2()
			out[0], out[1], out[2], out[3] = float64(v.Total), float64(v.Used), float64(v.Free), float64(v.Reserved)
			return r
		},
	}
}

// clocksEventReasons takes the name that the function had before it was renamed where there is only that.
func clocksEventReasons(lib *library) call {
	if lib.has("nvmlDeviceGetCurrentClocksEventReasons") {
		return one(nvml.ClocksEventReasons, "nvmlDeviceGetCurrentClocksEventReasons", device.GetCurrentClocksEventReasons)
	}
	return one(nvml.ClocksEventReasons, "nvmlDeviceGetCurrentClocksThrottleReasons",
		func(d device) (uint64, ret) { return d.GetCurrentClocksThrottleReasons() })
}
