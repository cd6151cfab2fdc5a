package nvmlreceiver

import (
	"time"

	"github.com/pitwall-otel/pitwall/internal/nvml"
)

// reasonCount is how many throttle reasons NVML has bits for.
const reasonCount = int(nvml.ThrottleDisplayClockSetting) + 1

// A reason has begun when startSamples collections in a row show it, and is over when endSamples do not.
const (
	startSamples = 2
	endSamples   = 3
)

// throttles adds up the time in which clocks were kept down, by reason. The driver's own counters are taken where it has
// them, because they see what happens between two collections; else what a collection sees stands for the time before it.
type throttles struct {
	known   bool // the driver tells reasons
	reasons [reasonCount]throttleReason
	// any is the time with a reason other than idleness and clocks that somebody set.
	any time.Duration
}

type throttleReason struct {
	total   time.Duration
	counter float64   // the driver's
	counted time.Time // when that was
	active  bool      // in the last collection
	begun   bool      // with hysteresis
	run     int       // collections in a row that say the other thing than begun
}

// throttleEdge is a reason that began or ended.
type throttleEdge struct {
	reason nvml.ThrottleReason
	begun  bool
}

// policy is what older drivers count a reason as. Their thermal policy is several reasons in one, so it is not taken.
func policy(reason nvml.ThrottleReason) (nvml.PerfPolicy, bool) {
	switch reason {
	case nvml.ThrottleSWPowerCap:
		return nvml.PolicyPower, true
	case nvml.ThrottleSyncBoost:
		return nvml.PolicySyncBoost, true
	default:
		return 0, false
	}
}

func (t *throttles) advance(now time.Time, elapsed, longest time.Duration, f *found) {
	mask, ok := f.value(nvml.ClocksEventReasons, 0)
	if !ok {
		return
	}
	sampled := max(0, elapsed)
	if elapsed > longest {
		sampled = 0
	}
	t.known = true
	var limited bool
	for n := range t.reasons {
		reason, r := nvml.ThrottleReason(n), &t.reasons[n]
		r.active = uint64(mask)&(1<<n) != 0
		limited = limited || r.active && slows(reason)
		counter, counted := f.value(nvml.ThrottleTime, uint16(n))
		if p, has := policy(reason); !counted && has {
			counter, counted = f.value(nvml.ViolationTime, uint16(p))
		}
		switch {
		case counted && !r.counted.IsZero():
			if counter < r.counter {
				r.counter = 0 // the driver was loaded anew
			}
			// No reason holds for longer than the time that passed.
			r.total += time.Duration(min(counter-r.counter, float64(now.Sub(r.counted))))
		case !counted && r.active:
			r.total += sampled
		}
		if counted {
			r.counter, r.counted = counter, now
		}
	}
	if limited {
		t.any += sampled
	}
}

// edges returns what began or ended with the last collection.
func (t *throttles) edges() (edges []throttleEdge) {
	for n := range t.reasons {
		reason, r := nvml.ThrottleReason(n), &t.reasons[n]
		if !slows(reason) {
			continue
		}
		if r.active == r.begun {
			r.run = 0
			continue
		}
		r.run++
		if r.active && r.run >= startSamples || !r.active && r.run >= endSamples {
			r.begun, r.run = r.active, 0
			edges = append(edges, throttleEdge{reason, r.begun})
		}
	}
	return edges
}

// restart begins the books anew, with what the driver has counted as the beginning.
func (t *throttles) restart() {
	t.any = 0
	for n := range t.reasons {
		t.reasons[n].total = 0
	}
}

// slows is false for the reasons that are as somebody wants it: nothing to do, and clocks that were set.
func slows(reason nvml.ThrottleReason) bool {
	return reason != nvml.ThrottleGPUIdle && reason != nvml.ThrottleApplicationsClocksSetting
}

func reasonName(reason nvml.ThrottleReason) string {
	switch reason {
	case nvml.ThrottleGPUIdle:
		return "gpu_idle"
	case nvml.ThrottleApplicationsClocksSetting:
		return "applications_clocks_setting"
	case nvml.ThrottleSWPowerCap:
		return "sw_power_cap"
	case nvml.ThrottleHWSlowdown:
		return "hw_slowdown"
	case nvml.ThrottleSyncBoost:
		return "sync_boost"
	case nvml.ThrottleSWThermalSlowdown:
		return "sw_thermal_slowdown"
	case nvml.ThrottleHWThermalSlowdown:
		return "hw_thermal_slowdown"
	case nvml.ThrottleHWPowerBrakeSlowdown:
		return "hw_power_brake_slowdown"
	case nvml.ThrottleDisplayClockSetting:
		return "display_clock_setting"
	default:
		return ""
	}
}
