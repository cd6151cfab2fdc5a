//go:build linux && cgo

package main

import (
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/pitwall-otel/pitwall/internal/nvml"
	"github.com/pitwall-otel/pitwall/internal/nvml/wire"
)

// forget is after how long something unsupported is asked for again: modes change, and drivers err.
const forget = 10 * time.Minute

// gpu is one GPU with its MIG devices and virtual GPUs, and the thread that asks for them. All but asks, working and
// relist belong to that thread.
type gpu struct {
	lib     *library
	events  *events
	pipe    *pipe
	options options
	index   int

	asks    chan wire.Ask
	working atomic.Int64 // since when, nanoseconds; 0 when idle
	relist  atomic.Bool  // look whether it is still the same

	handle gonvml.Device
	device nvml.Device // identity
	calls  []call
	values []value
	memory memory // of what it cannot do
	links  links
	gpm    gpm
	migs   []*mig
	mode   int // MIG mode at the last look
	used   lastSeen

	lookForMIGs bool

	lostSince time.Time
	room      []nvml.Reading
}

func newGPU(lib *library, events *events, p *pipe, o options, index int) *gpu {
	g := &gpu{
		lib: lib, events: events, pipe: p, options: o, index: index,
		asks: make(chan wire.Ask, 1), calls: calls(lib), values: values(),
	}
	g.relist.Store(true)
	go g.serve()
	return g
}

// busy returns since when the GPU works, and the zero time when it is free and now begins to.
func (g *gpu) busy(now time.Time) time.Time {
	if g.working.CompareAndSwap(0, now.UnixNano()) {
		return time.Time{}
	}
	return time.Unix(0, max(g.working.Load(), 1))
}

// serve answers for this GPU, on a thread of its own: the CPU time is its own then, and a hang as well.
func (g *gpu) serve() {
	runtime.LockOSThread()
	for ask := range g.asks {
		answer := wire.Answer{ID: ask.ID, Index: g.index, Devices: g.collect(ask.Classes)}
		g.working.Store(0)
		g.pipe.devices(&answer)
	}
}

// collect asks the library. A panic in go-nvml, which trusts the driver's lengths, makes this GPU fail once.
func (g *gpu) collect(classes nvml.Class) (devices []nvml.Device) {
	started, cpu := time.Now(), threadCPU()
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(os.Stderr, "pitwall-nvml: GPU %d: %v\n", g.index, p)
			g.handle, devices = nil, []nvml.Device{g.failed(nvml.DeviceError, fmt.Sprint(p))}
		}
	}()

	if g.relist.Swap(false) || g.handle == nil {
		if ret := g.identify(); ret != gonvml.SUCCESS {
			return []nvml.Device{g.unreachable(ret)}
		}
	}
	s := newSession(g.lib, &g.memory, classes, started, g.room)
	device := g.device
	device.State, device.Time = nvml.DeviceOK, started
	g.read(s, &device)
	if s.lost != gonvml.SUCCESS {
		return []nvml.Device{g.unreachable(s.lost)}
	}
	g.lostSince = time.Time{}
	devices = append(devices, device)
	devices = g.readMIGs(devices, classes, started)
	devices = g.readVGPUs(devices, s, started)
	s.sort()
	devices[0].Readings, g.room = s.readings, s.readings
	devices[0].Wall, devices[0].CPU = time.Since(started), threadCPU()-cpu
	return devices
}

// read asks for all that a whole GPU has.
func (g *gpu) read(s *session, device *nvml.Device) {
	for i := range g.calls {
		s.call(g.handle, i, &g.calls[i])
	}
	s.fieldValues(g.handle, g.values)
	s.fans(g.handle)
	s.nvlinks(g.handle, &g.links)
	g.readMIGMode(s)
	s.readGPM(g.handle, &g.gpm, -1)
	device.Processes = s.processes(g.handle)
	device.ProcessUtilization = s.processUtilization(g.handle, &g.used)
}

// unreachable is the answer for a GPU that the driver lost or gives no handle for.
func (g *gpu) unreachable(ret gonvml.Return) nvml.Device {
	if absent(ret) != nvml.Lost {
		g.handle = nil
		return g.failed(nvml.DeviceError, errorText(g.lib, ret))
	}
	if g.lostSince.IsZero() {
		g.lostSince = time.Now()
	}
	if time.Since(g.lostSince) > g.options.lostRetry {
		again(fmt.Sprintf("GPU %d is lost; looking with a fresh driver whether it is back", g.index))
	}
	return g.failed(nvml.DeviceLost, errorText(g.lib, ret))
}

func (g *gpu) failed(state nvml.State, why string) nvml.Device {
	device := g.device
	device.Key = nvml.Key{Index: g.index, MIG: -1}
	device.State, device.Error, device.Time = state, why, time.Now()
	if device.UUID == "" {
		device.Minor, device.GPUInstance, device.ComputeInstance = -1, -1, -1
	}
	return device
}
