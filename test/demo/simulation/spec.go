package simulation

import (
	"fmt"
	"time"
)

// Spec is one run.
type Spec struct {
	ID    string
	Seed  uint64
	Start time.Time
	End   time.Time // no step that would end later

	Hosts      []string // of the trainers, eight ranks each
	EngineHost string   // with eight GPUs
	Engines    int      // replicas there

	LearningRate float64
	Prompts      int64 // per step
	Group        int64 // samples per prompt
	// StepTime is about how long a step takes; all durations follow it.
	StepTime time.Duration
	// CrashAfterStep ends attempt 1; attempt 2 resumes from the last checkpoint. 0: no crash.
	CrashAfterStep int64
	// Finishes ends the run at End; otherwise it goes on after it.
	Finishes bool
	// Sick is when troubles begin; zero: never. See Troubles.
	Sick time.Time
	// Texts sends prompts and answers of samples too (made-up ones); otherwise the content policy is off.
	Texts bool
	// Cadence is how often hosts and GPUs are read.
	Cadence time.Duration
}

// The ranks and devices that the troubles of a sick run hit.
const (
	CheckpointEvery = 50
	EvalEvery       = 25
	LayersEvery     = 5
	RanksPerHost    = 8

	SlowRank       = 11 // its updates take SlowFactor times as long
	SlowFactor     = 1.9
	TailReplica    = 2 // its rollouts take TailFactor times as long
	TailFactor     = 2.6
	IdleDevice     = 7 // of the engine host: does nothing
	HotDevice      = 3 // of the first host: too hot, slowed down
	FailedDevice   = 5 // of the second host: Xid 79
	FailedXid      = 79
	HangsBeforeEnd = 20 * time.Minute // of the usual pace, when nothing moves any more
)

// Runs are three: one that goes on, resumed once; an older one with other parameters that has finished; and, on request,
// a sick one beside the first. The first and the sick one run from end-length to end, the older one before them.
func Runs(seed uint64, end time.Time, length, stepTime time.Duration, sick bool) []Spec {
	end = end.Truncate(time.Second).UTC()
	steps := int64(length / stepTime)
	healthy := Spec{
		ID: "qwen3-30b-grpo-07", Seed: seed, Start: end.Add(-length), End: end,
		Hosts: []string{"train-a-0", "train-a-1"}, EngineHost: "rollout-a-0", Engines: 4,
		LearningRate: 1e-6, Prompts: 64, Group: 8, StepTime: stepTime, Cadence: 15 * time.Second,
		CrashAfterStep: resumable(steps * 2 / 5),
	}
	older := healthy
	older.ID, older.Seed = "qwen3-30b-grpo-06", seed+1
	older.Start, older.End = healthy.Start.Add(-length-10*stepTime), healthy.Start.Add(-10*stepTime)
	older.LearningRate, older.Prompts, older.CrashAfterStep, older.Finishes = 3e-6, 48, 0, true
	runs := []Spec{older, healthy}
	if sick {
		ill := healthy
		ill.ID, ill.Seed = "qwen3-30b-grpo-08-sick", seed+2
		ill.Hosts, ill.EngineHost = []string{"train-b-0", "train-b-1"}, "rollout-b-0"
		ill.LearningRate, ill.CrashAfterStep = 2e-6, 0
		ill.Sick = end.Add(-length / 2)
		runs = append(runs, ill)
	}
	return runs
}

// resumable moves a crash to some steps after a checkpoint, so that steps repeat; 0 when the run is too short for one.
func resumable(step int64) int64 {
	if step < CheckpointEvery+CheckpointEvery/2 {
		return 0
	}
	return step/CheckpointEvery*CheckpointEvery + CheckpointEvery/2
}

// hangs is when a sick run stops to move.
func (s Spec) hangs() time.Time {
	if s.Sick.IsZero() {
		return time.Time{}
	}
	hang := s.End.Add(-time.Duration(float64(HangsBeforeEnd) * s.pace()))
	if half := s.Sick.Add(s.End.Sub(s.Sick) / 2); hang.Before(half) {
		hang = half
	}
	return hang
}

// pace is how the step compares with one of 30 s.
func (s Spec) pace() float64 { return s.StepTime.Seconds() / 30 }

func (s Spec) seconds(usual float64) time.Duration {
	return time.Duration(usual * s.pace() * float64(time.Second))
}

func (s Spec) ranks() int64 { return int64(len(s.Hosts)) * RanksPerHost }

func (s Spec) checkpoint(step int64) string { return fmt.Sprintf("step_%d", step) }

// Milestone is a number of tokens with a name in the owner's words.
type Milestone struct {
	Name   string
	Tokens int64
}

// Milestones of every run.
func Milestones() []Milestone {
	return []Milestone{{"B1", 100e6}, {"B2", 400e6}, {"3B", 2e9}, {"8B", 10e9}, {"70B", 60e9}, {"SFT", 100e9}}
}
