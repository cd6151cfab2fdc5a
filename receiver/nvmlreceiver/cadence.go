package nvmlreceiver

import (
	"math/bits"
	"time"

	"github.com/pitwall-otel/pitwall/internal/nvml"
)

// slowInterval is how often what hardly changes is read and told, and details of links and of ECC.
const slowInterval = time.Minute

// reducedInterval is how often costly fields are read while over the budget.
const reducedInterval = time.Minute

const (
	slowClasses = nvml.ClassLimits | nvml.ClassModes

	// costly classes are read less often first; then details; at last only what idle time and memory need stays.
	costlyClasses = nvml.ClassGPM | nvml.ClassNVLink | nvml.ClassProcessUtilization | nvml.ClassPCIeRate | nvml.ClassVGPU
	detailClasses = nvml.ClassECC | nvml.ClassPCIe | nvml.ClassTemperature | nvml.ClassClocks | nvml.ClassPower
)

// cadence decides what to ask for.
type cadence struct {
	// processUtilization and pcieRate say that somebody wants them: the first by configuration, the second when the driver
	// has no better source, since each reading waits 20 ms.
	processUtilization, pcieRate bool

	slowAt, reducedAt time.Time
}

// classes is what a collection at now asks for, while reduced to level.
func (c *cadence) classes(now time.Time, level int) nvml.Class {
	all := nvml.Class(nvml.AllClasses)
	if !c.processUtilization {
		all &^= nvml.ClassProcessUtilization
	}
	if !c.pcieRate {
		all &^= nvml.ClassPCIeRate
	}
	if !due(now, c.slowAt, slowInterval) {
		all &^= slowClasses
	}
	if level > 0 && !due(now, c.reducedAt, reducedInterval) {
		all &^= suspended(level)
	}
	if level > 2 {
		all &^= costlyClasses
	}
	return all
}

// asked remembers what was answered.
func (c *cadence) asked(now time.Time, classes nvml.Class, level int) {
	if classes&slowClasses != 0 {
		c.slowAt = now
	}
	if classes&nvml.ClassECC != 0 && (classes&nvml.ClassGPM != 0 || level > 2) {
		c.reducedAt = now
	}
}

// suspended are the classes that are read less often at a level.
func suspended(level int) nvml.Class {
	switch {
	case level <= 0:
		return 0
	case level == 1:
		return costlyClasses
	default:
		return costlyClasses | detailClasses
	}
}

func countClasses(c nvml.Class) int { return bits.OnesCount32(uint32(c)) }

// due allows for a ticker that comes a little early.
func due(now, last time.Time, interval time.Duration) bool {
	return last.IsZero() || now.Sub(last) >= interval-interval/20
}
