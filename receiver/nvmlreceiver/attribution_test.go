package nvmlreceiver

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/pitwall-otel/pitwall/internal/nvml"
)

const pod = "container.id=abababababababababababababababababababababababababababababababab, k8s.pod.uid=9a7a1c8e-5d3b-4f1e-8d25-0c0f7d2b9a10"

// resources are those of the metrics that say which run is where.
func resources(text string) (list []string) {
	for line := range strings.Lines(text) {
		if resource, ok := strings.CutPrefix(line, "resource "); ok {
			list = append(list, strings.TrimSpace(resource))
		}
	}
	return list
}

func TestRunOfAGPU(t *testing.T) {
	b := newBench(t, nil)
	root := b.cfg.Attribution.ProcRoot
	gpuProcess(t, root, 10, "RL_RUN_ID=grpo-7", "RANK=0", "LOCAL_RANK=0", "WORLD_SIZE=2", "RL_ROLE=trainer", "HF_TOKEN=hunter2")
	gpuProcess(t, root, 11, "RL_RUN_ID=grpo-7", "RANK=1", "LOCAL_RANK=1", "WORLD_SIZE=2", "RL_ROLE=trainer", "HF_TOKEN=hunter2")
	text := render(b.collectAfter(0, answer(h100(0).processes(10), h100(1).processes(11), h100(2))))
	assert.Equal(t, []string{
		"{" + pod + ", rl.rank.local=0, rl.rank=0, rl.role=trainer, rl.run.id=grpo-7, rl.world.size=2}",
		"{" + pod + ", rl.rank.local=1, rl.rank=1, rl.role=trainer, rl.run.id=grpo-7, rl.world.size=2}",
		"{}",
	}, resources(text))
	assert.NotContains(t, text, "hunter2")
}

// Trainer and engine share a GPU: its metrics have what both agree on, and the link says who is there.
func TestColocatedEngine(t *testing.T) {
	b := newBench(t, nil)
	root := b.cfg.Attribution.ProcRoot
	gpuProcess(t, root, 10, "RL_RUN_ID=grpo-7", "RANK=0", "RL_ROLE=trainer")
	gpuProcess(t, root, 11, "RL_RUN_ID=grpo-7", "RANK=4", "RL_ROLE=engine")
	gpuProcess(t, root, 12, "RL_RUN_ID=grpo-7", "RANK=4", "RL_ROLE=engine")
	metrics := b.collectAfter(0, answer(h100(0).processes(10, 11, 12)))
	text := render(metrics)
	assert.Equal(t, []string{
		"{" + pod + ", rl.rank=0, rl.role=trainer, rl.run.id=grpo-7}",
		"{" + pod + ", rl.rank=4, rl.role=engine, rl.run.id=grpo-7}",
		"{" + pod + ", rl.run.id=grpo-7}",
		"{}",
	}, resources(text))
	blocks := strings.Split(text, "resource ")
	assert.Contains(t, blocks[1], "nvidia.gpu.run.processes{hw.id=GPU-00000000-aaaa-bbbb-cccc-000000000000, rl.device.index=0} = 1 {process}")
	assert.Contains(t, blocks[2], "nvidia.gpu.run.processes{hw.id=GPU-00000000-aaaa-bbbb-cccc-000000000000, rl.device.index=0} = 2 {process}")
	assert.Equal(t, 2, strings.Count(blocks[2], "\n"), "nothing else stands under the engine's name")
	requireValue(t, 0.87, metrics, "hw.gpu.utilization", "general")
}

func TestMIGDevicesBelongToTheirOwnRuns(t *testing.T) {
	b := newBench(t, nil)
	root := b.cfg.Attribution.ProcRoot
	gpuProcess(t, root, 10, "RL_RUN_ID=a")
	gpuProcess(t, root, 11, "RL_RUN_ID=b")
	parent := h100(0)
	parent.Processes = []nvml.Process{{PID: 10, GPUInstance: 7, ComputeInstance: 0}, {PID: 11, GPUInstance: 9, ComputeInstance: 0}}
	text := render(b.collectAfter(0, answerOf(migs(parent, 3))))
	blocks := map[string]string{}
	for _, block := range strings.Split(text, "resource ")[1:] {
		resource, points, _ := strings.Cut(block, "\n")
		blocks[resource] += points
	}
	assert.Contains(t, blocks["{"+pod+", rl.run.id=a}"], "hw.gpu.memory.usage{hw.id=MIG-00000000-0000")
	assert.Contains(t, blocks["{"+pod+", rl.run.id=b}"], "hw.gpu.memory.usage{hw.id=MIG-00000000-0002")
	assert.Contains(t, blocks["{}"], "hw.gpu.memory.usage{hw.id=MIG-00000000-0001")
	assert.Contains(t, blocks["{"+pod+"}"], "hw.power{hw.id=GPU-00000000", "the GPU is shared: only the place is common")
}

// The list of processes is not always there: what was true stays true.
func TestProcessesThatAreNotTold(t *testing.T) {
	b := newBench(t, nil)
	gpuProcess(t, b.cfg.Attribution.ProcRoot, 10, "RL_RUN_ID=a")
	b.collectAfter(0, answer(h100(0).processes(10)))
	text := render(b.collectAfter(10*time.Second, answer(h100(0).absent(nvml.TimedOut, nvml.ComputeProcesses))))
	assert.Contains(t, text, "rl.run.id=a")
}

func TestAttributionOff(t *testing.T) {
	b := newBench(t, func(cfg *Config) {
		cfg.Attribution.Enabled = false
		cfg.Metrics.NvidiaGpuProcessMemoryUsage.Enabled = true
	})
	gpuProcess(t, b.cfg.Attribution.ProcRoot, 10, "RL_RUN_ID=a")
	metrics := b.collectAfter(0, answer(h100(0).processes(10)))
	assert.Equal(t, []string{"{}"}, resources(render(metrics)))
	requireValue(t, 60*gib, metrics, "nvidia.gpu.process.memory.usage", "process.pid=10")
}

func TestProcessMetrics(t *testing.T) {
	b := newBench(t, withProcesses)
	gpuProcess(t, b.cfg.Attribution.ProcRoot, 10, "RL_RUN_ID=a")
	g := h100(0).processes(10, 11)
	g.ProcessUtilization = []nvml.ProcessSample{
		{PID: 10, Time: began, SM: 10}, {PID: 11, Time: began.Add(2), SM: 30, Memory: 5}, {PID: 10, Time: began.Add(1), SM: 20}, {PID: 12, Time: began, SM: 4_000_000_000},
	}
	metrics := b.collectAfter(0, answer(g))
	requireValue(t, 0.2, metrics, "nvidia.gpu.process.utilization", "process.pid=10", "engine=sm", "process.executable.name=python3.12")
	requireValue(t, 0.3, metrics, "nvidia.gpu.process.utilization", "process.pid=11", "engine=sm")
	requireValue(t, 0.05, metrics, "nvidia.gpu.process.utilization", "process.pid=11", "engine=memory")
	_, ok := value(t, metrics, "nvidia.gpu.process.utilization", "process.pid=12", "engine=sm")
	assert.False(t, ok)
	requireValue(t, 2, metrics, "nvidia.gpu.processes", "compute")
}

func TestAttributesCanBeTurnedOff(t *testing.T) {
	b := newBench(t, func(cfg *Config) {
		cfg.ResourceAttributes.ContainerID.Enabled = false
		cfg.ResourceAttributes.K8sPodUID.Enabled = false
	})
	gpuProcess(t, b.cfg.Attribution.ProcRoot, 10, "RL_RUN_ID=a")
	assert.Equal(t, []string{"{rl.run.id=a}", "{}"}, resources(render(b.collectAfter(0, answer(h100(0).processes(10))))))
}
