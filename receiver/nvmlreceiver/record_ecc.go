package nvmlreceiver

import (
	"github.com/pitwall-otel/pitwall/internal/nvml"
	"github.com/pitwall-otel/pitwall/receiver/nvmlreceiver/internal/metadata"
)

// Kinds of errors of memory, as error.type.
const (
	corrected   = "corrected"
	uncorrected = "uncorrected"
)

// Since when errors are counted.
const (
	volatile  = "volatile"
	aggregate = "aggregate"
)

// ecc records errors of memory: totals every time, the places once a minute.
func (r *recorder) ecc(x nvml.Reading) {
	count := int64(x.Value)
	total := func(kind, since string) {
		r.mb.RecordNvidiaGpuEccErrorsDataPoint(r.ts, count, r.id, r.index, kind, since)
	}
	place := func(kind, since string) {
		if location := locationName(x.Index); location != "" && r.slow {
			r.mb.RecordNvidiaGpuEccErrorsDataPoint(r.ts, count, r.id, r.index, kind, since, metadata.WithNvidiaGpuEccLocationMetricAttribute(location))
		}
	}
	switch x.Field {
	case nvml.ECCMode:
		r.mb.RecordNvidiaGpuEccEnabledDataPoint(r.ts, count, r.id, r.index)
	case nvml.ECCVolatileCorrectedTotal:
		total(corrected, volatile)
		r.mb.RecordHwErrorsDataPoint(r.ts, count, r.id, gpuType, r.index, corrected, r.named...)
	case nvml.ECCVolatileUncorrectedTotal:
		total(uncorrected, volatile)
		r.mb.RecordHwErrorsDataPoint(r.ts, count, r.id, gpuType, r.index, uncorrected, r.named...)
	case nvml.ECCAggregateCorrectedTotal:
		total(corrected, aggregate)
	case nvml.ECCAggregateUncorrectedTotal:
		total(uncorrected, aggregate)
	case nvml.ECCVolatileCorrected:
		place(corrected, volatile)
	case nvml.ECCVolatileUncorrected:
		place(uncorrected, volatile)
	case nvml.ECCAggregateCorrected:
		place(corrected, aggregate)
	case nvml.ECCAggregateUncorrected:
		place(uncorrected, aggregate)
	default:
		r.repairs(x)
	}
}

// repairs records pages and rows that were taken out of use.
func (r *recorder) repairs(x nvml.Reading) {
	count := int64(x.Value)
	switch x.Field {
	case nvml.RetiredPagesSingleBit:
		r.mb.RecordNvidiaGpuRetiredPagesDataPoint(r.ts, count, r.id, r.index, "single_bit")
	case nvml.RetiredPagesDoubleBit:
		r.mb.RecordNvidiaGpuRetiredPagesDataPoint(r.ts, count, r.id, r.index, "double_bit")
	case nvml.RetiredPagesPending:
		r.mb.RecordNvidiaGpuRetiredPagesPendingDataPoint(r.ts, count, r.id, r.index)
	case nvml.RemappedRowsCorrected:
		r.mb.RecordNvidiaGpuRemappedRowsDataPoint(r.ts, count, r.id, r.index, corrected)
	case nvml.RemappedRowsUncorrected:
		r.mb.RecordNvidiaGpuRemappedRowsDataPoint(r.ts, count, r.id, r.index, uncorrected)
	case nvml.RemappedRowsPending:
		r.mb.RecordNvidiaGpuRemappedRowsPendingDataPoint(r.ts, count, r.id, r.index)
	case nvml.RemappedRowsFailed:
		r.mb.RecordNvidiaGpuRemappedRowsFailedDataPoint(r.ts, count, r.id, r.index)
	case nvml.RemapBanks:
		if left := availabilityName(x.Index); left != "" && r.slow {
			r.mb.RecordNvidiaGpuRemappedRowsBanksDataPoint(r.ts, count, r.id, r.index, left)
		}
	case nvml.RecoveryAction:
		for action := 0.0; nvml.RecoveryActionName(action) != ""; action++ {
			r.mb.RecordNvidiaGpuRecoveryActionDataPoint(r.ts, one(action == x.Value), r.id, r.index, nvml.RecoveryActionName(action))
		}
	default:
	}
}

func locationName(location uint16) string {
	switch nvml.MemoryLocation(location) {
	case nvml.LocationL1Cache:
		return "l1_cache"
	case nvml.LocationL2Cache:
		return "l2_cache"
	case nvml.LocationDeviceMemory:
		return "device_memory"
	case nvml.LocationRegisterFile:
		return "register_file"
	case nvml.LocationTextureMemory:
		return "texture_memory"
	case nvml.LocationTextureSHM:
		return "texture_shm"
	case nvml.LocationCBU:
		return "cbu"
	case nvml.LocationSRAM:
		return "sram"
	default:
		return ""
	}
}

func availabilityName(availability uint16) string {
	switch nvml.RemapAvailability(availability) {
	case nvml.RemapMax:
		return "max"
	case nvml.RemapHigh:
		return "high"
	case nvml.RemapPartial:
		return "partial"
	case nvml.RemapLow:
		return "low"
	case nvml.RemapNone:
		return "none"
	default:
		return ""
	}
}
