//go:build linux && cgo

package main

import (
	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/pitwall-otel/pitwall/internal/nvml"
)

// maxFans bounds what a broken driver may claim.
const maxFans = 16

// fans asks for the speed of each fan; boards in servers have none.
func (s *session) fans(d gonvml.Device) {
	if !s.wants(nvml.ClassTemperature) {
		return
	}
	why, known := s.memory.calls[placeFans]
	if known {
		s.absent(nvml.FanSpeed, 0, why)
		return
	}
	n := 1
	if s.lib.has("nvmlDeviceGetNumFans") {
		if count, r := d.GetNumFans(); r == gonvml.SUCCESS {
			n = min(count, maxFans)
		}
	}
	if n == 0 {
		s.memory.calls[placeFans] = nvml.Unsupported
		s.absent(nvml.FanSpeed, 0, nvml.Unsupported)
	}
	for fan := range n {
		speed, r := s.fan(d, fan)
		why := s.settle(r)
		if why == nvml.Present {
			s.present(nvml.FanSpeed, uint16(fan), float64(speed))
			continue
		}
		if lasting(why) && fan == 0 {
			s.memory.calls[placeFans] = why
		}
		s.absent(nvml.FanSpeed, uint16(fan), why)
		return
	}
}

func (s *session) fan(d gonvml.Device, fan int) (uint32, gonvml.Return) {
	switch {
	case s.lib.has("nvmlDeviceGetFanSpeed_v2"):
		return d.GetFanSpeed_v2(fan)
	case s.lib.has("nvmlDeviceGetFanSpeed") && fan == 0:
		return d.GetFanSpeed()
	default:
		return 0, gonvml.ERROR_FUNCTION_NOT_FOUND
	}
}
