package simulation

import (
	"strconv"
	"time"
)

// plan is how long the parts of a step take.
type plan struct {
	step                                       int64
	begin                                      time.Time
	rollouts                                   []time.Duration // by replica
	updates                                    []time.Duration // by rank
	load, rollout, reward, old, ref, advantage time.Duration
	update, sync, eval, save                   time.Duration
	length                                     float64 // mean of the answers, tokens
	sick                                       bool
}

// plan of the step after the last one.
func (t *Timeline) plan() plan {
	s, step := t.spec, t.step+1
	r := s.random("plan", t.attempt, step)
	p := plan{step: step, begin: t.now, sick: !s.Sick.IsZero() && !t.now.Before(s.Sick)}
	p.length = answerLength(step) * (1 + 0.04*r.NormFloat64())
	for replica := range s.Engines {
		d := jittered(r, s.seconds(6.5+6*p.length/2000), 0.06)
		if p.sick && replica == TailReplica {
			d = time.Duration(float64(d) * TailFactor)
		}
		p.rollouts = append(p.rollouts, d)
		p.rollout = max(p.rollout, d)
	}
	for rank := range s.ranks() {
		d := jittered(r, s.seconds(8), 0.012)
		if p.sick && rank == SlowRank {
			d = time.Duration(float64(d) * SlowFactor)
		}
		p.updates = append(p.updates, d)
		p.update = max(p.update, d)
	}
	p.load = jittered(r, s.seconds(0.4), 0.1)
	p.reward = jittered(r, s.seconds(1), 0.1)
	p.old = jittered(r, s.seconds(1.9), 0.03)
	p.ref = jittered(r, s.seconds(1.7), 0.03)
	p.advantage = jittered(r, s.seconds(0.2), 0.1)
	p.sync = jittered(r, s.seconds(1.2), 0.1)
	if step%EvalEvery == 0 {
		p.eval = jittered(r, s.seconds(18), 0.1)
	}
	if step%CheckpointEvery == 0 {
		p.save = jittered(r, s.seconds(6), 0.15)
	}
	return p
}

func (p plan) total() time.Duration {
	return p.load + p.rollout + p.reward + p.old + p.ref + p.advantage + p.update + p.sync + p.eval + p.save
}

// phase is a part of the step in the controller's view.
type phase struct {
	phase, name, bucket string
	took                time.Duration
}

// phases in their order; those that do not happen in this step are left out.
func (p plan) phases() []phase {
	all := []phase{
		{"data_load", "get_batch", "overhead", p.load},
		{"rollout", "gen", "productive", p.rollout},
		{"reward", "reward", "productive", p.reward},
		{"old_logprob", "old_log_prob", "productive", p.old},
		{"ref_logprob", "ref", "productive", p.ref},
		{"advantage", "adv", "productive", p.advantage},
		{"actor_update", "update_actor", "productive", p.update},
		{"weight_sync", "update_weights", "overhead", p.sync},
		{"eval", "testing", "overhead", p.eval},
		{"checkpoint_save", "save_checkpoint", "overhead", p.save},
	}
	kept := all[:0]
	for _, one := range all {
		if one.took > 0 {
			kept = append(kept, one)
		}
	}
	return kept
}

func (t *Timeline) trace(place string, step int64) (trace [16]byte) {
	first, second := t.spec.id("trace/"+place, t.attempt, step), t.spec.id("trace2/"+place, t.attempt, step)
	copy(trace[:8], first[:])
	copy(trace[8:], second[:])
	return trace
}

func lane(by *Process) string { return by.Role + "/" + strconv.FormatInt(by.Rank, 10) }

// state of a process's own lane.
func (t *Timeline) state(by *Process, trace [16]byte, phase, name, bucket string, begin, end time.Time) State {
	return State{
		By: by, ID: t.spec.id(by.Role+"/"+phase+"/"+name, t.attempt, by.Rank, begin.UnixNano()), Trace: trace,
		Phase: phase, Name: name, Bucket: bucket, Lane: lane(by), Begin: begin, End: end,
	}
}

// lay puts the states of a step on the lanes: the controller's one after the other under the step's umbrella, the
// trainers' with the waiting for samples and for the slowest rank, the engines' with what is left over.
func (t *Timeline) lay(c *Chunk, p plan) {
	trace := t.trace("step", p.step)
	root := t.state(t.controller, trace, "loop", "step", "", p.begin, p.begin.Add(p.total()))
	root.Umbrella, root.Step = true, p.step
	c.States = append(c.States, root)
	add := func(by *Process, phase, name, bucket string, begin time.Time, took time.Duration, depth int64) {
		if took < time.Millisecond {
			return
		}
		s := t.state(by, trace, phase, name, bucket, begin, begin.Add(took))
		s.Parent, s.Step, s.Depth = root.ID, p.step, depth
		c.States = append(c.States, s)
	}
	at := p.begin
	starts := map[string]time.Time{}
	for _, one := range p.phases() {
		starts[one.phase] = at
		add(t.controller, one.phase, one.name, one.bucket, at, one.took, 0)
		at = at.Add(one.took)
	}
	for rank, by := range t.trainers {
		add(by, "wait", "wait_for_batch", "idle", p.begin, starts["old_logprob"].Sub(p.begin), 0)
		add(by, "old_logprob", "old_log_prob", "productive", starts["old_logprob"], p.old, 0)
		add(by, "ref_logprob", "ref", "productive", starts["ref_logprob"], p.ref, 0)
		add(by, "wait", "wait_for_advantage", "idle", starts["advantage"], p.advantage, 0)
		begin, took := starts["actor_update"], p.updates[rank]
		add(by, "actor_update", "update_actor", "productive", begin, took, 0)
		add(by, "optimizer", "optimizer_step", "productive", begin.Add(took*92/100), took-took*92/100, 1)
		add(by, "wait", "barrier", "idle", begin.Add(took), p.update-took, 0)
		add(by, "weight_sync", "update_weights", "overhead", starts["weight_sync"], p.sync, 0)
		add(by, "wait", "wait_for_eval", "idle", starts["eval"], p.eval, 0)
		add(by, "checkpoint_save", "save_checkpoint", "overhead", starts["checkpoint_save"], p.save, 0)
	}
	for replica, by := range t.rollouts {
		begin, took := starts["rollout"], p.rollouts[replica]
		add(by, "rollout", "generate", "productive", begin, took, 0)
		add(by, "idle", "no_requests", "idle", begin.Add(took), starts["weight_sync"].Sub(begin.Add(took)), 0)
		add(by, "weight_sync", "update_weights", "overhead", starts["weight_sync"], p.sync, 0)
		add(by, "eval", "generate", "overhead", starts["eval"], p.eval, 0)
	}
}

// hang is the rest of a sick run, a minute at a time: all ranks have entered an update that nobody leaves.
func (t *Timeline) hang() *Chunk {
	c := t.chunk(time.Minute)
	c.Step = t.step + 1
	if !t.spec.End.IsZero() && !c.End.Before(t.spec.End) {
		c.End, t.finished = t.spec.End, true
	}
	if t.hung == nil {
		trace := t.trace("step", c.Step)
		for _, by := range append([]*Process{t.controller}, t.trainers...) {
			s := t.state(by, trace, "actor_update", "update_actor", "productive", c.Begin, time.Time{})
			s.Step, s.Expected = c.Step, t.spec.seconds(8).Seconds()
			t.hung = append(t.hung, s)
		}
		c.States = t.hung
	}
	t.now = c.End
	t.readMachines(c)
	return c
}
