package nvmlclient

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pitwall-otel/pitwall/internal/nvml"
	"github.com/pitwall-otel/pitwall/internal/nvmltest"
)

// fieldOfKey says which field holds what a key of the script says; a star is the field's index.
func fieldOfKey() map[string]nvml.Field {
	return map[string]nvml.Field{
		"util": nvml.UtilizationGPU, "util_memory": nvml.UtilizationMemory, "util_encoder": nvml.UtilizationEncoder,
		"util_decoder": nvml.UtilizationDecoder, "util_jpeg": nvml.UtilizationJPEG, "util_ofa": nvml.UtilizationOFA,
		"memory": nvml.MemoryTotal, "memory_used": nvml.MemoryUsed, "memory_reserved": nvml.MemoryReserved,
		"bar1": nvml.BAR1Total, "bar1_used": nvml.BAR1Used,
		"power": nvml.PowerUsage, "power_limit": nvml.PowerLimitEnforced, "power_limit_requested": nvml.PowerLimitRequested,
		"power_limit_default": nvml.PowerLimitDefault, "power_limit_min": nvml.PowerLimitMin,
		"power_limit_max": nvml.PowerLimitMax, "energy": nvml.Energy, "field.186": nvml.PowerInstant,
		"temperature": nvml.TemperatureGPU, "field.82": nvml.TemperatureMemory, "temperature_limit.*": nvml.TemperatureThreshold,
		"fan.*": nvml.FanSpeed, "fan_rpm": nvml.FanSpeedRPM, "clock.*": nvml.Clock, "clock_max.*": nvml.ClockMax,
		"pstate": nvml.PerformanceState, "reasons": nvml.ClocksEventReasons,
		"pcie_generation": nvml.PCIeGeneration, "pcie_width": nvml.PCIeWidth, "pcie_generation_max": nvml.PCIeGenerationMax,
		"pcie_width_max": nvml.PCIeWidthMax, "pcie_replays": nvml.PCIeReplays, "pcie_rate.0": nvml.PCIeTxRate,
		"pcie_rate.1": nvml.PCIeRxRate, "field.197": nvml.PCIeTxBytes, "field.198": nvml.PCIeRxBytes,
		"nvlink.*.up": nvml.NVLinkUp, "persistence": nvml.PersistenceMode, "compute_mode": nvml.ComputeMode,
		"mig_mode": nvml.MIGMode, "mig_mode_pending": nvml.MIGModePending, "ecc": nvml.ECCMode, "ecc_pending": nvml.ECCModePending,
		// nvmlMemoryErrorType_t, then nvmlEccCounterType_t, then nvmlMemoryLocation_t.
		"ecc_total.0.0": nvml.ECCVolatileCorrectedTotal, "ecc_total.1.0": nvml.ECCVolatileUncorrectedTotal,
		"ecc_total.0.1": nvml.ECCAggregateCorrectedTotal, "ecc_total.1.1": nvml.ECCAggregateUncorrectedTotal,
		"ecc.0.0.*": nvml.ECCVolatileCorrected, "ecc.1.0.*": nvml.ECCVolatileUncorrected,
		"ecc.0.1.*": nvml.ECCAggregateCorrected, "ecc.1.1.*": nvml.ECCAggregateUncorrected,
		"retired.0": nvml.RetiredPagesSingleBit, "retired.1": nvml.RetiredPagesDoubleBit, "retired_pending": nvml.RetiredPagesPending,
		"remapped_corrected": nvml.RemappedRowsCorrected, "remapped_uncorrected": nvml.RemappedRowsUncorrected,
		"remapped_pending": nvml.RemappedRowsPending, "remapped_failed": nvml.RemappedRowsFailed,
		"remap_banks.*": nvml.RemapBanks, "field.230": nvml.RecoveryAction,
		// nvmlGpmMetricId_t.
		"gpm.1": nvml.GPMGraphicsUtil, "gpm.2": nvml.GPMSMUtil, "gpm.3": nvml.GPMSMOccupancy, "gpm.4": nvml.GPMIntegerUtil,
		"gpm.5": nvml.GPMTensorUtil, "gpm.6": nvml.GPMDFMATensor, "gpm.7": nvml.GPMHMMATensor, "gpm.8": nvml.GPMDMMATensor,
		"gpm.9": nvml.GPMIMMATensor, "gpm.10": nvml.GPMDRAMBandwidth, "gpm.11": nvml.GPMFP64Util, "gpm.12": nvml.GPMFP32Util,
		"gpm.13": nvml.GPMFP16Util, "gpm.20": nvml.GPMPCIeTxRate, "gpm.21": nvml.GPMPCIeRxRate, "gpm.60": nvml.GPMNVLinkRxRate,
		"gpm.61": nvml.GPMNVLinkTxRate,
	}
}

// placed are the keys whose index in NVML is not the one in the script.
func placed(key string) (f nvml.Field, indexes []uint16) {
	throttle := func(r nvml.ThrottleReason) (nvml.Field, []uint16) { return nvml.ThrottleTime, []uint16{uint16(r)} }
	up := []uint16{0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16} // of the H100; 3 has a line of its own, 17 is down
	switch key {
	case "field.74": // also the time below the limit of power, see field.75
		return throttle(nvml.ThrottleSWPowerCap)
	case "field.269":
		return throttle(nvml.ThrottleSWThermalSlowdown)
	case "field.270":
		return throttle(nvml.ThrottleHWThermalSlowdown)
	case "field.271":
		return throttle(nvml.ThrottleHWPowerBrakeSlowdown)
	case "field.76":
		return throttle(nvml.ThrottleSyncBoost)
	case "field.75":
		return nvml.ViolationTime, []uint16{uint16(nvml.PolicyThermal)}
	case "field.77":
		return nvml.ViolationTime, []uint16{uint16(nvml.PolicyBoardLimit)}
	case "field.78":
		return nvml.ViolationTime, []uint16{uint16(nvml.PolicyLowUtilization)}
	case "field.79":
		return nvml.ViolationTime, []uint16{uint16(nvml.PolicyReliability)}
	case "field.80":
		return nvml.ViolationTime, []uint16{uint16(nvml.PolicyTotalAppClocks)}
	case "field.81":
		return nvml.ViolationTime, []uint16{uint16(nvml.PolicyTotalBaseClocks)}
	case "field.161":
		return nvml.NVLinkReplays, up
	case "field.161.3":
		return nvml.NVLinkReplays, []uint16{3}
	case "field.162":
		return nvml.NVLinkRecovers, up
	case "field.163":
		return nvml.NVLinkCRC, up
	case "field.164":
		return nvml.NVLinkSpeed, up
	case "field.138":
		return nvml.NVLinkTxData, up
	case "field.139":
		return nvml.NVLinkRxData, up
	}
	return 0, nil
}

// otherKeys are not of a reading: names, lists and what is only read through another value.
const otherKeys = `^(name|uuid|serial|vbios|brand|architecture|virtualization|pci|minor|fans|gpm|process.*|events)$`

// TestEveryValueOfTheScriptArrives reads the script by itself and holds each line against what came through the library,
// go-nvml, the helper, the pipe and the client.
func TestEveryValueOfTheScriptArrives(t *testing.T) {
	for _, name := range []string{"h100", "consumer"} {
		t.Run(name, func(t *testing.T) {
			script := nvmltest.Profile(t, name)
			nvmltest.Script(t, script)
			c := started(t, newClient(t))
			eventually(t, c, status(nvml.StatusOK))
			device := ask(c).Devices[0]
			held := 0
			for line := range strings.Lines(script) {
				m := regexp.MustCompile(`^gpu\.[*0]\.(\S+?)=(.*)\n$`).FindStringSubmatch(line)
				if m == nil || regexp.MustCompile(otherKeys).MatchString(m[1]) {
					continue
				}
				field, indexes := fieldAndIndexes(m[1])
				require.NotZero(t, field, "nothing is known of %s", m[1])
				want, err := strconv.ParseFloat(m[2], 64)
				require.NoError(t, err)
				for _, index := range indexes {
					got := read(t, device, field, index)
					require.Equal(t, nvml.Reading{Field: field, Index: index, Value: want}, got, line)
					held++
				}
			}
			require.Greater(t, held, 40)
		})
	}
}

func fieldAndIndexes(key string) (nvml.Field, []uint16) {
	if f, indexes := placed(key); f != 0 {
		return f, indexes
	}
	if f := fieldOfKey()[key]; f != 0 {
		return f, []uint16{0}
	}
	parts := strings.Split(key, ".")
	for i, p := range parts {
		index, err := strconv.Atoi(p)
		if err != nil {
			continue
		}
		pattern := strings.Join(append(append(append([]string{}, parts[:i]...), "*"), parts[i+1:]...), ".")
		if f := fieldOfKey()[pattern]; f != 0 {
			return f, []uint16{uint16(index)}
		}
	}
	return 0, nil
}
