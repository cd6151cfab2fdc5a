package nvmlreceiver

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pitwall-otel/pitwall/internal/nvml"
)

// spend runs collections for a time, each of which costs that share of a core, and returns the levels on the way.
func spend(b *budget, clock *time.Time, length time.Duration, share float64) (levels []int) {
	const interval = 10 * time.Second
	for end := clock.Add(length); clock.Before(end); {
		*clock = clock.Add(interval)
		if b.observe(*clock, time.Duration(share*float64(interval))) {
			levels = append(levels, b.level)
		}
	}
	return levels
}

// overspend costs too much until that has the first consequence.
func overspend(t *testing.T, b *budget, clock *time.Time) {
	t.Helper()
	for range 100 {
		if spend(b, clock, time.Second, 0.05); b.level == 1 {
			return
		}
	}
	require.Fail(t, "nothing followed")
}

func TestBudgetIsKept(t *testing.T) {
	clock := began
	b := newBudget(0.01)
	assert.Empty(t, spend(b, &clock, time.Hour, 0.009))
	assert.InDelta(t, 0.009, b.average, 1e-4)
	assert.Equal(t, []int{1, 2, 3}, spend(b, &clock, 10*time.Minute, 0.05), "one step at a time, as far as there are any")
}

func TestShortPeaksAreNoReason(t *testing.T) {
	clock := began
	b := newBudget(0.01)
	spend(b, &clock, 10*time.Minute, 0.001)
	assert.Empty(t, spend(b, &clock, 10*time.Second, 0.05))
	assert.Empty(t, spend(b, &clock, 10*time.Minute, 0.001))
}

func TestTheFirstCollectionStartsTheDriver(t *testing.T) {
	b := newBudget(0.01)
	assert.False(t, b.observe(began, 5*time.Second))
	assert.Zero(t, b.average)
}

func TestRecovery(t *testing.T) {
	clock := began
	b := newBudget(0.01)
	overspend(t, b, &clock)
	assert.Equal(t, []int{0}, spend(b, &clock, 10*time.Minute, 0.001))
}

// A cost between recovery and budget is what the reduction is for: nothing flaps.
func TestNoRecoveryWithoutRoom(t *testing.T) {
	clock := began
	b := newBudget(0.01)
	overspend(t, b, &clock)
	assert.Empty(t, spend(b, &clock, time.Hour, 0.007))
}

// Where reading everything costs too much, it is tried less and less often.
func TestFailedRecoveriesBackOff(t *testing.T) {
	clock := began
	b := newBudget(0.01)
	var tries int
	for range 6 * 60 * 24 {
		share := 0.001
		if b.level == 0 {
			share = 0.05
		}
		for _, level := range spend(b, &clock, 10*time.Second, share) {
			if level == 0 {
				tries++
			}
		}
	}
	assert.Less(t, tries, 40, "tries in a day")
	assert.Greater(t, tries, 10)
}

func TestNoBudget(t *testing.T) {
	clock := began
	assert.Empty(t, spend(newBudget(0), &clock, time.Hour, 3))
}

func TestClockThatStandsStill(t *testing.T) {
	b := newBudget(0.01)
	b.observe(began, time.Second)
	assert.False(t, b.observe(began, time.Second))
	assert.False(t, b.observe(began.Add(-time.Hour), time.Second))
	assert.Zero(t, b.average)
}

func TestWhatIsAskedFor(t *testing.T) {
	// ask returns how often, in ten minutes of a collection every ten seconds, each class is asked for.
	ask := func(level int, c cadence) map[nvml.Class]int {
		counts := map[nvml.Class]int{}
		for n := range 60 {
			now := began.Add(time.Duration(n) * 10 * time.Second)
			classes := c.classes(now, level)
			c.asked(now, classes, level)
			for class := nvml.Class(1); class < nvml.AllClasses; class <<= 1 {
				if classes&class != 0 {
					counts[class]++
				}
			}
		}
		return counts
	}
	f := func(name string, level, always, detail, costly int) {
		t.Run(name, func(t *testing.T) {
			counts := ask(level, cadence{})
			assert.Equal(t, always, counts[nvml.ClassUtilization])
			assert.Equal(t, always, counts[nvml.ClassMemory])
			assert.Equal(t, always, counts[nvml.ClassThrottle])
			assert.Equal(t, always, counts[nvml.ClassProcesses])
			assert.Equal(t, detail, counts[nvml.ClassECC])
			assert.Equal(t, costly, counts[nvml.ClassGPM])
			assert.Equal(t, costly, counts[nvml.ClassNVLink])
			assert.Equal(t, 10, counts[nvml.ClassLimits])
			assert.Zero(t, counts[nvml.ClassProcessUtilization], "nobody wants it")
			assert.Zero(t, counts[nvml.ClassPCIeRate])
		})
	}
	f("everything", 0, 60, 60, 60)
	f("costly fields once a minute", 1, 60, 60, 10)
	f("details too", 2, 60, 10, 10)
	f("costly fields not at all", 3, 60, 10, 0)
	assert.Equal(t, 60, ask(0, cadence{processUtilization: true, pcieRate: true})[nvml.ClassProcessUtilization])
}

func TestOverBudgetIsSaidOnce(t *testing.T) {
	b := newBench(t, nil)
	calm := func() nvml.Snapshot { return answer(h100(0).at(nvml.ClocksEventReasons, 0, 0)) }
	s := calm()
	for range 30 {
		s.Helper.CPU += time.Second
		b.collectAfter(10*time.Second, s)
	}
	metrics := b.collectAfter(10*time.Second, s)
	requireValue(t, 3, metrics, "pitwall.cost.reduction")
	requireValue(t, 0.01, metrics, "pitwall.cost.cpu.budget")
	requireValue(t, 10, metrics, "pitwall.nvml.fields.suspended")
	for range 600 {
		s.Helper.CPU += time.Millisecond
		metrics = b.collectAfter(10*time.Second, s)
	}
	requireValue(t, 0, metrics, "pitwall.cost.reduction")
	requireValue(t, 0, metrics, "pitwall.nvml.fields.suspended")
	lines := b.events()[1:]
	assert.Len(t, lines, 4, lines)
	assert.Equal(t, "INFO pitwall.nvml.budget.recovered: reading the GPUs is within the budget again: everything is read every time", lines[3])
	checkAttributes(t, b)
	// The helper is another process with its own clock.
	s.Helper.PID, s.Helper.CPU = 78, time.Millisecond
	b.collectAfter(10*time.Second, s)
	assert.Less(t, b.cost.cpu, time.Second)
}
