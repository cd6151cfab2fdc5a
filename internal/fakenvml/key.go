package fakenvml

import (
	"fmt"
	"strings"

	"github.com/pitwall-otel/pitwall/internal/nvml"
)

// Key returns the script's key for a reading, without the GPU before it; "" for what follows from others.
func Key(f nvml.Field, index uint16) string {
	pattern := keys()[f]
	switch {
	case f == nvml.ThrottleTime:
		return throttleKey(nvml.ThrottleReason(index))
	case f == nvml.ViolationTime:
		return violationKey(nvml.PerfPolicy(index))
	case strings.Contains(pattern, "%d"):
		return fmt.Sprintf(pattern, index)
	default:
		return pattern
	}
}

// keys lists them by field; %d is the reading's index. field.N is of nvmlDeviceGetFieldValues, gpm.N of GPM, by NVML's
// numbers.
func keys() map[nvml.Field]string {
	return map[nvml.Field]string{
		nvml.UtilizationGPU: "util", nvml.UtilizationMemory: "util_memory", nvml.UtilizationEncoder: "util_encoder",
		nvml.UtilizationDecoder: "util_decoder", nvml.UtilizationJPEG: "util_jpeg", nvml.UtilizationOFA: "util_ofa",
		nvml.MemoryTotal: "memory", nvml.MemoryUsed: "memory_used", nvml.MemoryReserved: "memory_reserved",
		nvml.BAR1Total: "bar1", nvml.BAR1Used: "bar1_used",
		nvml.PowerUsage: "power", nvml.PowerInstant: "field.186", nvml.PowerLimitEnforced: "power_limit",
		nvml.PowerLimitRequested: "power_limit_requested", nvml.PowerLimitDefault: "power_limit_default",
		nvml.PowerLimitMin: "power_limit_min", nvml.PowerLimitMax: "power_limit_max", nvml.Energy: "energy",
		nvml.TemperatureGPU: "temperature", nvml.TemperatureMemory: "field.82", nvml.TemperatureThreshold: "temperature_limit.%d",
		nvml.FanSpeed: "fan.%d", nvml.FanSpeedRPM: "fan_rpm",
		nvml.Clock: "clock.%d", nvml.ClockMax: "clock_max.%d", nvml.PerformanceState: "pstate",
		nvml.ClocksEventReasons: "reasons",
		nvml.PCIeGeneration:     "pcie_generation", nvml.PCIeWidth: "pcie_width", nvml.PCIeGenerationMax: "pcie_generation_max",
		nvml.PCIeWidthMax: "pcie_width_max", nvml.PCIeReplays: "pcie_replays", nvml.PCIeTxRate: "pcie_rate.0",
		nvml.PCIeRxRate: "pcie_rate.1", nvml.PCIeTxBytes: "field.197", nvml.PCIeRxBytes: "field.198",
		nvml.NVLinkUp: "nvlink.%d.up", nvml.NVLinkSpeed: "field.164.%d", nvml.NVLinkTxData: "field.138.%d",
		nvml.NVLinkRxData: "field.139.%d", nvml.NVLinkTxBytes: "field.202.%d", nvml.NVLinkRxBytes: "field.204.%d",
		nvml.NVLinkReplays: "field.161.%d", nvml.NVLinkRecovers: "field.162.%d", nvml.NVLinkCRC: "field.163.%d",
		nvml.NVLinkCRCFlit: "nvlink.%d.error.2", nvml.NVLinkCRCData: "nvlink.%d.error.3", nvml.NVLinkECCData: "nvlink.%d.error.4",
		nvml.ECCMode: "ecc", nvml.ECCModePending: "ecc_pending",
		// nvmlMemoryErrorType_t, then nvmlEccCounterType_t, then nvmlMemoryLocation_t.
		nvml.ECCVolatileCorrectedTotal: "ecc_total.0.0", nvml.ECCVolatileUncorrectedTotal: "ecc_total.1.0",
		nvml.ECCAggregateCorrectedTotal: "ecc_total.0.1", nvml.ECCAggregateUncorrectedTotal: "ecc_total.1.1",
		nvml.ECCVolatileCorrected: "ecc.0.0.%d", nvml.ECCVolatileUncorrected: "ecc.1.0.%d",
		nvml.ECCAggregateCorrected: "ecc.0.1.%d", nvml.ECCAggregateUncorrected: "ecc.1.1.%d",
		nvml.RetiredPagesSingleBit: "retired.0", nvml.RetiredPagesDoubleBit: "retired.1", nvml.RetiredPagesPending: "retired_pending",
		nvml.RemappedRowsCorrected: "remapped_corrected", nvml.RemappedRowsUncorrected: "remapped_uncorrected",
		nvml.RemappedRowsPending: "remapped_pending", nvml.RemappedRowsFailed: "remapped_failed", nvml.RemapBanks: "remap_banks.%d",
		nvml.RecoveryAction:  "field.230",
		nvml.PersistenceMode: "persistence", nvml.ComputeMode: "compute_mode", nvml.MIGMode: "mig_mode",
		nvml.MIGModePending:  "mig_mode_pending",
		nvml.GPMGraphicsUtil: "gpm.1", nvml.GPMSMUtil: "gpm.2", nvml.GPMSMOccupancy: "gpm.3", nvml.GPMIntegerUtil: "gpm.4",
		nvml.GPMTensorUtil: "gpm.5", nvml.GPMDFMATensor: "gpm.6", nvml.GPMHMMATensor: "gpm.7", nvml.GPMDMMATensor: "gpm.8",
		nvml.GPMIMMATensor: "gpm.9", nvml.GPMDRAMBandwidth: "gpm.10", nvml.GPMFP64Util: "gpm.11", nvml.GPMFP32Util: "gpm.12",
		nvml.GPMFP16Util: "gpm.13", nvml.GPMPCIeTxRate: "gpm.20", nvml.GPMPCIeRxRate: "gpm.21",
		nvml.GPMNVLinkRxRate: "gpm.60", nvml.GPMNVLinkTxRate: "gpm.61",
		// Of lists: what the function returns when it fails; process_util alone is a list that is empty.
		nvml.ComputeProcesses: "processes.c", nvml.GraphicsProcesses: "processes.g", nvml.MPSProcesses: "processes.m",
		nvml.ProcessUtilization: "process_util",
	}
}

func throttleKey(reason nvml.ThrottleReason) string {
	switch reason {
	case nvml.ThrottleSWPowerCap:
		return "field.74"
	case nvml.ThrottleSyncBoost:
		return "field.76"
	case nvml.ThrottleSWThermalSlowdown:
		return "field.269"
	case nvml.ThrottleHWThermalSlowdown:
		return "field.270"
	case nvml.ThrottleHWPowerBrakeSlowdown:
		return "field.271"
	default:
		return ""
	}
}

func violationKey(policy nvml.PerfPolicy) string {
	switch {
	case policy <= nvml.PolicyReliability:
		return fmt.Sprintf("field.%d", 74+policy)
	case policy == nvml.PolicyTotalAppClocks:
		return "field.80"
	case policy == nvml.PolicyTotalBaseClocks:
		return "field.81"
	default:
		return ""
	}
}
