//go:build linux && cgo

package main

import (
	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/pitwall-otel/pitwall/internal/nvml"
)

// eccCalls lists what tells of broken memory.
func eccCalls() []call {
	list := []call{
		{
			fields: []nvml.Field{nvml.ECCMode, nvml.ECCModePending}, symbols: []string{"nvmlDeviceGetEccMode"},
			do: func(d device, out []float64) ret {
				current, pending, r := d.GetEccMode()
				out[0], out[1] = float64(current), float64(pending)
				return r
			},
		},
		retiredPages(nvml.RetiredPagesSingleBit, gonvml.PAGE_RETIREMENT_CAUSE_MULTIPLE_SINGLE_BIT_ECC_ERRORS),
		retiredPages(nvml.RetiredPagesDoubleBit, gonvml.PAGE_RETIREMENT_CAUSE_DOUBLE_BIT_ECC_ERROR),
		one(nvml.RetiredPagesPending, "nvmlDeviceGetRetiredPagesPendingStatus", device.GetRetiredPagesPendingStatus),
		{
			fields: []nvml.Field{
				nvml.RemappedRowsCorrected, nvml.RemappedRowsUncorrected, nvml.RemappedRowsPending, nvml.RemappedRowsFailed,
			},
			symbols: []string{"nvmlDeviceGetRemappedRows"},
			do: func(d device, out []float64) ret {
				corrected, uncorrected, pending, failed, r := d.GetRemappedRows()
				out[0], out[1], out[2], out[3] = float64(corrected), float64(uncorrected), bit(pending), bit(failed)
				return r
			},
		},
	}
	for i, get := range []func(gonvml.RowRemapperHistogramValues) uint32{
		func(v gonvml.RowRemapperHistogramValues) uint32 { return v.Max },
		func(v gonvml.RowRemapperHistogramValues) uint32 { return v.High },
		func(v gonvml.RowRemapperHistogramValues) uint32 { return v.Partial },
		func(v gonvml.RowRemapperHistogramValues) uint32 { return v.Low },
		func(v gonvml.RowRemapperHistogramValues) uint32 { return v.None },
	} {
		list = append(list, indexed(nvml.RemapBanks, uint16(i), "nvmlDeviceGetRowRemapperHistogram",
			func(d device) (uint32, ret) {
				v, r := d.GetRowRemapperHistogram()
				return get(v), r
			}))
	}
	for _, c := range []struct {
		total, located nvml.Field
		kind           gonvml.MemoryErrorType
		since          gonvml.EccCounterType
	}{
		{nvml.ECCVolatileCorrectedTotal, nvml.ECCVolatileCorrected, gonvml.MEMORY_ERROR_TYPE_CORRECTED, gonvml.VOLATILE_ECC},
		{nvml.ECCVolatileUncorrectedTotal, nvml.ECCVolatileUncorrected, gonvml.MEMORY_ERROR_TYPE_UNCORRECTED, gonvml.VOLATILE_ECC},
		{nvml.ECCAggregateCorrectedTotal, nvml.ECCAggregateCorrected, gonvml.MEMORY_ERROR_TYPE_CORRECTED, gonvml.AGGREGATE_ECC},
		{nvml.ECCAggregateUncorrectedTotal, nvml.ECCAggregateUncorrected, gonvml.MEMORY_ERROR_TYPE_UNCORRECTED, gonvml.AGGREGATE_ECC},
	} {
		list = append(list, one(c.total, "nvmlDeviceGetTotalEccErrors", func(d device) (uint64, ret) {
			return d.GetTotalEccErrors(c.kind, c.since)
		}))
		for location := range nvml.LocationSRAM + 1 {
			list = append(list, indexed(c.located, uint16(location), "nvmlDeviceGetMemoryErrorCounter",
				func(d device) (uint64, ret) {
					return d.GetMemoryErrorCounter(c.kind, c.since, gonvml.MemoryLocation(location))
				}))
		}
	}
	return list
}

func retiredPages(f nvml.Field, cause gonvml.PageRetirementCause) call {
	return one(f, "nvmlDeviceGetRetiredPages", func(d device) (int, ret) {
		pages, r := d.GetRetiredPages(cause)
		return len(pages), r
	})
}

func bit(v bool) float64 {
	if v {
		return 1
	}
	return 0
}
