//go:build linux && cgo

package main

import (
	"fmt"
	"os"
	"sync"
	"time"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/pitwall-otel/pitwall/internal/nvml"
)

const (
	eventWait  = 2000             // ms; new GPUs are registered between two waits as well as during one
	eventPause = 10 * time.Second // after an error, so that a broken driver does not make us spin
)

// events waits for what the driver reports.
type events struct {
	lib  *library
	pipe *pipe
	set  gonvml.EventSet // nil when the driver has none

	mu      sync.Mutex
	sources map[gonvml.Device]source
	waiting bool
}

// source is who an event came from.
type source struct {
	gpu    *gpu
	device nvml.Device
}

func newEvents(lib *library, p *pipe) *events {
	e := &events{lib: lib, pipe: p, sources: map[gonvml.Device]source{}}
	if lib.has("nvmlEventSetCreate") && lib.has("nvmlEventSetWait_v2", "nvmlEventSetWait") &&
		lib.has("nvmlDeviceRegisterEvents") && lib.has("nvmlDeviceGetSupportedEventTypes") {
		if set, r := lib.EventSetCreate(); r == gonvml.SUCCESS {
			e.set = set
		}
	}
	return e
}

// eventTypes are NVML's bits of what is worth reporting. Clocks, performance states and repaired bits are not: metrics tell
// them, and they come so often that they would crowd out the others.
func eventTypes() []struct {
	kind nvml.EventKind
	bit  uint64
} {
	return []struct {
		kind nvml.EventKind
		bit  uint64
	}{
		{nvml.EventXid, gonvml.EventTypeXidCriticalError},
		{nvml.EventDoubleBitECC, gonvml.EventTypeDoubleBitEccError},
		{nvml.EventMIGConfig, gonvml.EventMigConfigChange},
		{nvml.EventSingleBitECCStorm, gonvml.EventTypeSingleBitEccErrorStorm},
		{nvml.EventDRAMRetirement, gonvml.EventTypeDramRetirementEvent},
		{nvml.EventDRAMRetirementFailure, gonvml.EventTypeDramRetirementFailure},
		{nvml.EventNonFatalPoison, gonvml.EventTypeNonFatalPoisonError},
		{nvml.EventFatalPoison, gonvml.EventTypeFatalPoisonError},
		{nvml.EventUnavailable, gonvml.EventTypeGpuUnavailableError},
		{nvml.EventRecoveryAction, gonvml.EventTypeGpuRecoveryAction},
	}
}

// register asks for what the GPU can report of that. It is called on the GPU's thread.
func (e *events) register(g *gpu, handle gonvml.Device, device nvml.Device) {
	if e.set == nil {
		return
	}
	supported, r := handle.GetSupportedEventTypes()
	if r != gonvml.SUCCESS {
		return
	}
	var types uint64
	for _, t := range eventTypes() {
		types |= supported & t.bit
	}
	if types == gonvml.EventTypeNone {
		return
	}
	e.mu.Lock()
	e.sources[handle] = source{gpu: g, device: device}
	e.mu.Unlock()
	if r := handle.RegisterEvents(types, e.set); r != gonvml.SUCCESS {
		fmt.Fprintf(os.Stderr, "pitwall-nvml: GPU %d reports no events: %s\n", device.Key.Index, errorText(e.lib, r))
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.waiting {
		e.waiting = true
		go e.wait() // ends with the process
	}
}

func (e *events) wait() {
	for {
		got, r := e.set.Wait(eventWait)
		switch r {
		case gonvml.SUCCESS:
			e.report(got)
		case gonvml.ERROR_TIMEOUT:
		case gonvml.ERROR_GPU_IS_LOST:
			e.report(gonvml.EventData{Device: got.Device, EventType: gonvml.EventTypeGpuUnavailableError})
			pause()
		default:
			fmt.Fprintln(os.Stderr, "pitwall-nvml: waiting for events: "+errorText(e.lib, r))
			pause()
		}
	}
}

func pause() {
	time.Sleep(eventPause) //nolint:forbidigo // nobody waits for this goroutine: it ends with the process
}

func (e *events) report(got gonvml.EventData) {
	event := nvml.Event{Time: time.Now(), Key: nvml.Key{Index: -1, MIG: -1}, GPUInstance: -1, ComputeInstance: -1}
	e.mu.Lock()
	from, known := e.sources[got.Device]
	e.mu.Unlock()
	if known {
		event.Key, event.UUID, event.PCIBusID = from.device.Key, from.device.UUID, from.device.PCIBusID
	}
	for _, t := range eventTypes() {
		if got.EventType&t.bit == 0 {
			continue
		}
		event.Kind = t.kind
		if event.Kind == nvml.EventXid {
			event.Data = got.EventData
			if e.lib.has("nvmlEventSetWait_v2") {
				event.GPUInstance, event.ComputeInstance = instance(got.GpuInstanceId), instance(got.ComputeInstanceId)
			}
		}
		if event.Kind == nvml.EventMIGConfig && known {
			from.gpu.relist.Store(true)
		}
		e.pipe.event(&event)
	}
}
