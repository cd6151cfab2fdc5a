package nvmlreceiver

import (
	"github.com/pitwall-otel/pitwall/internal/nvml"
)

// found are the readings of one device that have a value, ordered by field and index as they came.
type found struct {
	list []nvml.Reading
	// soon says that GPM answers, but not before the next collection.
	soon bool
}

func (f *found) value(field nvml.Field, index uint16) (float64, bool) {
	low, high := 0, len(f.list)
	for low < high {
		middle := (low + high) / 2
		if x := f.list[middle]; x.Field < field || x.Field == field && x.Index < index {
			low = middle + 1
		} else {
			high = middle
		}
	}
	if low < len(f.list) && f.list[low].Field == field && f.list[low].Index == index {
		return f.list[low].Value, true
	}
	return 0, false
}

func (f *found) has(field nvml.Field) bool {
	_, ok := f.value(field, 0)
	return ok
}

func (f *found) isSet(field nvml.Field) bool {
	v, _ := f.value(field, 0)
	return v != 0
}

// each calls visit with all readings of a field.
func (f *found) each(field nvml.Field, visit func(index uint16, value float64)) {
	for _, x := range f.list {
		if x.Field == field {
			visit(x.Index, x.Value)
		}
	}
}

// activity says what the device does. MIG devices have no utilization; where there is GPM it says the same.
func (f *found) activity(threshold float64) activity {
	percent, ok := f.value(nvml.UtilizationGPU, 0)
	if !ok {
		percent, ok = f.value(nvml.GPMGraphicsUtil, 0)
	}
	switch {
	case !ok:
		return unknown
	case percent < 100*threshold:
		return idle
	default:
		return busy
	}
}

// hasPCIeTraffic says that there is something better than a look of 20 ms.
func (f *found) hasPCIeTraffic() bool {
	bytes, _ := f.value(nvml.PCIeTxBytes, 0)
	return f.soon || f.has(nvml.GPMPCIeTxRate) || bytes >= wrapAt
}
