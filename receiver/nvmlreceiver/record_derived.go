package nvmlreceiver

import (
	"slices"

	"github.com/pitwall-otel/pitwall/internal/nvml"
	"github.com/pitwall-otel/pitwall/receiver/nvmlreceiver/internal/metadata"
)

// derived records what is made of several readings, and what the receiver itself knows of the device.
func (r *recorder) derived(d *device, f *found) {
	total, ok := f.value(nvml.MemoryTotal, 0)
	if used, has := f.value(nvml.MemoryUsed, 0); ok && has && total > 0 && !r.virtual {
		r.mb.RecordHwGpuMemoryUtilizationDataPoint(r.ts, used/total, r.id, r.index, r.named...)
	}
	// Two instructions of double precision; newer GPUs have the second too.
	dfma, ok := f.value(nvml.GPMDFMATensor, 0)
	if dmma, has := f.value(nvml.GPMDMMATensor, 0); has {
		dfma, ok = dfma+dmma, true
	}
	if ok && !r.virtual {
		r.mb.RecordNvidiaGpuPipeActivityDataPoint(r.ts, min(1, dfma/100), r.id, r.index, "tensor_fp64", r.place...)
	}
	r.times()
	if r.slow {
		r.info(d)
		var unsupported int
		for _, count := range d.unsupported {
			unsupported += count
		}
		if !r.virtual {
			r.mb.RecordPitwallNvmlFieldsUnsupportedDataPoint(r.ts, int64(unsupported), r.component, r.id, r.index, r.mig...)
		}
	}
	if !r.whole {
		return
	}
	r.state(nvml.DeviceOK)
	if f.has(nvml.ClocksEventReasons) {
		for n := range d.throttles.reasons {
			r.mb.RecordNvidiaGpuThrottleActiveDataPoint(r.ts, one(d.throttles.reasons[n].active), r.id, r.index, reasonName(nvml.ThrottleReason(n)))
		}
	}
}

// info says what the device is.
func (r *recorder) info(d *device) {
	if r.virtual {
		return
	}
	x := r.reported
	options := slices.Clip(r.named)
	text := func(value string, option func(string) metadata.MetricAttributeOption) {
		if value != "" {
			options = append(options, option(value))
		}
	}
	text(d.name, metadata.WithHwModelMetricAttribute)
	text(d.serial, metadata.WithHwSerialNumberMetricAttribute)
	text(x.VBIOS, metadata.WithHwFirmwareVersionMetricAttribute)
	text(x.PCIBusID, metadata.WithNvidiaGpuPciBusIDMetricAttribute)
	text(x.MIGProfile, metadata.WithNvidiaGpuMigProfileMetricAttribute)
	text(r.snapshot.DriverVersion, metadata.WithHwDriverVersionMetricAttribute)
	text(r.snapshot.CUDAVersion, metadata.WithNvidiaGpuCudaVersionMetricAttribute)
	if d.key.MIG >= 0 {
		options = append(options, metadata.WithNvidiaGpuMigGpuInstanceIDMetricAttribute(int64(x.GPUInstance)),
			metadata.WithNvidiaGpuMigComputeInstanceIDMetricAttribute(int64(x.ComputeInstance)))
	}
	r.mb.RecordNvidiaGpuInfoDataPoint(r.ts, 1, r.id, r.index, vendor, options...)
}
