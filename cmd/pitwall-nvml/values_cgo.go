//go:build linux && cgo

package main

import (
	"encoding/binary"
	"math"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/pitwall-otel/pitwall/internal/nvml"
)

// value is what nvmlDeviceGetFieldValues returns, many with one call.
type value struct {
	id, scope uint32
	field     nvml.Field
	index     uint16
}

// valueKey tells values apart that come from the same id.
type valueKey struct {
	id    uint32
	field nvml.Field
	index uint16
}

// mostValues is how many are asked for at once.
const mostValues = 128

// values lists those of a whole GPU. A further one is one more line.
func values() []value {
	list := []value{
		{id: gonvml.FI_DEV_POWER_INSTANT, field: nvml.PowerInstant},
		{id: gonvml.FI_DEV_MEMORY_TEMP, field: nvml.TemperatureMemory},
		{id: gonvml.FI_DEV_PCIE_COUNT_TX_BYTES, field: nvml.PCIeTxBytes},
		{id: gonvml.FI_DEV_PCIE_COUNT_RX_BYTES, field: nvml.PCIeRxBytes},
		{id: gonvml.FI_DEV_GET_GPU_RECOVERY_ACTION, field: nvml.RecoveryAction},
	}
	for reason, id := range map[nvml.ThrottleReason]uint32{
		nvml.ThrottleSWPowerCap:           gonvml.FI_DEV_CLOCKS_EVENT_REASON_SW_POWER_CAP,
		nvml.ThrottleSyncBoost:            gonvml.FI_DEV_CLOCKS_EVENT_REASON_SYNC_BOOST,
		nvml.ThrottleSWThermalSlowdown:    gonvml.FI_DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN,
		nvml.ThrottleHWThermalSlowdown:    gonvml.FI_DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN,
		nvml.ThrottleHWPowerBrakeSlowdown: gonvml.FI_DEV_CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN,
	} {
		list = append(list, value{id: id, field: nvml.ThrottleTime, index: uint16(reason)})
	}
	for policy, id := range map[nvml.PerfPolicy]uint32{
		nvml.PolicyPower:           gonvml.FI_DEV_PERF_POLICY_POWER,
		nvml.PolicyThermal:         gonvml.FI_DEV_PERF_POLICY_THERMAL,
		nvml.PolicySyncBoost:       gonvml.FI_DEV_PERF_POLICY_SYNC_BOOST,
		nvml.PolicyBoardLimit:      gonvml.FI_DEV_PERF_POLICY_BOARD_LIMIT,
		nvml.PolicyLowUtilization:  gonvml.FI_DEV_PERF_POLICY_LOW_UTILIZATION,
		nvml.PolicyReliability:     gonvml.FI_DEV_PERF_POLICY_RELIABILITY,
		nvml.PolicyTotalAppClocks:  gonvml.FI_DEV_PERF_POLICY_TOTAL_APP_CLOCKS,
		nvml.PolicyTotalBaseClocks: gonvml.FI_DEV_PERF_POLICY_TOTAL_BASE_CLOCKS,
	} {
		list = append(list, value{id: id, field: nvml.ViolationTime, index: uint16(policy)})
	}
	return list
}

// fieldValues asks for the values of a whole GPU.
func (s *session) fieldValues(d gonvml.Device, list []value) {
	wanted := make([]value, 0, len(list))
	for _, v := range list {
		if s.wants(v.field.Class()) {
			wanted = append(wanted, v)
		}
	}
	s.ask(d, wanted)
}

// ask asks for values and notes what came of each, but for those of which that is known.
func (s *session) ask(d gonvml.Device, list []value) {
	there := s.lib.has("nvmlDeviceGetFieldValues")
	asked := make([]value, 0, len(list))
	for _, v := range list {
		why, known := s.memory.values[v.key()]
		if !there {
			why, known = nvml.Unsupported, true
		}
		if known {
			s.absent(v.field, v.index, why)
			continue
		}
		asked = append(asked, v)
	}
	request := make([]gonvml.FieldValue, min(len(asked), mostValues))
	for len(asked) > 0 && s.lost == gonvml.SUCCESS {
		n := min(len(asked), mostValues)
		for i, v := range asked[:n] {
			request[i] = gonvml.FieldValue{FieldId: v.id, ScopeId: v.scope}
		}
		all := s.settle(d.GetFieldValues(request[:n]))
		for i, v := range asked[:n] {
			s.value(v, &request[i], all)
		}
		asked = asked[n:]
	}
}

func (v value) key() valueKey { return valueKey{id: v.id, field: v.field, index: v.index} }

// value notes one answer; all is what became of the whole call.
func (s *session) value(v value, got *gonvml.FieldValue, all nvml.Absent) {
	why := all
	if why == nvml.Present {
		why = s.settle(gonvml.Return(got.NvmlReturn))
	}
	x, ok := decode(got)
	if why == nvml.Present && !ok {
		why = nvml.Failed
	}
	if why == nvml.Present {
		s.present(v.field, v.index, x)
		return
	}
	if lasting(why) {
		s.memory.values[v.key()] = why
	}
	s.absent(v.field, v.index, why)
}

// decode reads the number out of C's union.
func decode(v *gonvml.FieldValue) (x float64, ok bool) {
	return number64(gonvml.ValueType(v.ValueType), v.Value)
}

func number64(t gonvml.ValueType, raw [8]byte) (x float64, ok bool) {
	u := binary.NativeEndian.Uint64(raw[:])
	low := binary.NativeEndian.Uint32(raw[:4])
	switch t {
	case gonvml.VALUE_TYPE_DOUBLE:
		x = math.Float64frombits(u)
		return x, !math.IsNaN(x) && !math.IsInf(x, 0)
	case gonvml.VALUE_TYPE_UNSIGNED_INT:
		return float64(low), true
	case gonvml.VALUE_TYPE_UNSIGNED_LONG, gonvml.VALUE_TYPE_UNSIGNED_LONG_LONG:
		return float64(u), true
	case gonvml.VALUE_TYPE_SIGNED_LONG_LONG:
		return float64(int64(u)), true
	case gonvml.VALUE_TYPE_SIGNED_INT:
		return float64(int32(low)), true
	case gonvml.VALUE_TYPE_UNSIGNED_SHORT:
		return float64(binary.NativeEndian.Uint16(raw[:2])), true
	default:
		return 0, false
	}
}
