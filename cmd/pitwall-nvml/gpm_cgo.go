//go:build linux && cgo

package main

import (
	"math"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/pitwall-otel/pitwall/internal/nvml"
)

// gpm keeps the sample of the last time: what GPM tells is between two samples.
type gpm struct {
	last, next gonvml.GpmSample
	sampled    bool
	request    *gonvml.GpmMetricsGetType
}

// gpmMetrics lists what is asked, by NVML's number.
func gpmMetrics() []struct {
	id    gonvml.GpmMetricId
	field nvml.Field
} {
	return []struct {
		id    gonvml.GpmMetricId
		field nvml.Field
	}{
		{gonvml.GPM_METRIC_GRAPHICS_UTIL, nvml.GPMGraphicsUtil},
		{gonvml.GPM_METRIC_SM_UTIL, nvml.GPMSMUtil},
		{gonvml.GPM_METRIC_SM_OCCUPANCY, nvml.GPMSMOccupancy},
		{gonvml.GPM_METRIC_INTEGER_UTIL, nvml.GPMIntegerUtil},
		{gonvml.GPM_METRIC_ANY_TENSOR_UTIL, nvml.GPMTensorUtil},
		{gonvml.GPM_METRIC_DFMA_TENSOR_UTIL, nvml.GPMDFMATensor},
		{gonvml.GPM_METRIC_HMMA_TENSOR_UTIL, nvml.GPMHMMATensor},
		{gonvml.GPM_METRIC_DMMA_TENSOR_UTIL, nvml.GPMDMMATensor},
		{gonvml.GPM_METRIC_IMMA_TENSOR_UTIL, nvml.GPMIMMATensor},
		{gonvml.GPM_METRIC_DRAM_BW_UTIL, nvml.GPMDRAMBandwidth},
		{gonvml.GPM_METRIC_FP64_UTIL, nvml.GPMFP64Util},
		{gonvml.GPM_METRIC_FP32_UTIL, nvml.GPMFP32Util},
		{gonvml.GPM_METRIC_FP16_UTIL, nvml.GPMFP16Util},
		{gonvml.GPM_METRIC_PCIE_TX_PER_SEC, nvml.GPMPCIeTxRate},
		{gonvml.GPM_METRIC_PCIE_RX_PER_SEC, nvml.GPMPCIeRxRate},
		{gonvml.GPM_METRIC_NVLINK_TOTAL_TX_PER_SEC, nvml.GPMNVLinkTxRate},
		{gonvml.GPM_METRIC_NVLINK_TOTAL_RX_PER_SEC, nvml.GPMNVLinkRxRate},
	}
}

// readGPM takes a sample and tells what happened since the last one; of a GPU instance unless that is -1.
func (s *session) readGPM(d gonvml.Device, g *gpm, instance int) {
	if !s.wants(nvml.ClassGPM) {
		return
	}
	why, known := s.memory.calls[placeGPM]
	if !known {
		why = s.sampleGPM(d, g, instance)
		if lasting(why) {
			s.memory.calls[placeGPM] = why
		}
	}
	if why == nvml.Present {
		if g.sampled {
			why = s.compareGPM(g)
		} else {
			g.sampled, why = true, nvml.NotYet
		}
		g.last, g.next = g.next, g.last // a sample that could not be taken must not become the last one
	}
	if why != nvml.Present {
		for _, m := range gpmMetrics() {
			s.absent(m.field, 0, why)
		}
	}
}

func (s *session) sampleGPM(d gonvml.Device, g *gpm, instance int) nvml.Absent {
	for _, symbol := range []string{
		"nvmlGpmQueryDeviceSupport", "nvmlGpmSampleAlloc", "nvmlGpmSampleFree", "nvmlGpmSampleGet", "nvmlGpmMetricsGet",
	} {
		if !s.lib.has(symbol) {
			return nvml.Unsupported
		}
	}
	if g.next == nil {
		if why := s.allocGPM(d, g); why != nvml.Present {
			return why
		}
	}
	if instance < 0 {
		return s.settle(d.GpmSampleGet(g.next))
	}
	if !s.lib.has("nvmlGpmMigSampleGet") {
		return nvml.Unsupported
	}
	return s.settle(d.GpmMigSampleGet(instance, g.next))
}

func (s *session) allocGPM(d gonvml.Device, g *gpm) nvml.Absent {
	support, r := d.GpmQueryDeviceSupport()
	if r != gonvml.SUCCESS {
		return s.settle(r)
	}
	if support.IsSupportedDevice == 0 {
		return nvml.Unsupported
	}
	if g.last, r = s.lib.GpmSampleAlloc(); r != gonvml.SUCCESS {
		g.last = nil
		return s.settle(r)
	}
	if g.next, r = s.lib.GpmSampleAlloc(); r != gonvml.SUCCESS {
		g.next = nil
		g.free(s.lib)
		return s.settle(r)
	}
	g.request = new(gonvml.GpmMetricsGetType)
	return nvml.Present
}

func (s *session) compareGPM(g *gpm) nvml.Absent {
	metrics := gpmMetrics()
	*g.request = gonvml.GpmMetricsGetType{NumMetrics: uint32(len(metrics)), Sample1: g.last, Sample2: g.next}
	for i, m := range metrics {
		g.request.Metrics[i].MetricId = uint32(m.id)
	}
	if why := s.settle(s.lib.GpmMetricsGet(g.request)); why != nvml.Present {
		return why
	}
	for i, m := range metrics {
		got := &g.request.Metrics[i]
		why := s.settle(gonvml.Return(got.NvmlReturn))
		if why == nvml.Present && (math.IsNaN(got.Value) || math.IsInf(got.Value, 0)) {
			why = nvml.Failed
		}
		if why == nvml.Present {
			s.present(m.field, 0, got.Value)
		} else {
			s.absent(m.field, 0, why)
		}
	}
	return nvml.Present
}

// free gives the samples back; the next time begins anew.
func (g *gpm) free(l *library) {
	for _, sample := range []gonvml.GpmSample{g.last, g.next} {
		if sample != nil {
			_ = l.GpmSampleFree(sample)
		}
	}
	*g = gpm{}
}
