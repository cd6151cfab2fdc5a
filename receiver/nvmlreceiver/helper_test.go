package nvmlreceiver

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pitwall-otel/pitwall/internal/fakenvml"
	"github.com/pitwall-otel/pitwall/internal/nvml"
	"github.com/pitwall-otel/pitwall/internal/nvmltest"
)

// onHelper is an instance on the real helper program, which runs on the fake library with a script.
func onHelper(t *testing.T, profile string, lines ...string) *bench {
	t.Helper()
	nvmltest.Script(t, append([]string{nvmltest.Profile(t, profile)}, lines...)...)
	b := newBench(t, func(cfg *Config) {
		withProcesses(cfg)
		cfg.HelperPath, cfg.LibraryPath = nvmltest.Helper(t), nvmltest.Library(t, fakenvml.Missing(profile)...)
	})
	b.instance.driver = openClient(b.cfg, b.log)
	b.instance.driver.Start()
	t.Cleanup(func() { require.NoError(t, b.instance.driver.Shutdown(context.Background())) })
	return b
}

// settled collects until the driver has answered twice: rates and GPM need two looks.
func (b *bench) settled(enough func(pmetric.Metrics) bool) (metrics pmetric.Metrics) {
	b.t.Helper()
	require.Eventually(b.t, func() bool {
		b.clock = b.clock.Add(time.Minute) // the slow fields too
		var err error
		metrics, err = b.collect(b.t.Context())
		require.NoError(b.t, err)
		return enough(metrics)
	}, 30*time.Second, 20*time.Millisecond)
	return metrics
}

func (b *bench) has(name string) func(pmetric.Metrics) bool {
	return func(metrics pmetric.Metrics) bool {
		return strings.Contains(render(metrics), name)
	}
}

// unsteady are lines whose value is the time or the machine's.
func unsteady(line string) bool {
	return slices.ContainsFunc([]string{
		"pitwall.cost.", "pitwall.scrape.", "pitwall.nvml.helper.", ".duration{", "nvidia.gpu.pcie.io_rate", "nvidia.gpu.nvlink.io_rate",
	}, func(part string) bool { return strings.Contains(line, part) })
}

func TestGoldenOnTheHelper(t *testing.T) {
	for profile, last := range map[string]string{
		"a100": "nvidia.gpu.pcie.io_rate{", "h100": "nvidia.gpu.dram.activity{", "h200": "nvidia.gpu.dram.activity{", "mig": "nvidia.gpu.sm.activity{",
		"consumer": "nvidia.gpu.pcie.io_rate{", "old": "nvidia.gpu.pcie.io_rate{", "vgpu": "vgpu.id=",
	} {
		t.Run(profile, func(t *testing.T) {
			b := onHelper(t, profile)
			for _, pid := range []int{4242, 5100, 5101} {
				gpuProcess(t, b.cfg.Attribution.ProcRoot, pid, "RL_RUN_ID=grpo-7", "RANK=3")
			}
			lines := strings.Split(render(b.settled(b.has(last))), "\n")
			// One GPU of several says it all.
			lines = slices.DeleteFunc(lines, func(line string) bool {
				index := strings.Index(line, "rl.device.index=")
				return unsteady(line) || index >= 0 && line[index+len("rl.device.index=")] != '0'
			})
			golden(t, "helper_"+profile+".txt", strings.Join(lines, "\n"))
		})
	}
}

func TestHungGPUOnTheHelper(t *testing.T) {
	b := onHelper(t, "h100", "count=2", "gpu.1.hang=0")
	b.cfg.DeviceTimeout = 500 * time.Millisecond
	metrics := b.settled(func(metrics pmetric.Metrics) bool {
		stale, ok := value(t, metrics, "nvidia.gpu.stale", "rl.device.index=1")
		return ok && stale == 1
	})
	requireValue(t, 0.97, metrics, "hw.gpu.utilization", "rl.device.index=0", "general")
	requireValue(t, 0, metrics, "nvidia.gpu.stale", "rl.device.index=0")
	assert.Contains(t, b.status.last, "GPU 1 is stale")
}

func TestLostGPUOnTheHelper(t *testing.T) {
	b := onHelper(t, "h100", "count=2", "gpu.1.lost=0")
	metrics := b.settled(func(metrics pmetric.Metrics) bool {
		_, ok := value(t, metrics, "hw.gpu.utilization", "rl.device.index=0", "general")
		return ok
	})
	_, ok := value(t, metrics, "hw.gpu.utilization", "rl.device.index=1", "general")
	assert.False(t, ok)
}

func TestEventsOnTheHelper(t *testing.T) {
	b := onHelper(t, "h100", "event.0=0 3 8 79 -1 -1") // type 8 is nvmlEventTypeXidCriticalError, from the first moment on
	b.settled(b.has("hw.gpu.utilization"))
	select {
	case event := <-b.instance.driver.Events():
		for event.Kind != nvml.EventXid {
			event = <-b.instance.driver.Events()
		}
		b.heard(event)
	case <-time.After(20 * time.Second):
		require.Fail(t, "no event came")
	}
	lines := b.events()
	assert.Contains(t, lines[len(lines)-1], "FATAL nvidia.gpu.xid: GPU 3 (NVIDIA H100 80GB HBM3): Xid 79")
	requireValue(t, 1, b.settled(b.has("nvidia.gpu.xid.errors")), "nvidia.gpu.xid.errors", "rl.device.index=3", "nvidia.gpu.xid=79")
}

func TestNoLibraryOnTheHelper(t *testing.T) {
	b := newBench(t, func(cfg *Config) {
		cfg.HelperPath, cfg.LibraryPath = nvmltest.Helper(t), t.TempDir()+"/libnvidia-ml.so.1"
	})
	b.instance.driver = openClient(b.cfg, b.log)
	b.instance.driver.Start()
	t.Cleanup(func() { require.NoError(t, b.instance.driver.Shutdown(context.Background())) })
	require.Eventually(t, func() bool {
		metrics, err := b.collect(t.Context())
		require.NoError(t, err)
		require.Zero(t, metrics.DataPointCount())
		return b.driverWas == nvml.StatusNoLibrary
	}, 30*time.Second, 20*time.Millisecond)
	assert.Empty(t, b.status.last, "a machine without a GPU is well")
	assert.Empty(t, b.warnings())
}
