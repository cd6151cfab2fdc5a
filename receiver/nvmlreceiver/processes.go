package nvmlreceiver

import (
	"cmp"
	"slices"
	"strconv"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/pitwall-otel/pitwall/internal/nvml"
	"github.com/pitwall-otel/pitwall/receiver/nvmlreceiver/internal/attribution"
	"github.com/pitwall-otel/pitwall/receiver/nvmlreceiver/internal/metadata"
)

// maxRuns bounds how many (run, role, rank) are told apart on one device.
const maxRuns = 64

// identify finds whose the device is. When that changes, its books begin anew, at the time of the collection before.
func (c *collection) identify(d *device, reported *nvml.Device) {
	list, listed := c.processList(reported)
	if c.processes == nil || !listed {
		return
	}
	var ids []attribution.Identity
	for _, p := range list {
		if p.Type == nvml.GraphicsProcess {
			continue
		}
		if found, ok := c.processes.Process(p.PID); ok && found.Known() {
			ids = append(ids, found.Identity)
		}
	}
	d.runs = countRuns(ids)
	id := attribution.Merge(ids)
	if id == d.identity {
		return
	}
	d.identity = id
	d.time = account{start: d.before}
	d.throttles.restart()
	clear(d.xids)
	d.xidCount = 0
}

// processList returns the processes of a device, and whether they were asked for and told: without an answer nothing has
// changed. Those of a MIG device are in its GPU's list, with the instances that they use.
func (c *collection) processList(reported *nvml.Device) (list []nvml.Process, listed bool) {
	teller := reported
	if reported.Key.MIG >= 0 {
		teller = c.gpus[reported.Key.Index]
	}
	if teller == nil || c.request.Classes&nvml.ClassProcesses == 0 {
		return nil, false
	}
	if v, ok := c.toldOf(teller); !ok || v.Absent != nvml.Present {
		return nil, false
	}
	if teller == reported {
		return reported.Processes, true
	}
	for _, p := range teller.Processes {
		if p.GPUInstance == reported.GPUInstance && (p.ComputeInstance < 0 || p.ComputeInstance == reported.ComputeInstance) {
			list = append(list, p)
		}
	}
	return list, true
}

// toldOf returns the reading that says whether the compute processes were told.
func (*collection) toldOf(reported *nvml.Device) (nvml.Reading, bool) {
	at, ok := slices.BinarySearchFunc(reported.Readings, nvml.ComputeProcesses, func(x nvml.Reading, f nvml.Field) int {
		return cmp.Compare(x.Field, f)
	})
	if !ok {
		return nvml.Reading{}, false
	}
	return reported.Readings[at], true
}

// runCount is how many processes of a device belong to one run, role and rank.
type runCount struct {
	attribution.Identity
	processes int64
}

// countRuns groups processes; more than maxRuns groups are cut.
func countRuns(ids []attribution.Identity) (counts []runCount) {
	for _, id := range ids {
		if id[attribution.Run] == "" {
			continue
		}
		at := slices.IndexFunc(counts, func(c runCount) bool { return c.Identity == id })
		if at < 0 {
			if len(counts) == maxRuns {
				continue
			}
			at = len(counts)
			counts = append(counts, runCount{Identity: id})
		}
		counts[at].processes++
	}
	return counts
}

// processesOf records the processes of a device, and those of each run in a resource of that run.
func (c *collection) processesOf(r *recorder, reported *nvml.Device) {
	if r.virtual {
		return
	}
	list, listed := c.processList(reported)
	if listed {
		var counts [3]int64
		for _, p := range list {
			if int(p.Type) < len(counts) {
				counts[p.Type]++
			}
		}
		for kind, count := range counts {
			r.mb.RecordNvidiaGpuProcessesDataPoint(r.ts, count, r.id, r.index, processType(nvml.ProcessType(kind)), r.place...)
		}
	}
	if c.cfg.Metrics.NvidiaGpuProcessMemoryUsage.Enabled {
		for _, p := range list {
			if p.HasMemory && plausible(nvml.MemoryUsed, float64(p.UsedMemory)) {
				r.mb.RecordNvidiaGpuProcessMemoryUsageDataPoint(r.ts, int64(p.UsedMemory), r.id, r.index, int64(p.PID),
					processType(p.Type), c.executable(p.PID, r.place)...)
			}
		}
	}
	if c.cfg.Metrics.NvidiaGpuProcessUtilization.Enabled && r.whole {
		for _, s := range newest(reported.ProcessUtilization) {
			r.processUtilization(s)
		}
	}
}

func (r *recorder) processUtilization(s nvml.ProcessSample) {
	options := r.executable(s.PID, r.place)
	for _, e := range []struct {
		name    string
		percent uint32
	}{
		{"sm", s.SM},
		{"memory", s.Memory},
		{"encoder", s.Encoder},
		{"decoder", s.Decoder},
	} {
		if e.percent <= 100 {
			r.mb.RecordNvidiaGpuProcessUtilizationDataPoint(r.ts, float64(e.percent)/100, r.id, r.index, int64(s.PID), e.name, options...)
		}
	}
}

// executable adds the name of the process's program to options.
func (i *instance) executable(pid uint32, options []metadata.MetricAttributeOption) []metadata.MetricAttributeOption {
	if i.processes == nil {
		return options
	}
	p, ok := i.processes.Process(pid)
	if !ok || p.Executable == "" {
		return options
	}
	return append(slices.Clip(options), metadata.WithProcessExecutableNameMetricAttribute(p.Executable))
}

// newest keeps the last sample of each process: the driver hands out all since the request before.
func newest(samples []nvml.ProcessSample) []nvml.ProcessSample {
	sorted := slices.SortedStableFunc(slices.Values(samples), func(a, b nvml.ProcessSample) int {
		return cmp.Or(cmp.Compare(a.PID, b.PID), b.Time.Compare(a.Time))
	})
	return slices.CompactFunc(sorted, func(a, b nvml.ProcessSample) bool { return a.PID == b.PID })
}

// runsOf records how many processes of each run are on the device, in resources of these runs. It must come before all else
// that is recorded of the device.
func (c *collection) runsOf(r *recorder, d *device) {
	for _, run := range d.runs {
		if run.Identity != d.identity {
			r.mb.RecordNvidiaGpuRunProcessesDataPoint(r.ts, run.processes, r.id, r.index, r.place...)
			c.builder.EmitForResource(metadata.WithResource(c.resource(run.Identity)))
		}
	}
	// The device's own run last: it goes with the device's other metrics.
	for _, run := range d.runs {
		if run.Identity == d.identity {
			r.mb.RecordNvidiaGpuRunProcessesDataPoint(r.ts, run.processes, r.id, r.index, r.place...)
		}
	}
}

func processType(t nvml.ProcessType) string {
	switch t {
	case nvml.GraphicsProcess:
		return "graphics"
	case nvml.MPSProcess:
		return "mps"
	default:
		return "compute"
	}
}

// resource says which run a device or a process belongs to, in the registry's words.
func (i *instance) resource(id attribution.Identity) pcommon.Resource {
	rb := metadata.NewResourceBuilder(i.cfg.ResourceAttributes)
	for n, value := range id {
		if value == "" {
			continue
		}
		number := int64(0)
		if field := attribution.Field(n); field.IsInt() {
			number, _ = strconv.ParseInt(value, 10, 64) // the field accepts nothing else
		}
		switch attribution.Field(n) {
		case attribution.Run:
			rb.SetRlRunID(value)
		case attribution.Attempt:
			rb.SetRlRunAttempt(number)
		case attribution.WandbRun:
			rb.SetWandbRunID(value)
		case attribution.SlurmJob:
			rb.SetSlurmJobID(value)
		case attribution.SlurmStep:
			rb.SetSlurmStepID(value)
		case attribution.RayJob:
			rb.SetRayJobID(value)
		case attribution.Role:
			rb.SetRlRole(value)
		case attribution.WorkerGroup:
			rb.SetRlWorkerGroup(value)
		case attribution.Rank:
			rb.SetRlRank(number)
		case attribution.GlobalRank:
			rb.SetRlRankGlobal(number)
		case attribution.LocalRank:
			rb.SetRlRankLocal(number)
		case attribution.WorldSize:
			rb.SetRlWorldSize(number)
		case attribution.PodName:
			rb.SetK8sPodName(value)
		case attribution.PodNamespace:
			rb.SetK8sNamespaceName(value)
		case attribution.PodUID:
			rb.SetK8sPodUID(value)
		case attribution.Container:
			rb.SetContainerID(value)
		}
	}
	return rb.Emit()
}
