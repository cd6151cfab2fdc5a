package nvmlclient

import (
	"slices"
	"strconv"
	"time"

	"github.com/pitwall-otel/pitwall/internal/nvml"
)

// tracker remembers the devices of the last snapshot, to tell what changed and what a silent GPU is.
type tracker struct {
	known  map[int][]nvml.Device // identities by index of the GPU, of those that answered
	gpus   map[string]nvml.Device
	migs   map[string][]string // UUIDs of the MIG devices of a GPU
	states map[nvml.Key]nvml.Device
}

// follow notes the devices of a snapshot, tells each since when it is in its state, and returns what changed. The first
// snapshot changes nothing.
func (t *tracker) follow(devices []nvml.Device, now time.Time) []nvml.Event {
	first := t.gpus == nil
	next := tracker{
		known: map[int][]nvml.Device{}, gpus: map[string]nvml.Device{}, migs: map[string][]string{},
		states: map[nvml.Key]nvml.Device{},
	}
	var events []nvml.Event
	var gpu string // identity of the GPU that the devices belong to
	for i := range devices {
		d := &devices[i]
		t.date(d, now)
		next.states[d.Key] = nvml.Device{UUID: d.UUID, State: d.State, StateSince: d.StateSince}
		next.known[d.Key.Index] = append(next.known[d.Key.Index], identityOf(d))
		if d.Key.MIG >= 0 || d.Key.VGPU != 0 {
			if d.Key.MIG >= 0 {
				next.migs[gpu] = append(next.migs[gpu], d.UUID)
			}
			continue
		}
		gpu = name(d)
		if _, doubled := next.gpus[gpu]; doubled {
			gpu += "#" + strconv.Itoa(d.Key.Index)
		}
		next.gpus[gpu] = identityOf(d)
		if d.State == nvml.DeviceLost || d.State == nvml.DeviceError {
			next.migs[gpu] = t.migs[gpu] // not known now
		}
		if before, ok := t.before(gpu, d); !first {
			events = append(events, changes(before, ok, d, now)...)
		}
	}
	if !first {
		events = append(events, t.vanished(&next, now)...)
		events = append(events, t.resplit(&next, now)...)
	}
	*t = next
	return events
}

// date tells since when a device is in its state; stale ones know better.
func (t *tracker) date(d *nvml.Device, now time.Time) {
	if before, ok := t.states[d.Key]; ok && before.State == d.State && before.UUID == d.UUID {
		d.StateSince = before.StateSince
	} else if d.StateSince.IsZero() {
		d.StateSince = now
	}
}

// name is what a GPU is recognised by when the driver numbers GPUs anew.
func name(d *nvml.Device) string {
	if d.UUID == "" && d.PCIBusID == "" {
		return unnamed(d.Key.Index)
	}
	return d.UUID + " " + d.PCIBusID
}

func unnamed(index int) string { return "index " + strconv.Itoa(index) }

// before returns what was known of a GPU; one that hung from the beginning had no name.
func (t *tracker) before(gpu string, d *nvml.Device) (nvml.Device, bool) {
	if b, ok := t.gpus[gpu]; ok {
		return b, true
	}
	b, ok := t.gpus[unnamed(d.Key.Index)]
	return b, ok
}

// identityOf is a device without what was read.
func identityOf(d *nvml.Device) nvml.Device {
	i := *d
	i.Time, i.Wall, i.CPU = time.Time{}, 0, 0
	i.Readings, i.Processes, i.ProcessUtilization = nil, nil, nil
	return i
}

func changes(before nvml.Device, known bool, d *nvml.Device, now time.Time) []nvml.Event {
	var kind nvml.EventKind
	switch {
	case d.State == nvml.DeviceLost && (!known || before.State != nvml.DeviceLost):
		kind = nvml.EventLost
	case d.State == nvml.DeviceStale && (!known || before.State != nvml.DeviceStale):
		kind = nvml.EventStale
	case d.State == nvml.DeviceOK && (!known || before.State == nvml.DeviceLost):
		kind = nvml.EventFound
	case d.State == nvml.DeviceOK && before.State == nvml.DeviceStale:
		kind = nvml.EventAnswers
	default:
		return nil
	}
	return []nvml.Event{eventOf(kind, d, now, d.Error)}
}

func eventOf(kind nvml.EventKind, d *nvml.Device, now time.Time, text string) nvml.Event {
	return nvml.Event{
		Kind: kind, Time: now, Key: d.Key, UUID: d.UUID, PCIBusID: d.PCIBusID, Text: text,
		GPUInstance: -1, ComputeInstance: -1,
	}
}

// vanished tells of GPUs that are not listed any more.
func (t *tracker) vanished(next *tracker, now time.Time) []nvml.Event {
	var events []nvml.Event
	for gpu, d := range t.gpus {
		if _, there := next.gpus[gpu]; !there && gpu != unnamed(d.Key.Index) && d.State != nvml.DeviceLost {
			events = append(events, eventOf(nvml.EventLost, &d, now, "the driver does not list it any more"))
		}
	}
	slices.SortFunc(events, func(a, b nvml.Event) int { return a.Key.Index - b.Key.Index })
	return events
}

// resplit tells of GPUs whose MIG devices are others than before.
func (t *tracker) resplit(next *tracker, now time.Time) []nvml.Event {
	var events []nvml.Event
	for gpu, d := range next.gpus {
		if _, there := t.gpus[gpu]; there && !slices.Equal(t.migs[gpu], next.migs[gpu]) {
			events = append(events, eventOf(nvml.EventMIGChanged, &d, now,
				strconv.Itoa(len(t.migs[gpu]))+" MIG devices before, "+strconv.Itoa(len(next.migs[gpu]))+" now"))
		}
	}
	slices.SortFunc(events, func(a, b nvml.Event) int { return a.Key.Index - b.Key.Index })
	return events
}
