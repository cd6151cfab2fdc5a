package nvmlreceiver

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.uber.org/zap"

	"github.com/pitwall-otel/pitwall/internal/nvml"
	"github.com/pitwall-otel/pitwall/schema"
)

func happened(kind nvml.EventKind, data uint64) nvml.Event {
	return nvml.Event{Kind: kind, Time: began.Add(3 * time.Second), Key: nvml.Key{Index: 0, MIG: -1}, UUID: h100(0).UUID, Data: data, GPUInstance: -1, ComputeInstance: -1}
}

func TestEvents(t *testing.T) {
	f := func(name, want string, event nvml.Event) {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil)
			b.collectAfter(0, answer(h100(0)))
			b.heard(event)
			assert.Equal(t, want, b.events()[1])
			checkAttributes(t, b)
		})
	}
	const label = "GPU 0 (NVIDIA H100 80GB HBM3)"
	f("Xid", "FATAL nvidia.gpu.xid: "+label+": Xid 79: GPU has fallen off the bus. It does not answer on PCIe. Drain and reboot the node; "+
		"if it comes again: seating, power and cooling, then replace.", happened(nvml.EventXid, 79))
	f("Xid of the program", "ERROR nvidia.gpu.xid: "+label+": Xid 69: Class error in the graphics engine", happened(nvml.EventXid, 69))
	f("Xid that nobody knows", "ERROR nvidia.gpu.xid: "+label+": Xid 4711: Xid 4711. Unknown here: look it up in NVIDIA's Xid catalogue.", happened(nvml.EventXid, 4711))
	f("ECC", "ERROR nvidia.gpu.ecc.uncorrected: "+label+": Double-bit ECC error", happened(nvml.EventDoubleBitECC, 0))
	f("storm", "WARN nvidia.gpu.memory.error: "+label+": Many single-bit ECC errors", happened(nvml.EventSingleBitECCStorm, 0))
	f("retirement", "INFO nvidia.gpu.memory.error: "+label+": Memory taken out of use", happened(nvml.EventDRAMRetirement, 0))
	f("poison", "FATAL nvidia.gpu.memory.error: "+label+": Poisoned data, not contained", happened(nvml.EventFatalPoison, 0))
	f("lost", "FATAL nvidia.gpu.lost: "+label+": GPU lost", happened(nvml.EventLost, 0))
	f("found", "INFO nvidia.gpu.found: "+label+": is there", happened(nvml.EventFound, 0))
	f("stale", "ERROR nvidia.gpu.stale: "+label+": The driver does not answer", happened(nvml.EventStale, 0))
	f("answers", "INFO nvidia.gpu.answering: "+label+": the driver answers again", happened(nvml.EventAnswers, 0))
	f("MIG", "INFO nvidia.gpu.mig.reconfigured: "+label+": MIG devices changed", happened(nvml.EventMIGChanged, 0))
	f("recovery", "WARN nvidia.gpu.recovery_action.changed: "+label+": the driver asks for another recovery action", happened(nvml.EventRecoveryAction, 2))
	f("helper", "WARN pitwall.nvml.helper.restarted: the program that talks to the driver ended and was started again", happened(nvml.EventHelperStarted, 0))
	unknownGPU := happened(nvml.EventXid, 31)
	unknownGPU.Key.Index, unknownGPU.UUID, unknownGPU.PCIBusID = -1, "", "00000000:77:00.0"
	f("of a GPU that nobody knows", "ERROR nvidia.gpu.xid: GPU: Xid 31: Memory page fault. Mostly an illegal address in the program: run it under compute-sanitizer. "+
		"On one GPU only, test the GPU.", unknownGPU)
}

// checkAttributes requires the registry to have each event with its attributes, and the events to have what it requires.
func checkAttributes(t *testing.T, b *bench) {
	t.Helper()
	registry, err := schema.Load()
	require.NoError(t, err)
	for _, logs := range b.logs.AllLogs() {
		record := logs.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0)
		event := registry.Event(record.EventName())
		require.NotNil(t, event, record.EventName())
		for key := range record.Attributes().All() {
			assert.True(t, slices.ContainsFunc(event.Attributes, func(use schema.Use) bool { return use.Name == key }), "%s has %s", event.Name, key)
		}
		for _, use := range event.Attributes {
			_, has := record.Attributes().Get(use.Name)
			// An error of a GPU that nobody knows has no index.
			assert.True(t, has || use.Requirement != "required" || use.Name == "rl.device.index", "%s has no %s", event.Name, use.Name)
		}
	}
}

func TestEventOfAnUnknownKind(t *testing.T) {
	b := newBench(t, nil)
	b.collectAfter(0, answer(h100(0)))
	b.heard(happened(200, 0))
	assert.Len(t, b.events(), 1)
}

// Each event has its registry's attributes, and says whose the GPU was.
func TestAttributesOfAnEvent(t *testing.T) {
	b := newBench(t, nil)
	gpuProcess(t, b.cfg.Attribution.ProcRoot, 10, "RL_RUN_ID=grpo-7", "RANK=3", "RL_ROLE=trainer")
	b.collectAfter(0, answer(h100(0).processes(10)))
	b.heard(happened(nvml.EventXid, 94))
	require.Len(t, b.events(), 2)
	logs := b.logs.AllLogs()[1].ResourceLogs().At(0)
	assert.Equal(t, "{container.id="+strings.Repeat("ab", 32)+", k8s.pod.uid=9a7a1c8e-5d3b-4f1e-8d25-0c0f7d2b9a10, rl.rank=3, rl.role=trainer, rl.run.id=grpo-7}",
		attributes(logs.Resource().Attributes()))
	registry, err := schema.Load()
	require.NoError(t, err)
	assert.Equal(t, registry.SchemaURL(), logs.ScopeLogs().At(0).SchemaUrl())
	record := logs.ScopeLogs().At(0).LogRecords().At(0)
	assert.Equal(t, "{hw.id=GPU-00000000-aaaa-bbbb-cccc-000000000000, hw.model=NVIDIA H100 80GB HBM3, hw.serial_number=1652823000000, nvidia.gpu.error.action=restart_process, "+
		"nvidia.gpu.error.name=Contained memory error, nvidia.gpu.error.severity=error, nvidia.gpu.xid=94, rl.device.index=0}", attributes(record.Attributes()))
	assert.Equal(t, began.Add(3*time.Second), record.Timestamp().AsTime())
	checkAttributes(t, b)
}

func TestXidOfAMIGDevice(t *testing.T) {
	b := newBench(t, nil)
	b.collectAfter(0, answerOf(migs(h100(0), 3)))
	event := happened(nvml.EventXid, 31)
	event.GPUInstance, event.ComputeInstance = 8, 0
	b.heard(event)
	assert.Contains(t, b.events()[1], "GPU 0, MIG device 1")
}

// The driver reports from the moment that a GPU is first asked, before the answer says what it is and whose.
func TestXidBeforeTheFirstCollection(t *testing.T) {
	b := newBench(t, nil)
	gpuProcess(t, b.cfg.Attribution.ProcRoot, 10, "RL_RUN_ID=grpo-7", "RANK=3")
	b.heard(happened(nvml.EventXid, 94))
	assert.Empty(t, b.events())
	b.collectAfter(0, answer(h100(0).processes(10)))
	require.Len(t, b.events(), 2)
	assert.Contains(t, b.events()[1], "GPU 0 (NVIDIA H100 80GB HBM3): Xid 94")
	run, _ := b.logs.AllLogs()[1].ResourceLogs().At(0).Resource().Attributes().Get("rl.run.id")
	assert.Equal(t, "grpo-7", run.AsString())
	requireValue(t, 1, b.collectAfter(10*time.Second, answer(h100(0).processes(10))), "nvidia.gpu.xid.errors", "nvidia.gpu.xid=94")
	checkAttributes(t, b)
}

// Its errors say what a GPU is that has never answered.
func TestXidOfAGPUThatHasNotAnswered(t *testing.T) {
	b := newBench(t, nil)
	silent := &gpu{nvml.Device{Key: nvml.Key{Index: 0, MIG: -1}, Minor: -1, GPUInstance: -1, ComputeInstance: -1, State: nvml.DeviceStale}}
	b.collectAfter(0, answer(silent))
	b.heard(happened(nvml.EventXid, 79))
	require.Len(t, b.events(), 2)
	record := b.logs.AllLogs()[1].ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0)
	id, _ := record.Attributes().Get("hw.id")
	assert.Equal(t, h100(0).UUID, id.AsString())
	requireValue(t, 1, b.collectAfter(10*time.Second, answer(silent)), "nvidia.gpu.xid.errors", "hw.id="+h100(0).UUID, "nvidia.gpu.xid=79")
}

// A driver that stops answering leaves the error to be told all the same, and too many are told at once.
func TestXidsOfAGPUThatNoCollectionSees(t *testing.T) {
	b := newBench(t, func(cfg *Config) { cfg.MaxEventsPerMinute = 2 * maxUnplaced })
	for number := range uint64(maxUnplaced + 1) {
		b.heard(happened(nvml.EventXid, number))
	}
	assert.Len(t, b.events(), 1)
	b.collectAfter(0, nvml.Snapshot{Status: nvml.StatusStarting})
	assert.Len(t, b.events(), 1+maxUnplaced)
	assert.Contains(t, b.events()[1], "GPU 0: Xid 0")
}

// The driver numbers GPUs anew when one is gone: the loss is not the one's that has its number now.
func TestLossOfAGPUWhoseNumberAnotherHas(t *testing.T) {
	b := newBench(t, nil)
	b.collectAfter(0, answer(h100(0), h100(1)))
	second := h100(1)
	second.Key.Index = 0
	b.collectAfter(10*time.Second, answer(second))
	b.heard(happened(nvml.EventLost, 0))
	require.Len(t, b.events(), 2)
	record := b.logs.AllLogs()[1].ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0)
	id, _ := record.Attributes().Get("hw.id")
	assert.Equal(t, h100(0).UUID, id.AsString())
}

func TestXidsAreCounted(t *testing.T) {
	b := newBench(t, nil)
	b.collectAfter(0, answer(h100(0)))
	for range 3 {
		b.heard(happened(nvml.EventXid, 31))
	}
	b.heard(happened(nvml.EventXid, 48))
	metrics := b.collectAfter(10*time.Second, answer(h100(0).absent(nvml.Unsupported, nvml.RecoveryAction)))
	requireValue(t, 3, metrics, "nvidia.gpu.xid.errors", "nvidia.gpu.xid=31")
	requireValue(t, 1, metrics, "nvidia.gpu.xid.errors", "nvidia.gpu.xid=48")
	requireValue(t, 4, metrics, "hw.errors", "xid")
	requireValue(t, 1, metrics, "hw.status", "failed")
	// A driver that knows better says that nothing is to be done.
	metrics = b.collectAfter(10*time.Second, answer(h100(0)))
	requireValue(t, 1, metrics, "hw.status", "=ok")
}

func TestThrottleEvents(t *testing.T) {
	with := func(reasons ...nvml.ThrottleReason) nvml.Snapshot {
		var mask float64
		for _, reason := range reasons {
			mask += float64(uint64(1) << reason)
		}
		return answer(h100(0).at(nvml.ClocksEventReasons, 0, mask))
	}
	b := newBench(t, nil)
	heat, idle := nvml.ThrottleHWThermalSlowdown, nvml.ThrottleGPUIdle
	for _, reasons := range [][]nvml.ThrottleReason{{}, {heat}, {}, {heat}, {heat}, {heat}, {}, {heat}, {}, {}, {idle}, {idle}, {idle}} {
		b.collectAfter(time.Second, with(reasons...))
	}
	const label = "GPU 0 (NVIDIA H100 80GB HBM3)"
	assert.Equal(t, []string{
		"WARN nvidia.gpu.throttle.started: " + label + ": clocks are kept down: hw_thermal_slowdown",
		"INFO nvidia.gpu.throttle.ended: " + label + ": clocks are not kept down any more: hw_thermal_slowdown",
	}, b.events()[1:])
}

func TestFloodOfEvents(t *testing.T) {
	b := newBench(t, func(cfg *Config) { cfg.MaxEventsPerMinute = 25 })
	b.collectAfter(0, answer(h100(0)))
	for range 1000 {
		b.heard(happened(nvml.EventXid, 31))
	}
	assert.Len(t, b.events(), 11, "ten of a kind in a minute")
	for number := range uint64(1000) {
		b.heard(happened(nvml.EventXid, number))
	}
	assert.Len(t, b.events(), 25)
	metrics := b.collectAfter(10*time.Second, answer(h100(0).at(nvml.ClocksEventReasons, 0, 0)))
	requireValue(t, 2000-24, metrics, "pitwall.nvml.events.dropped")
	requireValue(t, 2000, metrics, "hw.errors", "xid")
	b.clock = b.clock.Add(time.Minute)
	b.heard(happened(nvml.EventXid, 31))
	assert.Len(t, b.events(), 26)
}

func TestPipelineThatRefuses(t *testing.T) {
	event := happened(nvml.EventXid, 31)
	t.Run("for good", func(t *testing.T) {
		b := newBench(t, nil)
		b.collectAfter(0, answer(h100(0)))
		b.events()
		b.records.next = consumertest.NewErr(consumererror.NewPermanent(errors.New("never")))
		b.heard(event)
		b.records.hand(t.Context(), <-b.records.waiting)
		assert.EqualValues(t, 1, b.records.dropped.Load())
	})
	t.Run("and does not take more", func(t *testing.T) {
		q := newRecordQueue(consumertest.NewNop(), 1, zap.NewNop())
		b := newBench(t, func(cfg *Config) { cfg.MaxEventsPerMinute = 1 << 20 })
		b.collectAfter(0, answer(h100(0)))
		b.records.waiting = q.waiting
		for number := range uint64(maxWaiting + 100) {
			b.heard(happened(nvml.EventXid, number))
		}
		assert.EqualValues(t, 100, b.records.dropped.Load())
	})
}
