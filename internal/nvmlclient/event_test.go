package nvmlclient

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pitwall-otel/pitwall/internal/nvml"
	"github.com/pitwall-otel/pitwall/internal/nvmltest"
)

func TestEventsOfTheDriver(t *testing.T) {
	// NVML's types, in the order of nvml.h; the last one is of no GPU. Repaired bits, performance states, clocks and power
	// sources, 1, 4, 16 and 128, are not asked for.
	replace := nvmltest.Script(t, two)
	c := started(t, newClient(t))
	states(t, c, nvml.DeviceOK, nvml.DeviceOK)
	replace(two,
		"event.0=0 1 8 79 -1 -1", "event.1=0 0 8 31 7 0", "event.2=0 0 2 0 -1 -1", "event.3=0 0 1 0 -1 -1",
		"event.4=0 1 4 0 -1 -1", "event.5=0 1 16 0 -1 -1", "event.6=0 1 128 0 -1 -1", "event.7=0 1 512 0 -1 -1",
		"event.8=0 1 1024 0 -1 -1", "event.9=0 1 2048 0 -1 -1", "event.10=0 1 4096 0 -1 -1", "event.11=0 1 8192 0 -1 -1",
		"event.12=0 1 16384 0 -1 -1", "event.13=0 1 32768 0 -1 -1", "event.14=0 -1 8 48 -1 -1")
	next := func() nvml.Event {
		e := <-c.Events()
		require.False(t, e.Time.IsZero())
		return e
	}
	fell := next() // off the bus
	require.Equal(t, nvml.EventXid, fell.Kind)
	require.Equal(t, uint64(79), fell.Data)
	require.Equal(t, nvml.Key{Index: 1, MIG: -1}, fell.Key)
	require.Equal(t, "GPU-01", fell.UUID)
	require.Equal(t, "0000:01:00.0", fell.PCIBusID)
	require.Equal(t, -1, fell.GPUInstance)

	mig := next()
	require.Equal(t, []any{uint64(31), 0, 7, 0}, []any{mig.Data, mig.Key.Index, mig.GPUInstance, mig.ComputeInstance})
	for _, want := range []nvml.EventKind{
		nvml.EventDoubleBitECC, nvml.EventSingleBitECCStorm, nvml.EventDRAMRetirement, nvml.EventDRAMRetirementFailure, nvml.EventNonFatalPoison,
		nvml.EventFatalPoison, nvml.EventUnavailable, nvml.EventRecoveryAction,
	} {
		e := next()
		require.Equal(t, want, e.Kind, e.Kind.String())
		require.Zero(t, e.Data)
	}
	nobody := next()
	require.Equal(t, -1, nobody.Key.Index)
	require.Equal(t, uint64(48), nobody.Data)
}

func TestMIGIsReconfigured(t *testing.T) {
	script := nvmltest.Profile(t, "mig")
	replace := nvmltest.Script(t, script)
	c := newClient(t)
	c.args = []string{"-relist=1h"} // only the event makes it look
	started(t, c)
	eventually(t, c, func(s nvml.Snapshot) bool { return len(s.Devices) == 8 })
	replace(script, "gpu.*.mig.6.gi=-1", "gpu.*.mig.0.gi=3", "gpu.*.mig.0.uuid=MIG-other", "event.0=0 0 256 0 -1 -1")
	s := eventually(t, c, func(s nvml.Snapshot) bool { return len(s.Devices) == 7 })
	require.Equal(t, "MIG-other", s.Devices[1].UUID)
	require.Equal(t, 3, s.Devices[1].GPUInstance)
	require.Equal(t, s.Devices[0].UUID, s.Devices[1].ParentUUID)
	require.Equal(t, nvml.Key{Index: 0, MIG: -1}, nextEvent(t, c, nvml.EventMIGConfig).Key)
	require.Equal(t, "7 MIG devices before, 6 now", nextEvent(t, c, nvml.EventMIGChanged).Text)
}

// TestMIGIsSwitchedOff also finds what a GPU tells only without MIG, whoever sees the switch first.
func TestMIGIsSwitchedOff(t *testing.T) {
	for _, relist := range []string{"-relist=1h", "-relist=1ms"} {
		t.Run(relist, func(t *testing.T) {
			script := nvmltest.Profile(t, "mig")
			replace := nvmltest.Script(t, script)
			c := newClient(t)
			c.args = []string{relist}
			started(t, c)
			s := eventually(t, c, func(s nvml.Snapshot) bool { return len(s.Devices) == 8 })
			require.Equal(t, nvml.Unsupported, read(t, s.Devices[0], nvml.UtilizationGPU, 0).Absent)
			replace(script, "gpu.*.mig_mode=0", "gpu.*.util=50", "gpu.*.util_memory=20")
			s = eventually(t, c, func(s nvml.Snapshot) bool {
				return len(s.Devices) == 1 && read(t, s.Devices[0], nvml.UtilizationGPU, 0).Absent == nvml.Present
			})
			require.Equal(t, 50.0, read(t, s.Devices[0], nvml.UtilizationGPU, 0).Value)
		})
	}
}

func TestEventsNobodyTakesAreDropped(t *testing.T) {
	c := newClient(t)
	for range maxEvents + 3 {
		c.emit(nvml.Event{Kind: nvml.EventXid})
	}
	require.Equal(t, uint64(3), c.DroppedEvents())
	require.Len(t, c.Events(), maxEvents)
}
