package simulation

import (
	"strconv"
	"time"
)

// Timeline is a run as it goes on.
type Timeline struct {
	spec             Spec
	now              time.Time
	attempt          int64
	step             int64 // done last
	tokens, samples  int64
	saved            checkpoint // last
	reached          map[string]bool
	controller       *Process
	trainers         []*Process
	rollouts         []*Process
	machines         []*machine
	hung             []State
	starts, finished bool
}

type checkpoint struct{ step, tokens, samples int64 }

// NewTimeline is at the start of the run.
func NewTimeline(spec Spec) *Timeline {
	t := &Timeline{spec: spec, now: spec.Start, reached: map[string]bool{}}
	for _, host := range append(append([]string(nil), spec.Hosts...), spec.EngineHost) {
		t.machines = append(t.machines, newMachine(spec, host))
	}
	t.begin(1)
	return t
}

// begin starts an attempt's processes.
func (t *Timeline) begin(attempt int64) {
	s := t.spec
	t.attempt, t.starts = attempt, true
	t.controller = &Process{Run: s.ID, Attempt: attempt, Role: "controller", Host: s.Hosts[0], Replica: -1}
	t.trainers, t.rollouts = nil, nil
	for rank := range s.ranks() {
		t.trainers = append(t.trainers, &Process{
			Run: s.ID, Attempt: attempt, Role: "trainer", Rank: rank, Local: rank % RanksPerHost,
			Host: s.Hosts[rank/RanksPerHost], Replica: -1,
		})
	}
	for replica := range int64(s.Engines) {
		t.rollouts = append(t.rollouts, &Process{
			Run: s.ID, Attempt: attempt, Role: "rollout", Rank: replica, Local: replica, Host: s.EngineHost, Replica: replica,
		})
	}
}

// Next yields what comes next, or nil at the end.
func (t *Timeline) Next() *Chunk {
	switch {
	case t.finished:
		return nil
	case t.starts:
		t.starts = false
		return t.setup()
	case t.step == t.spec.CrashAfterStep && t.attempt == 1 && t.step > 0:
		return t.crash()
	}
	if !t.spec.Hangs.IsZero() && !t.now.Before(t.spec.Hangs) {
		return t.hang()
	}
	c := t.trainingStep()
	if !t.spec.End.IsZero() && c.End.After(t.spec.End) {
		return t.end()
	}
	t.commit(c)
	return c
}

// commit makes a step a fact: nothing before has changed the timeline's state.
func (t *Timeline) commit(c *Chunk) {
	t.step, t.tokens, t.now = c.Step, c.Tokens, c.End
	t.samples += t.spec.Prompts * t.spec.Group
	t.milestones(c)
	if t.step%CheckpointEvery == 0 {
		t.checkpointEvents(c)
		t.saved = checkpoint{t.step, t.tokens, t.samples}
	}
	t.readMachines(c)
}

func (t *Timeline) chunk(length time.Duration) *Chunk {
	return &Chunk{Begin: t.now, End: t.now.Add(length), Attempt: t.attempt, Tokens: t.tokens}
}

func (t *Timeline) setup() *Chunk {
	c := t.chunk(t.spec.seconds(30))
	phase, name := "setup", "init_workers"
	process := t.controller
	if t.attempt > 1 {
		phase, name = "checkpoint_load", "load_checkpoint"
	}
	c.event(process, c.Begin, "rl.run.started", Attribute{"rl.system", "pitwall-demo"}, Attribute{"rl.algorithm", "grpo"},
		Attribute{"rl.model.name", "Qwen3-30B-A3B"}, Attribute{"rl.world.size", t.spec.ranks()},
		Attribute{"rl.config.hash", t.configHash()})
	c.event(process, c.Begin, "rl.config", Attribute{"rl.config", t.config()}, Attribute{"rl.config.hash", t.configHash()})
	if t.attempt > 1 {
		c.event(process, c.Begin, "rl.run.resumed", Attribute{"rl.resumed.step", t.saved.step},
			Attribute{"rl.checkpoint.id", t.spec.checkpoint(t.saved.step)})
	} else {
		for _, m := range Milestones() {
			c.event(process, c.Begin, "rl.milestone", Attribute{"rl.milestone.name", m.Name},
				Attribute{"rl.milestone.status", "defined"}, Attribute{"rl.milestone.target_tokens", m.Tokens})
		}
	}
	trace := t.trace("setup", 0)
	for _, p := range append([]*Process{process}, t.trainers...) {
		c.States = append(c.States, t.state(p, trace, phase, name, "overhead", c.Begin, c.End))
	}
	t.now = c.End
	t.readMachines(c)
	return c
}

func (t *Timeline) config() string {
	s := t.spec
	return `{"algorithm":"grpo","learning_rate":` + strconv.FormatFloat(s.LearningRate, 'g', -1, 64) +
		`,"prompts_per_step":` + strconv.FormatInt(s.Prompts, 10) + `,"samples_per_prompt":` + strconv.FormatInt(s.Group, 10) +
		`,"seed":` + strconv.FormatUint(s.Seed, 10) + `}`
}

func (t *Timeline) crash() *Chunk {
	c := t.chunk(t.spec.seconds(60))
	lost := t.trainers[5]
	c.event(lost, c.Begin, "rl.error", Attribute{"rl.step", t.step}, Attribute{"rl.phase", "actor_update"},
		Attribute{"error.type", "CUDAError"}, Attribute{"error.message", "CUDA error: unspecified launch failure"})
	c.Events[len(c.Events)-1].Error = true
	c.event(t.controller, c.Begin.Add(time.Second), "rl.run.finished", Attribute{"rl.run.status", "crashed"},
		Attribute{"rl.step", t.step}, Attribute{"rl.state.duration", c.Begin.Sub(t.spec.Start).Seconds()},
		Attribute{"error.type", "CUDAError"})
	t.now = c.End
	t.readMachines(c)
	t.step, t.tokens, t.samples = t.saved.step, t.saved.tokens, t.saved.samples
	t.begin(t.attempt + 1)
	return c
}

// end is after the last step: what was begun would end later, or the run is over.
func (t *Timeline) end() *Chunk {
	t.finished = true
	c := &Chunk{Begin: t.now, End: t.spec.End, Attempt: t.attempt, Tokens: t.tokens}
	if t.spec.Finishes {
		c.event(t.controller, t.now, "rl.run.finished", Attribute{"rl.run.status", "finished"}, Attribute{"rl.step", t.step},
			Attribute{"rl.state.duration", t.now.Sub(t.spec.Start).Seconds()})
	}
	t.readMachines(c)
	return c
}

func (c *Chunk) event(by *Process, at time.Time, name string, attributes ...Attribute) {
	c.Events = append(c.Events, Event{By: by, Time: at, Name: name, Attributes: attributes})
}

func (c *Chunk) gauge(by *Process, metric, unit string, value float64, attributes ...Attribute) {
	c.Points = append(c.Points, Point{
		By: by, Time: c.End, Metric: metric, Unit: unit, Value: value, Step: c.Step, Attributes: attributes,
	})
}
