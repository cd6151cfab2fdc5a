package nvmlreceiver

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pitwall-otel/pitwall/internal/nvml"
)

const (
	idleName    = "nvidia.gpu.idle.duration"
	busyName    = "nvidia.gpu.busy.duration"
	unknownName = "nvidia.gpu.unknown.duration"
)

func TestIdleAndBusyTime(t *testing.T) {
	b := newBench(t, nil)
	for _, step := range []struct {
		wait    time.Duration
		percent float64
	}{
		{0, 90}, {10 * time.Second, 90}, {11 * time.Second, 4.9}, {9500 * time.Millisecond, 0}, {10 * time.Second, 5},
	} {
		b.collectAfter(step.wait, answer(h100(0).at(nvml.UtilizationGPU, 0, step.percent)))
	}
	metrics := b.collectAfter(10*time.Second, answer(h100(0)))
	requireValue(t, 20.5, metrics, idleName)
	requireValue(t, 30, metrics, busyName)
	requireValue(t, 0, metrics, unknownName)
}

func TestThresholdIsConfigured(t *testing.T) {
	b := newBench(t, func(cfg *Config) { cfg.IdleThreshold = 0.5 })
	b.collectAfter(0, answer(h100(0)))
	requireValue(t, 10, b.collectAfter(10*time.Second, answer(h100(0).at(nvml.UtilizationGPU, 0, 49))), idleName)
}

// A GPU of which nothing is known is not idle, whatever the reason.
func TestTimeOfWhichNothingIsKnown(t *testing.T) {
	stale := h100(0)
	stale.State, stale.Readings = nvml.DeviceStale, nil
	f := func(name string, wait time.Duration, during nvml.Snapshot) {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil)
			b.collectAfter(0, answer(h100(0)))
			b.collectAfter(10*time.Second, answer(h100(0)))
			b.collectAfter(wait, during)
			metrics := b.collectAfter(10*time.Second, answer(h100(0)))
			requireValue(t, 0, metrics, idleName)
			requireValue(t, 20, metrics, busyName)
			requireValue(t, wait.Seconds(), metrics, unknownName)
		})
	}
	f("it does not answer", 10*time.Second, answer(stale))
	f("the driver is gone", 10*time.Second, nvml.Snapshot{Status: nvml.StatusNoDriver})
	f("the machine was suspended", 10*time.Hour, answer(h100(0)))
	f("no utilization", 10*time.Second, answer(h100(0).absent(nvml.TimedOut, nvml.UtilizationGPU, nvml.GPMGraphicsUtil)))
}

func TestMIGDevicesHaveIdleTimeWithGPM(t *testing.T) {
	b := newBench(t, nil)
	b.collectAfter(0, answerOf(migs(h100(0), 7)))
	metrics := b.collectAfter(10*time.Second, answerOf(migs(h100(0), 7)))
	requireValue(t, 10, metrics, idleName, "MIG-00000000-0004")
	requireValue(t, 10, metrics, busyName, "MIG-00000000-0006")
	b = newBench(t, nil)
	b.collectAfter(0, answerOf(migs(a100(0), 2)))
	metrics = b.collectAfter(10*time.Second, answerOf(migs(a100(0), 2)))
	requireValue(t, 10, metrics, unknownName, "MIG-00000000-0001")
}

// Ampere has the policy counters, Hopper those of the reasons; what neither counts is seen by looking.
func TestThrottleTime(t *testing.T) {
	const name = "nvidia.gpu.throttle.duration"
	both := float64(1<<nvml.ThrottleSWPowerCap | 1<<nvml.ThrottleHWSlowdown)

	b := newBench(t, nil)
	b.collectAfter(0, answer(a100(0)))
	metrics := b.collectAfter(10*time.Second, answer(a100(0).at(nvml.ClocksEventReasons, 0, both).at(nvml.ViolationTime, uint16(nvml.PolicyPower), 5.5e9)))
	requireValue(t, 2.5, metrics, name, "sw_power_cap")
	requireValue(t, 10, metrics, name, "hw_slowdown")
	requireValue(t, 10, metrics, "nvidia.gpu.throttled.duration")

	b = newBench(t, nil)
	b.collectAfter(0, answer(h100(0)))
	metrics = b.collectAfter(10*time.Second, answer(h100(0).at(nvml.ClocksEventReasons, 0, 0).at(nvml.ThrottleTime, uint16(nvml.ThrottleSWThermalSlowdown), 1.25e9)))
	requireValue(t, 1.25, metrics, name, "sw_thermal_slowdown")
	requireValue(t, 0, metrics, name, "sw_power_cap")

	b = newBench(t, nil)
	b.collectAfter(0, answer(old(0)))
	metrics = b.collectAfter(10*time.Second, answer(old(0)))
	requireValue(t, 10, metrics, name, "sw_power_cap")
	requireValue(t, 0, metrics, name, "gpu_idle")
	metrics = b.collectAfter(time.Hour, answer(old(0)))
	requireValue(t, 10, metrics, name, "sw_power_cap")
}

func TestThrottleCounterBeginsAnew(t *testing.T) {
	power := uint16(nvml.ThrottleSWPowerCap)
	b := newBench(t, nil)
	b.collectAfter(0, answer(h100(0).at(nvml.ThrottleTime, power, 100e9)))
	b.collectAfter(10*time.Second, answer(h100(0).at(nvml.ThrottleTime, power, 104e9)))
	metrics := b.collectAfter(10*time.Second, answer(h100(0).at(nvml.ThrottleTime, power, 3e9)))
	requireValue(t, 7, metrics, "nvidia.gpu.throttle.duration", "sw_power_cap")
	metrics = b.collectAfter(10*time.Second, answer(h100(0).at(nvml.ThrottleTime, power, 2e18)))
	got, _ := value(t, metrics, "nvidia.gpu.throttle.duration", "sw_power_cap")
	assert.LessOrEqual(t, got, 17.0, "no more than the time that passed")
}

// The table's sums are of differences, so the books may only grow, and begin where the last ones ended.
func TestBooksOfRuns(t *testing.T) {
	b := newBench(t, nil)
	root := b.cfg.Attribution.ProcRoot
	gpuProcess(t, root, 10, "RL_RUN_ID=first")
	gpuProcess(t, root, 20, "RL_RUN_ID=second")
	b.collectAfter(0, answer(h100(0).processes(10)))
	b.collectAfter(10*time.Second, answer(h100(0).processes(10)))
	metrics := b.collectAfter(10*time.Second, answer(h100(0).processes(20)))
	requireValue(t, 10, metrics, busyName)
	text := render(metrics)
	assert.Contains(t, text, busyName+"{hw.id=GPU-00000000-aaaa-bbbb-cccc-000000000000, rl.device.index=0} = 10 s, counter, since 12:00:10")
	assert.Contains(t, text, "rl.run.id=second")
	require.NotContains(t, text, "rl.run.id=first")
	requireValue(t, 20, b.collectAfter(10*time.Second, answer(h100(0).processes(20))), busyName)
	metrics = b.collectAfter(10*time.Second, answer(h100(0)))
	requireValue(t, 10, metrics, busyName)
	assert.NotContains(t, render(metrics), "rl.run.id")
}
