//go:build linux && cgo

package main

import (
	"slices"
	"time"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/pitwall-otel/pitwall/internal/nvml"
)

// Places in session.memory of what is not in the list of calls.
const (
	placeGPM = -1 - iota
	placeMIGMode
	placeFans
	placeCompute
	placeGraphics
	placeMPS
	placeProcessUtilization
	placeVGPU
)

// maxProcesses bounds each list; a frame holds the three of a GPU.
const maxProcesses = 4096

// processes lists who uses the GPU.
func (s *session) processes(d gonvml.Device) []nvml.Process {
	if !s.wants(nvml.ClassProcesses) {
		return nil
	}
	var list []nvml.Process
	for _, l := range []struct {
		field   nvml.Field
		kind    nvml.ProcessType
		place   int
		symbols []string
		get     func() ([]gonvml.ProcessInfo, gonvml.Return)
	}{
		{
			nvml.ComputeProcesses, nvml.ComputeProcess, placeCompute, versions("nvmlDeviceGetComputeRunningProcesses"),
			d.GetComputeRunningProcesses,
		},
		{
			nvml.GraphicsProcesses, nvml.GraphicsProcess, placeGraphics, versions("nvmlDeviceGetGraphicsRunningProcesses"),
			d.GetGraphicsRunningProcesses,
		},
		{
			nvml.MPSProcesses, nvml.MPSProcess, placeMPS, versions("nvmlDeviceGetMPSComputeRunningProcesses"),
			d.GetMPSComputeRunningProcesses,
		},
	} {
		var found []gonvml.ProcessInfo
		why := s.list(l.field, l.place, l.symbols, func() (r gonvml.Return) {
			found, r = l.get()
			return r
		})
		if why != nvml.Present {
			continue
		}
		for _, p := range found[:min(len(found), maxProcesses)] {
			list = append(list, process(p, l.kind))
		}
	}
	return list
}

// versions are the names of a function that was changed twice.
func versions(symbol string) []string { return []string{symbol + "_v3", symbol + "_v2", symbol} }

// list asks for a list, unless it is known that it is not to be had, and notes what came of it.
func (s *session) list(f nvml.Field, place int, symbols []string, get func() gonvml.Return) nvml.Absent {
	if s.lost != gonvml.SUCCESS {
		return nvml.Lost
	}
	why, known := s.memory.calls[place]
	if !known {
		if why = nvml.Unsupported; s.lib.has(symbols...) {
			why = s.settle(get())
		}
		if lasting(why) {
			s.memory.calls[place] = why
		}
	}
	if why == nvml.Present {
		s.present(f, 0, 1)
	} else {
		s.absent(f, 0, why)
	}
	return why
}

const (
	noMemory   = ^uint64(0) // the driver does not tell
	noInstance = ^uint32(0)
)

func process(p gonvml.ProcessInfo, kind nvml.ProcessType) nvml.Process {
	out := nvml.Process{PID: p.Pid, Type: kind, GPUInstance: instance(p.GpuInstanceId), ComputeInstance: instance(p.ComputeInstanceId)}
	if p.UsedGpuMemory != noMemory {
		out.HasMemory, out.UsedMemory = true, p.UsedGpuMemory
	}
	return out
}

func instance(id uint32) int {
	if id == noInstance {
		return -1
	}
	return int(id)
}

// lastSeen is the newest sample that was taken, in NVML's microseconds.
type lastSeen struct{ processes, vgpus uint64 }

// processUtilization lists what processes used since the last time, the newest sample of each.
func (s *session) processUtilization(d gonvml.Device, last *lastSeen) []nvml.ProcessSample {
	if !s.wants(nvml.ClassProcessUtilization) {
		return nil
	}
	var samples []gonvml.ProcessUtilizationSample
	why := s.list(nvml.ProcessUtilization, placeProcessUtilization, []string{"nvmlDeviceGetProcessUtilization"},
		func() (r gonvml.Return) {
			samples, r = d.GetProcessUtilization(last.processes)
			if r == gonvml.ERROR_NOT_FOUND || r == gonvml.ERROR_INSUFFICIENT_SIZE && len(samples) == 0 {
				r = gonvml.SUCCESS // nothing ran
			}
			return r
		})
	if why != nvml.Present {
		return nil
	}
	slices.SortFunc(samples, func(a, b gonvml.ProcessUtilizationSample) int {
		if a.Pid != b.Pid {
			return int(a.Pid) - int(b.Pid)
		}
		return int(int64(b.TimeStamp) - int64(a.TimeStamp))
	})
	var list []nvml.ProcessSample
	for i, v := range samples {
		if v.TimeStamp == 0 || i > 0 && v.Pid == samples[i-1].Pid || len(list) == maxProcesses {
			continue
		}
		last.processes = max(last.processes, v.TimeStamp)
		list = append(list, nvml.ProcessSample{
			PID: v.Pid, Time: time.UnixMicro(int64(v.TimeStamp)),
			SM: v.SmUtil, Memory: v.MemUtil, Encoder: v.EncUtil, Decoder: v.DecUtil,
		})
	}
	return list
}
