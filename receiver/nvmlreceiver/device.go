package nvmlreceiver

import (
	"strconv"
	"time"

	"github.com/pitwall-otel/pitwall/internal/nvml"
	"github.com/pitwall-otel/pitwall/receiver/nvmlreceiver/internal/attribution"
)

// maxXids bounds the kinds of Xid that are counted apart on one GPU; there are not so many.
const maxXids = 256

// device is what is remembered of a GPU, a MIG device or a virtual GPU from one collection to the next.
type device struct {
	key     nvml.Key
	uuid    string
	id      string // hw.id, unique on the machine
	name    string // of the product
	serial  string
	parent  string
	present bool
	// gpuInstance and computeInstance are a MIG device's, by which events name it.
	gpuInstance, computeInstance int
	// seen is when it was collected last, before when it was the time before that.
	seen, before time.Time

	identity  attribution.Identity
	runs      []runCount
	time      account
	throttles throttles
	health    health
	traffic   traffic
	xids      map[uint64]int64
	xidCount  int64
	// unsupported counts values by the class that they were asked for with.
	unsupported map[nvml.Class]int
}

// device returns what is remembered of a device. A GPU with another UUID under the same number is another GPU.
func (i *instance) device(reported *nvml.Device, id string) *device {
	d := i.devices[reported.Key]
	if d == nil || d.uuid != reported.UUID && reported.UUID != "" && d.uuid != "" {
		d = &device{key: reported.Key, xids: map[uint64]int64{}, unsupported: map[nvml.Class]int{}}
		i.devices[reported.Key] = d
	}
	d.present = true
	// A GPU that is gone may not tell its identity any more: what it said before still holds.
	if reported.UUID != "" || d.id == "" {
		d.uuid, d.id = reported.UUID, id
	}
	keep := func(old *string, text string) {
		if text != "" {
			*old = text
		}
	}
	keep(&d.name, reported.Name)
	keep(&d.serial, reported.Serial)
	keep(&d.parent, reported.ParentUUID)
	d.gpuInstance, d.computeInstance = reported.GPUInstance, reported.ComputeInstance
	return d
}

// uniqueIDs gives each device an hw.id: its UUID, with its place added where another one has the same. doubled says that
// there are such.
func uniqueIDs(devices []nvml.Device) (ids []string, doubled bool) {
	count := make(map[string]int, len(devices))
	for n := range devices {
		count[devices[n].UUID]++
	}
	ids = make([]string, len(devices))
	for n := range devices {
		d := &devices[n]
		id := d.UUID
		if id == "" || count[id] > 1 {
			doubled = doubled || id != ""
			id = placeOf(d)
			if d.UUID != "" {
				id = d.UUID + "@" + id
			}
		}
		ids[n] = id
	}
	return ids, doubled
}

// placeOf names a device by where it is.
func placeOf(d *nvml.Device) string {
	place := d.PCIBusID
	if place == "" {
		place = "gpu" + strconv.Itoa(d.Key.Index)
	}
	if d.Key.MIG >= 0 {
		place += "/mig" + strconv.Itoa(d.Key.MIG)
	}
	if d.Key.VGPU != 0 {
		place += "/vgpu" + strconv.FormatUint(uint64(d.Key.VGPU), 10)
	}
	return place
}
