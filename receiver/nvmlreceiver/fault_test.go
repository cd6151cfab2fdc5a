package nvmlreceiver

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zapcore"

	"github.com/pitwall-otel/pitwall/internal/nvml"
)

func staleGPU(index int, state nvml.State) *gpu {
	g := h100(index)
	return &gpu{nvml.Device{
		Key: g.Key, UUID: g.UUID, PCIBusID: g.PCIBusID, Name: g.Name, Minor: index, State: state, Error: "timeout", GPUInstance: -1, ComputeInstance: -1,
	}}
}

// warnings are the lines that a person would see.
func (b *bench) warnings() (lines []string) {
	for _, entry := range b.said.FilterLevelExact(zapcore.WarnLevel).All() {
		lines = append(lines, entry.Message)
	}
	return lines
}

func TestHungGPU(t *testing.T) {
	b := newBench(t, nil)
	b.collectAfter(0, answer(h100(0), h100(1)))
	for range 3 {
		metrics := b.collectAfter(10*time.Second, answer(h100(0), staleGPU(1, nvml.DeviceStale)))
		requireValue(t, 0.87, metrics, "hw.gpu.utilization", "rl.device.index=0", "general")
		requireValue(t, 1, metrics, "nvidia.gpu.stale", "rl.device.index=1")
		requireValue(t, 1, metrics, "hw.status", "rl.device.index=1", "degraded")
		requireValue(t, 1, metrics, "pitwall.scrape.errors")
		_, ok := value(t, metrics, "hw.gpu.utilization", "rl.device.index=1", "general")
		assert.False(t, ok, "an old value would look like a live one")
	}
	assert.Equal(t, []string{"GPU 1 is stale: timeout; other GPUs are read on"}, b.warnings(), "said once")
	assert.Equal(t, "GPU 1 is stale: timeout", b.status.last)
	metrics := b.collectAfter(10*time.Second, answer(h100(0), h100(1)))
	requireValue(t, 0, metrics, "nvidia.gpu.stale", "rl.device.index=1")
	assert.Empty(t, b.status.last)
}

func TestLostGPU(t *testing.T) {
	b := newBench(t, nil)
	b.collectAfter(0, answer(h100(0), h100(1)))
	metrics := b.collectAfter(10*time.Second, answer(h100(0), staleGPU(1, nvml.DeviceLost)))
	requireValue(t, 1, metrics, "hw.status", "rl.device.index=1", "failed")
	// It is not even listed any more.
	metrics = b.collectAfter(10*time.Second, answer(h100(0)))
	_, ok := value(t, metrics, "nvidia.gpu.stale", "rl.device.index=1")
	assert.False(t, ok)
	assert.Len(t, b.devices, 1)
}

// Another GPU under the same number is another GPU: no counter goes on.
func TestReplacedGPU(t *testing.T) {
	b := newBench(t, nil)
	b.collectAfter(0, answer(h100(0)))
	b.collectAfter(10*time.Second, answer(h100(0)))
	other := h100(0)
	other.UUID = "GPU-other"
	requireValue(t, 0, b.collectAfter(10*time.Second, answer(other)), busyName)
}

// No value is better than one that cannot be.
func TestGarbage(t *testing.T) {
	g := h100(0)
	b := newBench(t, nil)
	want := b.collectAfter(0, answer(h100(0))).DataPointCount()
	g.at(nvml.UtilizationGPU, 0, math.MaxUint32).at(nvml.TemperatureGPU, 0, 4e9).at(nvml.PowerUsage, 0, math.MaxUint32).
		at(nvml.Clock, 0, math.NaN()).at(nvml.MemoryUsed, 0, math.MaxUint64).at(nvml.PCIeReplays, 0, -1).at(nvml.GPMSMUtil, 0, 1e300).
		at(nvml.Clock, 99, 1).at(nvml.TemperatureThreshold, 77, 1).at(nvml.ECCVolatileCorrected, 200, 1).at(nvml.Field(60000), 0, 1).
		at(nvml.ComputeMode, 0, 99).at(nvml.RecoveryAction, 0, 99).at(nvml.ClocksEventReasons, 0, 1e15)
	b = newBench(t, nil)
	metrics := b.collectAfter(0, answer(g))
	assert.Less(t, metrics.DataPointCount(), want)
	requireValue(t, 7, metrics, "pitwall.scrape.errors")
	for line := range strings.SplitSeq(render(metrics), "\n") {
		assert.NotContains(t, line, "NaN")
		assert.NotContains(t, line, "Inf")
	}
	requireValue(t, 1.410e9, metrics, "nvidia.gpu.clock", "=sm")
}

func TestDoubledUUIDs(t *testing.T) {
	one, two := h100(0), h100(1)
	two.UUID = one.UUID
	b := newBench(t, nil)
	metrics := b.collectAfter(0, answer(one, two))
	for range 3 {
		metrics = b.collectAfter(10*time.Second, answer(one, two))
	}
	requireValue(t, 0.87, metrics, "hw.gpu.utilization", "hw.id="+one.UUID+"@00000000:18:00.0", "general")
	requireValue(t, 0.87, metrics, "hw.gpu.utilization", "hw.id="+one.UUID+"@00000000:19:00.0", "general")
	assert.Len(t, b.warnings(), 1)
}

func TestSixteenGPUsInSlices(t *testing.T) {
	var devices []nvml.Device
	for index := range 16 {
		devices = append(devices, migs(h100(index), 7)...)
	}
	b := newBench(t, nil)
	b.collectAfter(0, answerOf(devices))
	metrics := b.collectAfter(10*time.Second, answerOf(devices))
	ids := map[string]bool{}
	for _, rm := range metrics.ResourceMetrics().All() {
		for _, m := range rm.ScopeMetrics().At(0).Metrics().All() {
			if m.Name() != busyName {
				continue
			}
			for _, p := range m.Sum().DataPoints().All() {
				id, _ := p.Attributes().Get("hw.id")
				ids[id.Str()] = true
			}
		}
	}
	assert.Len(t, ids, 16*8)
	assert.Len(t, b.devices, 16*8)
}

// A machine without a driver is a machine like any other.
func TestNoDriver(t *testing.T) {
	b := newBench(t, nil)
	for range 5 {
		metrics := b.collectAfter(10*time.Second, nvml.Snapshot{Status: nvml.StatusNoLibrary, StatusError: "libnvidia-ml.so.1: not found"})
		assert.Zero(t, metrics.DataPointCount())
	}
	assert.Empty(t, b.warnings())
	assert.Equal(t, 1, b.said.FilterLevelExact(zapcore.InfoLevel).Len())
	assert.Empty(t, b.status.last)
	assert.Empty(t, b.events())

	requireValue(t, 1, b.collectAfter(10*time.Second, answer(h100(0))), "pitwall.scrape.up")
	assert.Equal(t, []string{"INFO nvidia.driver.available: the NVIDIA driver answers"}, b.events())
}

// A machine with a driver that does not work is not well.
func TestDriverThatDoesNotWork(t *testing.T) {
	b := newBench(t, nil)
	b.collectAfter(0, answer(h100(0)))
	for range 3 {
		metrics := b.collectAfter(10*time.Second, nvml.Snapshot{Status: nvml.StatusVersionMismatch, StatusError: "driver/library version mismatch"})
		requireValue(t, 0, metrics, "pitwall.scrape.up")
		requireValue(t, 1, metrics, "pitwall.scrape.failed")
		requireValue(t, 1, metrics, "nvidia.gpu.stale")
		requireValue(t, float64(began.Unix()), metrics, "pitwall.scrape.last_success_time")
	}
	require.Len(t, b.warnings(), 1)
	assert.Contains(t, b.warnings()[0], "reboot")
	assert.Contains(t, b.status.last, "reboot")
	assert.Contains(t, b.events()[1], "ERROR nvidia.driver.unavailable: no GPU metrics")
	// The helper starts again meanwhile: nothing new to say.
	b.collectAfter(10*time.Second, nvml.Snapshot{Status: nvml.StatusStarting})
	assert.Len(t, b.warnings(), 1)
	b.collectAfter(10*time.Second, answer(h100(0).at(nvml.ClocksEventReasons, 0, 0)))
	assert.Empty(t, b.status.last)
	assert.Len(t, b.events(), 3)
	checkAttributes(t, b)
}

func TestKernelModuleButNoHelper(t *testing.T) {
	b := newBench(t, nil)
	write(t, b.cfg.Attribution.ProcRoot+"/driver/nvidia/version", "NVRM version")
	b.collectAfter(0, nvml.Snapshot{Status: nvml.StatusNoHelper, StatusError: "pitwall-nvml: no such file"})
	assert.Equal(t, "no GPU metrics: the program pitwall-nvml cannot be started (helper_path): pitwall-nvml: no such file", b.status.last)
}
