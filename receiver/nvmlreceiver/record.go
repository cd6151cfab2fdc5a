package nvmlreceiver

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/pitwall-otel/pitwall/internal/nvml"
	"github.com/pitwall-otel/pitwall/receiver/nvmlreceiver/internal/metadata"
)

// vendor and hardware type of everything that NVML tells.
const (
	vendor  = "NVIDIA"
	gpuType = "gpu"
)

// recorder writes the metrics of one device. A MIG device and a virtual GPU have only those metrics whose table names
// keep them apart from the GPU that they are cut from.
type recorder struct {
	*collection
	mb    *metadata.MetricsBuilder
	ts    pcommon.Timestamp
	id    string
	index int64
	// mig is a MIG device's place on its GPU. place is what tells any device from its GPU; named is that with the device's
	// name, for hw.*.
	mig, place, named []metadata.MetricAttributeOption
	// whole is false for MIG devices and virtual GPUs.
	whole, virtual bool
	d              *device
	reported       *nvml.Device
}

func (c *collection) recorder(d *device, reported *nvml.Device, at time.Time) *recorder {
	r := &recorder{
		collection: c, mb: c.builder, ts: timestamp(at), id: d.id, index: int64(d.key.Index), d: d, reported: reported,
		virtual: d.key.VGPU != 0, whole: d.key.VGPU == 0 && d.key.MIG < 0,
	}
	if d.parent != "" {
		r.place = append(r.place, metadata.WithHwParentMetricAttribute(d.parent))
	}
	if d.key.MIG >= 0 {
		r.mig = append(r.mig, metadata.WithNvidiaGpuMigIndexMetricAttribute(int64(d.key.MIG)))
		r.place = append(r.place, r.mig...)
	}
	if r.virtual {
		r.place = append(r.place, metadata.WithNvidiaGpuVgpuIDMetricAttribute(int64(d.key.VGPU)))
	}
	r.named = r.place
	if reported.Minor >= 0 && r.whole {
		r.named = append(slices.Clone(r.place), metadata.WithHwNameMetricAttribute("nvidia"+strconv.Itoa(reported.Minor)))
	}
	return r
}

// silent records a device that does not answer.
func (r *recorder) silent(state nvml.State) {
	if r.whole {
		r.state(state)
	}
	r.times()
}

func (r *recorder) state(state nvml.State) {
	var stale int64
	if state != nvml.DeviceOK {
		stale = 1
	}
	r.mb.RecordNvidiaGpuStaleDataPoint(r.ts, stale, r.id, r.index)
	holds := r.d.health.of(state)
	for _, s := range states() {
		r.mb.RecordHwStatusDataPoint(r.ts, one(s == holds), r.id, gpuType, r.index, s, r.named...)
	}
}

// times records the books.
func (r *recorder) times() {
	if r.virtual {
		return
	}
	a := &r.d.time
	r.mb.RecordNvidiaGpuIdleDurationDataPoint(r.ts, a.idle.Seconds(), r.id, r.index, r.place...)
	r.mb.RecordNvidiaGpuBusyDurationDataPoint(r.ts, a.busy.Seconds(), r.id, r.index, r.place...)
	r.mb.RecordNvidiaGpuUnknownDurationDataPoint(r.ts, a.unknown.Seconds(), r.id, r.index, r.place...)
	if !r.whole {
		return
	}
	if r.d.throttles.known {
		for n := range r.d.throttles.reasons {
			r.mb.RecordNvidiaGpuThrottleDurationDataPoint(r.ts, r.d.throttles.reasons[n].total.Seconds(), r.id, r.index, reasonName(nvml.ThrottleReason(n)))
		}
		r.mb.RecordNvidiaGpuThrottledDurationDataPoint(r.ts, r.d.throttles.any.Seconds(), r.id, r.index)
	}
	for number, count := range r.d.xids {
		r.mb.RecordNvidiaGpuXidErrorsDataPoint(r.ts, count, r.id, r.index, int64(number))
	}
	r.mb.RecordHwErrorsDataPoint(r.ts, r.d.xidCount, r.id, gpuType, r.index, "xid", r.named...)
}

// readings records each reading that is a metric by itself and returns those that have a value.
func (r *recorder) readings(list []nvml.Reading) *found {
	f := &found{list: make([]nvml.Reading, 0, len(list))}
	unsupported := map[nvml.Class]int{}
	for _, x := range list {
		switch {
		case x.Absent == nvml.Unsupported:
			unsupported[x.Field.Class()]++
		case x.Absent == nvml.Failed || x.Absent == nvml.TimedOut:
			r.failed++
		case x.Absent != nvml.Present:
			f.soon = f.soon || x.Field == nvml.GPMPCIeTxRate && x.Absent == nvml.NotYet
		case !plausible(x.Field, x.Value):
			r.implausible++
		default:
			f.list = append(f.list, x)
			r.reading(x)
		}
	}
	maps.Copy(r.d.unsupported, unsupported)
	return f
}

func (r *recorder) reading(x nvml.Reading) {
	switch {
	case r.virtual:
		r.virtualReading(x)
	case x.Field.Class() == nvml.ClassMemory:
		r.memory(x)
	case x.Field.Class() == nvml.ClassGPM:
		r.gpm(x)
	case !r.whole:
	case x.Field.Class()&(nvml.ClassUtilization|nvml.ClassPower|nvml.ClassTemperature|nvml.ClassClocks) != 0:
		r.vitals(x)
	case x.Field.Class()&(nvml.ClassPCIe|nvml.ClassNVLink) != 0:
		r.links(x)
	case x.Field.Class() == nvml.ClassECC:
		r.ecc(x)
	case x.Field.Class()&(nvml.ClassModes|nvml.ClassLimits) != 0:
		r.settings(x)
	}
}

func (r *recorder) virtualReading(x nvml.Reading) {
	switch x.Field {
	case nvml.UtilizationGPU:
		r.mb.RecordHwGpuUtilizationDataPoint(r.ts, x.Value/100, r.id, r.index, "general", r.named...)
	case nvml.MemoryUsed:
		r.mb.RecordHwGpuMemoryUsageDataPoint(r.ts, int64(x.Value), r.id, r.index, r.named...)
	default:
	}
}

func (r *recorder) memory(x nvml.Reading) {
	bytes := int64(x.Value)
	switch x.Field {
	case nvml.MemoryTotal:
		r.mb.RecordHwGpuMemoryLimitDataPoint(r.ts, bytes, r.id, r.index, r.named...)
	case nvml.MemoryUsed:
		r.mb.RecordHwGpuMemoryUsageDataPoint(r.ts, bytes, r.id, r.index, r.named...)
	case nvml.MemoryFree:
		r.mb.RecordNvidiaGpuMemoryFreeDataPoint(r.ts, bytes, r.id, r.index, r.place...)
	case nvml.MemoryReserved:
		r.mb.RecordNvidiaGpuMemoryReservedDataPoint(r.ts, bytes, r.id, r.index, r.place...)
	case nvml.BAR1Total:
		r.mb.RecordNvidiaGpuBar1LimitDataPoint(r.ts, bytes, r.id, r.index, r.place...)
	case nvml.BAR1Used:
		r.mb.RecordNvidiaGpuBar1UsageDataPoint(r.ts, bytes, r.id, r.index, r.place...)
	default:
	}
}

func (r *recorder) gpm(x nvml.Reading) {
	share := x.Value / 100
	pipe := func(name string) {
		r.mb.RecordNvidiaGpuPipeActivityDataPoint(r.ts, share, r.id, r.index, name, r.place...)
	}
	switch x.Field {
	case nvml.GPMGraphicsUtil:
		r.mb.RecordNvidiaGpuGraphicsActivityDataPoint(r.ts, share, r.id, r.index, r.place...)
	case nvml.GPMSMUtil:
		r.mb.RecordNvidiaGpuSmActivityDataPoint(r.ts, share, r.id, r.index, r.place...)
	case nvml.GPMSMOccupancy:
		r.mb.RecordNvidiaGpuSmOccupancyDataPoint(r.ts, share, r.id, r.index, r.place...)
	case nvml.GPMDRAMBandwidth:
		r.mb.RecordNvidiaGpuDramActivityDataPoint(r.ts, share, r.id, r.index, r.place...)
	case nvml.GPMTensorUtil:
		pipe("tensor")
	case nvml.GPMHMMATensor:
		pipe("tensor_fp16")
	case nvml.GPMIMMATensor:
		pipe("tensor_int")
	case nvml.GPMFP64Util:
		pipe("fp64")
	case nvml.GPMFP32Util:
		pipe("fp32")
	case nvml.GPMFP16Util:
		pipe("fp16")
	case nvml.GPMIntegerUtil:
		pipe("int")
	default:
	}
}

func one(holds bool) int64 {
	if holds {
		return 1
	}
	return 0
}
