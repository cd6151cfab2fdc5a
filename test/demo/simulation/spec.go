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
	End   time.Time // no step that would end later; zero: the run goes on

	Hosts      []string // of the trainers, eight ranks each
	EngineHost string   // with eight GPUs
	Engines    int      // replicas there
	EngineKind string   // sglang or vllm

	LearningRate float64
	Prompts      int64 // per step
	Group        int64 // samples per prompt
	// StepTime is about how long a step takes; all durations follow it.
	StepTime time.Duration
	// CrashAfterStep ends attempt 1; attempt 2 resumes from the last checkpoint. 0: no crash.
	CrashAfterStep int64
	// Finishes ends the run at End; otherwise nothing is known of what comes after it.
	Finishes bool
	// Sick is when troubles begin, Hangs when nothing moves any more; zero: never.
	Sick, Hangs time.Time
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

	SlowRank     = 11 // its updates take SlowFactor times as long
	SlowFactor   = 1.9
	TailReplica  = 2 // its rollouts take TailFactor times as long
	TailFactor   = 2.6
	QueueReplica = 0 // gets more requests than it can take
	FullReplica  = 1 // its KV cache is too small
	DownReplica  = 3 // is gone when the run hangs
	IdleDevice   = 7 // of the engine host: does nothing
	HotDevice    = 3 // of the first host: too hot, slowed down
	FailedDevice = 5 // of the second host: Xid 79, and lost when the run hangs
	FailedXid    = 79
)

// Runs are three: one that goes on, resumed once; an older one with other parameters that has finished; and, on request,
// a sick one beside the first. The older one is all before the past that the others have, and missing without a past.
// Unless they go on, runs end now.
func Runs(seed uint64, now time.Time, past, stepTime time.Duration, sick, goOn bool) []Spec {
	now = now.Truncate(time.Second).UTC()
	healthy := Spec{
		ID: "qwen3-30b-grpo-07", Seed: seed, Start: now.Add(-past), End: now,
		Hosts: []string{"train-a-0", "train-a-1"}, EngineHost: "rollout-a-0", Engines: 4, EngineKind: "sglang",
		LearningRate: 1e-6, Prompts: 64, Group: 8, StepTime: stepTime, Cadence: 15 * time.Second,
		CrashAfterStep: resumable(int64(past / stepTime)),
	}
	if goOn {
		healthy.End = time.Time{}
	}
	runs := []Spec{healthy}
	if past > 0 {
		older := healthy
		older.ID, older.Seed, older.EngineKind = "qwen3-30b-grpo-06", seed+1, "vllm"
		older.Start, older.End = healthy.Start.Add(-past-10*stepTime), healthy.Start.Add(-10*stepTime)
		older.LearningRate, older.Prompts, older.CrashAfterStep, older.Finishes = 3e-6, 48, 0, true
		runs = []Spec{older, healthy}
	}
	if sick {
		ill := healthy
		ill.ID, ill.Seed = "qwen3-30b-grpo-08-sick", seed+2
		ill.Hosts, ill.EngineHost = []string{"train-b-0", "train-b-1"}, "rollout-b-0"
		ill.LearningRate, ill.CrashAfterStep = 2e-6, 0
		ill.Sick, ill.Hangs = now.Add(-past/2), now.Add(-past/6)
		if past == 0 {
			ill.Sick, ill.Hangs = now.Add(5*stepTime), now.Add(25*stepTime)
		}
		runs = append(runs, ill)
	}
	return runs
}

// resumable is a step to crash after: some steps after a checkpoint, so that steps repeat, about two fifths of the way.
// 0 when the past is too short to reach the second attempt.
func resumable(steps int64) int64 {
	if steps < CheckpointEvery+7 {
		return 0
	}
	saved := max(1, steps*2/5/CheckpointEvery) * CheckpointEvery
	return saved + min(CheckpointEvery/2, max(3, (steps-saved)/6))
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
