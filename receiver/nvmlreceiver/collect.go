package nvmlreceiver

import (
	"context"
	"math"
	"runtime"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pitwall-otel/pitwall/internal/nvml"
	"github.com/pitwall-otel/pitwall/receiver/nvmlreceiver/internal/metadata"
)

// target is what is asked, in the metrics about collecting.
const target = "libnvidia-ml.so.1"

// collect asks once and makes metrics of the answer. It never fails: a driver that is not there is a status.
func (i *instance) collect(ctx context.Context) (pmetric.Metrics, error) {
	// The thread's processor time is this collection's only while nobody else runs on the thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	i.mu.Lock()
	began, used := i.now(), threadTime()
	request := nvml.Request{Classes: i.cadence.classes(began, i.budget.level), Deadline: i.cfg.deviceTimeout()}
	i.mu.Unlock()

	snapshot := i.driver.Collect(ctx, request)

	i.mu.Lock()
	defer i.mu.Unlock()
	now := i.now()
	i.driverStatus(now, snapshot)
	if snapshot.Status != nvml.StatusOK {
		i.hearUnplaced()
		i.accountForSilence(now)
		i.recordDown(now, snapshot)
		return i.finish(), nil
	}
	i.cadence.asked(now, request.Classes, i.budget.level)
	c := collection{
		instance: i, snapshot: &snapshot, request: request, now: now, slow: request.Classes&slowClasses != 0,
	}
	c.devices()
	i.hearUnplaced()
	if i.processes != nil {
		i.processes.Sweep()
	}
	i.cadence.pcieRate = c.wantsPCIeRate
	own := threadTime() - used
	i.observeCost(now, now.Sub(began), own, snapshot)
	i.recordSelf(now, c, snapshot)
	return i.finish(), nil
}

// collection is what one answer becomes.
type collection struct {
	*instance
	snapshot *nvml.Snapshot
	request  nvml.Request
	now      time.Time
	// slow says that this collection has what is told once a minute only.
	slow bool
	gpus map[int]*nvml.Device // by index

	implausible   int
	failed        int
	stale         int
	wantsPCIeRate bool
}

func (c *collection) devices() {
	for _, d := range c.instance.devices {
		d.present = false
	}
	c.gpus = make(map[int]*nvml.Device, len(c.snapshot.Devices))
	for n := range c.snapshot.Devices {
		if d := &c.snapshot.Devices[n]; d.Key.MIG < 0 && d.Key.VGPU == 0 {
			c.gpus[d.Key.Index] = d
		}
	}
	ids, doubled := uniqueIDs(c.snapshot.Devices)
	for n := range c.snapshot.Devices {
		reported := &c.snapshot.Devices[n]
		d := c.instance.device(reported, ids[n])
		c.device(d, reported)
	}
	for key, d := range c.instance.devices {
		if !d.present {
			delete(c.instance.devices, key)
		}
	}
	c.once("duplicates", doubled, func() {
		c.log.Warn("several GPUs have the same UUID, which virtual machines sometimes do; their hw.id has the PCI address or the index added")
	})
}

func (c *collection) device(d *device, reported *nvml.Device) {
	first := d.seen.IsZero()
	if first {
		d.seen = c.now
	}
	elapsed := c.now.Sub(d.seen)
	d.before, d.seen = d.seen, c.now
	at := reported.Time
	if reported.State != nvml.DeviceOK || at.IsZero() {
		at = c.now
	}
	r := c.recorder(d, reported, at)
	if reported.State != nvml.DeviceOK {
		c.stale++
		d.time.advance(c.now, elapsed, c.longest(), unknown)
		r.silent(reported.State)
		c.emit(d)
		return
	}
	c.identify(d, reported)
	c.runsOf(r, d)
	f := r.readings(reported.Readings)
	d.health.see(f)
	d.time.advance(c.now, elapsed, c.longest(), f.activity(c.cfg.IdleThreshold))
	d.throttles.advance(c.now, elapsed, c.longest(), f)
	c.throttleEvents(d, f)
	r.derived(d, f)
	r.rates(d, f)
	c.processesOf(r, reported)
	c.wantsPCIeRate = c.wantsPCIeRate || r.whole && !f.hasPCIeTraffic() && f.has(nvml.PCIeGeneration)
	c.emit(d)
}

// longest is the longest time between two collections that still says something about the time between them.
func (c *collection) longest() time.Duration {
	return max(3*c.cfg.CollectionInterval, 5*time.Second)
}

// emit ends a device's metrics: they belong to the run that uses it.
func (c *collection) emit(d *device) {
	c.builder.EmitForResource(metadata.WithResource(c.resource(d.identity)),
		metadata.WithStartTimeOverride(timestamp(d.time.start)))
}

// accountForSilence keeps the books while the driver does not work.
func (i *instance) accountForSilence(now time.Time) {
	for _, d := range i.devices {
		if !d.seen.IsZero() {
			d.time.advance(now, now.Sub(d.seen), 0, unknown)
			d.seen = now
		}
	}
}

// plausible leaves out what drivers say when they have nothing to say.
func plausible(f nvml.Field, v float64) bool {
	if math.IsNaN(v) || v < 0 && f != nvml.TemperatureGPU && f != nvml.TemperatureMemory {
		return false
	}
	switch f.Class() {
	case nvml.ClassUtilization, nvml.ClassGPM:
		switch f {
		case nvml.GPMPCIeTxRate, nvml.GPMPCIeRxRate, nvml.GPMNVLinkTxRate, nvml.GPMNVLinkRxRate:
			return v < 1e9
		default:
			return v <= 100.5
		}
	case nvml.ClassTemperature:
		if f == nvml.FanSpeedRPM {
			return v < 1e6
		}
		return v > -100 && v < 1000
	case nvml.ClassPower:
		return f == nvml.Energy && v < math.MaxInt64 || v < 1e8
	case nvml.ClassClocks:
		return v < 1e5
	case nvml.ClassLimits:
		return v < 1e8
	default:
		return v < math.MaxInt64 && v != math.MaxUint32
	}
}

func timestamp(t time.Time) pcommon.Timestamp { return pcommon.NewTimestampFromTime(t) }
