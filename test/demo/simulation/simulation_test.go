package simulation

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func end() time.Time { return time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC) }

// specs of half an hour with steps of 15 s.
func specs(seed uint64, sick bool) (older, healthy, ill Spec) {
	all := Runs(seed, end(), 30*time.Minute, 15*time.Second, sick, false)
	if sick {
		return all[0], all[1], all[2]
	}
	return all[0], all[1], Spec{}
}

func play(spec Spec) (*Ledger, []*Chunk) {
	l := NewLedger()
	l.Keep = true
	var chunks []*Chunk
	for t := NewTimeline(spec); ; {
		c := t.Next()
		if c == nil {
			return l, chunks
		}
		l.Add(spec, c)
		chunks = append(chunks, c)
	}
}

// facts are all values of a run, in an order that does not depend on that of maps.
func facts(l *Ledger) (all []string) {
	for _, p := range l.Points {
		all = append(all, fmt.Sprint(p.Metric, *p.By, p.Time, p.Step, p.Attributes, p.Value))
	}
	for _, s := range l.States {
		all = append(all, fmt.Sprint(*s.By, s.ID, s.Phase, s.Begin, s.End))
	}
	for _, e := range l.Events {
		all = append(all, fmt.Sprint(*e.By, e.Name, e.Time, e.Attributes))
	}
	slices.Sort(all)
	return all
}

func TestSameSpecSameFacts(t *testing.T) {
	_, healthy, _ := specs(1, false)
	first, _ := play(healthy)
	second, _ := play(healthy)
	require.NotEmpty(t, first.Points)
	assert.Equal(t, facts(first), facts(second))
	_, other, _ := specs(2, false)
	third, _ := play(other)
	assert.NotEqual(t, facts(first), facts(third))
}

func TestChunksFollowEachOther(t *testing.T) {
	for _, spec := range Runs(1, end(), 30*time.Minute, 15*time.Second, true, false) {
		_, chunks := play(spec)
		at := spec.Start
		for _, c := range chunks {
			assert.Equal(t, at, c.Begin, spec.ID)
			at = c.End
			for _, p := range c.Points {
				if p.Time.After(c.End) {
					t.Fatalf("%s of step %d is later than its chunk", p.Metric, p.Step)
				}
			}
		}
		assert.Equal(t, spec.End, at, spec.ID)
	}
}

// A resumed run repeats the steps since its last checkpoint, with the tokens that it had there.
func TestAResumedRun(t *testing.T) {
	_, healthy, _ := specs(1, false)
	l, _ := play(healthy)
	run := l.Runs[healthy.ID]
	require.Len(t, run.Attempts, 2)
	first, second := run.Attempts[0], run.Attempts[1]
	assert.Equal(t, healthy.CrashAfterStep, first.LastStep)
	assert.Equal(t, first.LastStep/CheckpointEvery*CheckpointEvery+1, second.FirstStep)
	assert.Greater(t, second.LastStep, first.LastStep)

	tokens := func(attempt int64) map[int64]float64 {
		return l.Values(healthy.ID, attempt, "controller", 0, "rl.tokens")
	}
	steps := l.Values(healthy.ID, 2, "controller", 0, "rl.step.tokens")
	assert.InDelta(t, tokens(1)[second.FirstStep-1]+steps[second.FirstStep], tokens(2)[second.FirstStep], 0)
	for step := second.FirstStep + 1; step <= second.LastStep; step++ {
		assert.InDelta(t, tokens(2)[step-1]+steps[step], tokens(2)[step], 0)
	}
	for _, past := range []time.Duration{30 * time.Minute, time.Hour} {
		runs := Runs(1, end(), past, 30*time.Second, false, false)
		l, _ := play(runs[1])
		assert.Len(t, l.Runs[runs[1].ID].Attempts, 2, past)
	}
}

// A process is in one state at a time on each depth of its lane, and everything has its place in a trace.
func TestLanes(t *testing.T) {
	_, _, ill := specs(1, true)
	l, _ := play(ill)
	spans := map[[8]byte]State{}
	lanes := map[string][]State{}
	for _, s := range l.States {
		if _, twice := spans[s.ID]; twice {
			t.Fatalf("%s %s has the id of another", s.Lane, s.Name)
		}
		spans[s.ID] = s
		if !s.Umbrella {
			key := fmt.Sprint(s.By.Attempt, s.Lane, s.Depth)
			lanes[key] = append(lanes[key], s)
		}
	}
	for key, states := range lanes {
		slices.SortFunc(states, func(a, b State) int { return a.Begin.Compare(b.Begin) })
		for i := 1; i < len(states); i++ {
			assert.False(t, states[i].Begin.Before(states[i-1].End), "%s: %s begins before %s ends", key, states[i].Name, states[i-1].Name)
			assert.False(t, states[i-1].End.IsZero(), "only the last state of a lane stays open")
		}
	}
	for _, s := range l.States {
		if s.Parent != [8]byte{} {
			parent := spans[s.Parent]
			assert.Equal(t, parent.Trace, s.Trace)
			assert.False(t, s.Begin.Before(parent.Begin) || s.End.After(parent.End), "%s %s within its step", s.Lane, s.Name)
		}
	}
}

// A GPU is idle or busy all the time, and what it is idle follows from the phases: nothing to do while others generate.
func TestGPUTime(t *testing.T) {
	older, _, _ := specs(1, false)
	l, chunks := play(older)
	read := chunks[len(chunks)-1].End.Sub(older.Start).Truncate(older.Cadence).Seconds()
	for at, gpu := range l.GPUs {
		assert.InDelta(t, read, gpu.IdleSeconds+gpu.BusySeconds, 1e-6, at)
	}
	waits := 0.0
	for _, s := range l.States {
		if s.By.Role == "trainer" && s.By.Rank == 3 && (s.Phase == "wait" || s.Phase == "checkpoint_save") {
			waits += s.End.Sub(s.Begin).Seconds()
		}
	}
	last := chunks[len(chunks)-1]
	assert.InDelta(t, waits+last.End.Sub(last.Begin).Seconds(), l.GPUs[Device{older.Hosts[0], 3}].IdleSeconds, 2)
}

func TestTheSickRunHasWhatTheHealthyHasNot(t *testing.T) {
	_, healthy, ill := specs(1, true)
	good, _ := play(healthy)
	bad, _ := play(ill)
	sick, well := bad.Runs[ill.ID], good.Runs[healthy.ID]
	assert.NotEmpty(t, sick.Nonfinite)
	assert.Empty(t, well.Nonfinite)
	assert.Len(t, sick.Open, 17, "the controller and 16 ranks")
	assert.Empty(t, well.Open)
	assert.True(t, sick.LastStepEnd.Before(ill.Hangs.Add(2*ill.StepTime)), "no step after it hangs")
	hot := bad.GPUs[Device{ill.Hosts[0], HotDevice}]
	assert.InDelta(t, ill.End.Sub(ill.Sick).Seconds(), hot.ThrottledSeconds, ill.Cadence.Seconds())
	assert.EqualValues(t, 1, bad.GPUs[Device{ill.Hosts[1], FailedDevice}].Xids)
	for _, gpu := range good.GPUs {
		assert.Zero(t, gpu.ThrottledSeconds)
		assert.Zero(t, gpu.Xids)
	}
}

func TestMilestones(t *testing.T) {
	older, _, _ := specs(1, false)
	l, _ := play(older)
	run := l.Runs[older.ID]
	for _, m := range Milestones() {
		_, reached := run.Reached[m.Name]
		assert.Equal(t, run.Tokens >= m.Tokens, reached, m.Name)
		left := float64(m.Tokens-run.Tokens) / run.Throughput
		assert.InDelta(t, max(0, left), run.ETA(m).Seconds(), 1e-6, m.Name)
	}
	assert.Equal(t, "finished", run.Finished)
}
