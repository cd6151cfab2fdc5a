package nvmlreceiver

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pitwall-otel/pitwall/internal/nvml"
	"github.com/pitwall-otel/pitwall/receiver/nvmlreceiver/internal/metadata"
)

// scripted are the machines whose metrics are compared with golden files, as the driver's answers one minute apart.
func scripted() map[string]nvml.Snapshot {
	mig := h100(0)
	mig.Processes = []nvml.Process{{PID: 4242, GPUInstance: 8, ComputeInstance: 0, UsedMemory: gib, HasMemory: true}}
	host := a100(0)
	virtual := newGPU(0, "GRID A100-20C", "ampere").with(nvml.UtilizationGPU, 12).with(nvml.MemoryUsed, 5*gib).with(nvml.MemoryTotal, 20*gib)
	virtual.Key.VGPU, virtual.UUID, virtual.ParentUUID = 3251634191, "VGPU-1", host.UUID
	lost := h100(1)
	lost.Device = nvml.Device{Key: lost.Key, UUID: lost.UUID, Minor: 1, State: nvml.DeviceLost, Error: "GPU is lost", GPUInstance: -1, ComputeInstance: -1}
	return map[string]nvml.Snapshot{
		"a100":     answer(a100(0).processes(4242)),
		"h100":     answer(h100(0).processes(4242), h100(1)),
		"h200":     answer(h200(0)),
		"mig":      answerOf(migs(mig, 3)),
		"consumer": answer(geforce(0)),
		"old":      answer(old(0)),
		"vgpu":     answer(host, virtual),
		"lost":     answer(h100(0), lost),
	}
}

// withProcesses turns on what is off.
func withProcesses(cfg *Config) {
	cfg.Metrics.NvidiaGpuProcessMemoryUsage.Enabled = true
	cfg.Metrics.NvidiaGpuProcessUtilization.Enabled = true
}

func TestGolden(t *testing.T) {
	for name, snapshot := range scripted() {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil)
			first := b.collectAfter(0, snapshot)
			golden(t, name+"_first.txt", withoutCost(render(first)))
			// Ten seconds later only what changes is told.
			golden(t, name+"_then.txt", withoutCost(render(b.collectAfter(10*time.Second, snapshot))))
		})
	}
}

// withoutCost leaves out what differs from run to run: this process's own time.
func withoutCost(text string) string {
	lines := strings.Split(text, "\n")
	return strings.Join(slices.DeleteFunc(lines, func(line string) bool {
		return strings.Contains(line, "pitwall.cost.cpu.time") || strings.Contains(line, "pitwall.cost.cpu.utilization") || strings.Contains(line, "pitwall.scrape.duration")
	}), "\n")
}

// Every metric comes out of one of the machines.
func TestEveryMetricIsSeen(t *testing.T) {
	seen := map[string]bool{}
	note := func(metrics pmetric.Metrics) {
		for _, rm := range metrics.ResourceMetrics().All() {
			for _, sm := range rm.ScopeMetrics().All() {
				for _, m := range sm.Metrics().All() {
					seen[m.Name()] = true
				}
			}
		}
	}
	for _, snapshot := range scripted() {
		b := newBench(t, withProcesses)
		for n := range snapshot.Devices {
			snapshot.Devices[n].ProcessUtilization = []nvml.ProcessSample{{PID: 4242, Time: began, SM: 50}}
		}
		gpuProcess(t, b.cfg.Attribution.ProcRoot, 4242, "RL_RUN_ID=grpo-7", "RANK=0")
		note(b.collectAfter(0, snapshot))
		b.heard(nvml.Event{Kind: nvml.EventXid, Key: nvml.Key{MIG: -1}, Data: 79, GPUInstance: -1})
		note(b.collectAfter(10*time.Second, snapshot))
	}
	for _, name := range metricNames() {
		assert.True(t, seen[name], "%s is never seen", name)
	}
}

// metricNames are the names of metadata.yaml.
func metricNames() []string { return allMetrics(metadata.MetricsInfo) }
