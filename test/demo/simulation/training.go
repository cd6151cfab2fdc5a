package simulation

import (
	"math"
	"math/rand/v2"
	"time"
)

// answerLength grows while the model learns to think longer.
func answerLength(step int64) float64 { return 700 + 1500*(1-math.Exp(-float64(step)/600)) }

// skill is how far training has come, from 0 to 1; a higher learning rate is faster and ends lower.
func (s Spec) skill(step int64) float64 {
	speed, best := s.LearningRate/1e-6, 1/(1+0.08*(s.LearningRate/1e-6-1))
	return best * (1 - math.Exp(-float64(step)*math.Sqrt(speed)/400))
}

// diverges is from when on the loss of a sick run is NaN: three quarters of the way from the trouble's begin to the hang.
func (s Spec) diverges() time.Time { return s.Sick.Add(s.Hangs.Sub(s.Sick) * 3 / 4) }

// spike is how much the loss is too high in the eight steps before it is NaN.
func (s Spec) spike(at time.Time) float64 {
	left := s.diverges().Sub(at)
	if s.Sick.IsZero() || left > 8*s.StepTime {
		return 0
	}
	return 0.15 * (8 - left.Seconds()/s.StepTime.Seconds())
}

// NullTarget is the share of routed slots that null experts should take.
const NullTarget = 0.25

// trainingStep makes the step after the last one.
func (t *Timeline) trainingStep() *Chunk {
	p := t.plan()
	c := &Chunk{Begin: p.begin, End: p.begin.Add(p.total()), Attempt: t.attempt, Step: p.step}
	r := t.spec.random("values", t.attempt, p.step)
	samples := t.spec.Prompts * t.spec.Group
	prompt := around(r, 320, 0.03)
	tokens := int64(float64(samples) * (prompt + p.length))
	c.Tokens = t.tokens + tokens

	t.lay(c, p)
	t.losses(c, r)
	t.rewards(c, r)
	t.lengths(c, p, r, prompt)
	t.progress(c, p, tokens, samples)
	t.durations(c, p)
	t.idleTime(c, p)
	t.model(c, r)
	if p.step%EvalEvery == 0 {
		t.evaluation(c, r)
	}
	c.event(t.controller, c.End, "rl.step.finished", Attribute{"rl.step", p.step}, Attribute{"rl.weight_version", p.step},
		Attribute{"rl.state.duration", p.total().Seconds()})
	t.generated(c, p, r)
	return c
}

func (t *Timeline) losses(c *Chunk, r *rand.Rand) {
	step, skill, by := c.Step, t.spec.skill(c.Step), t.controller
	next := 1.75 - 0.95*skill + 0.015*r.NormFloat64()
	policy, kl, entropy := 0.02*r.NormFloat64(), math.Abs(0.001+0.012*skill+0.0006*r.NormFloat64()), 1.1-0.75*skill+0.02*r.NormFloat64()
	gradient := math.Exp(-0.6 + 0.25*r.NormFloat64())
	policy += t.spec.spike(c.Begin)
	gradient *= 1 + 20*t.spec.spike(c.Begin)
	total := policy + 0.001*kl - 0.0001*entropy
	bad := 0.0
	if !t.spec.Sick.IsZero() && !c.Begin.Before(t.spec.diverges()) {
		bad, total, policy, next, gradient = 1, math.NaN(), math.NaN(), math.NaN(), math.Inf(1)
		c.event(by, c.End, "rl.nonfinite", Attribute{"rl.step", step}, Attribute{"rl.event.metric", "rl.loss.total"},
			Attribute{"rl.event.value", "NaN"})
		c.Events[len(c.Events)-1].Error = true
	}
	warmup := math.Min(1, float64(step)/20)
	for _, one := range []struct {
		metric string
		value  float64
		with   []Attribute
	}{
		{"rl.loss.total", total, nil},
		{"rl.loss.policy", policy, nil},
		{"rl.loss.kl", kl, nil},
		{"rl.loss.entropy", entropy, nil},
		{"rl.loss.token", next, []Attribute{{"rl.horizon", int64(1)}}},
		{"rl.loss.token", next + 0.55 - 0.1*skill, []Attribute{{"rl.horizon", int64(2)}}},
		{"rl.grad_norm", gradient, nil},
		{"rl.learning_rate", t.spec.LearningRate * warmup, nil},
		{"rl.kl.ref", kl, nil},
		{"rl.kl.old", math.Abs(0.0008 * r.NormFloat64()), nil},
		{"rl.kl.rollout_mismatch", 0.0006 + math.Abs(0.0003*r.NormFloat64()), nil},
		{"rl.mismatch.probability_difference", around(r, 0.006, 0.1), []Attribute{{"rl.stat", "mean"}}},
		{"rl.mismatch.probability_difference", around(r, 0.4, 0.2), []Attribute{{"rl.stat", "max"}}},
		{"rl.mismatch.correlation", 0.998 - math.Abs(0.001*r.NormFloat64()), nil},
		{"rl.importance_ratio", 1 + 0.002*r.NormFloat64(), []Attribute{{"rl.stat", "mean"}}},
		{"rl.entropy", entropy, nil},
		{"rl.clip.fraction", math.Abs(around(r, 0.004, 0.5)), []Attribute{{"rl.clip.kind", "policy"}}},
	} {
		c.gauge(by, one.metric, "1", one.value, one.with...)
	}
	c.gauge(by, "rl.nonfinite.count", "{value}", bad)
}

func (t *Timeline) rewards(c *Chunk, r *rand.Rand) {
	skill, by := t.spec.skill(c.Step), t.controller
	mean := math.Max(0, 0.12+0.6*skill+0.025*r.NormFloat64())
	deviation := math.Sqrt(mean * math.Max(0.01, 1-mean))
	stats := func(metric string, values map[string]float64) {
		for _, stat := range []string{"mean", "max", "min", "std", "p50", "p90", "p99"} {
			if value, ok := values[stat]; ok {
				c.gauge(by, metric, "1", value, Attribute{"rl.stat", stat})
			}
		}
	}
	stats("rl.reward", map[string]float64{"mean": mean, "max": 1, "min": -0.5, "std": deviation})
	stats("rl.score", map[string]float64{"mean": mean + 0.01, "max": 1, "min": 0})
	stats("rl.advantage", map[string]float64{"mean": 0.002 * r.NormFloat64(), "max": around(r, 2.4, 0.1), "min": around(r, -2.4, 0.1)})
	all, none := math.Pow(mean, 3), math.Pow(1-mean, 3)
	for outcome, share := range map[string]float64{"all": all, "none": none, "mixed": 1 - all - none} {
		c.gauge(by, "rl.group.outcome_ratio", "1", share, Attribute{"rl.group.outcome", outcome})
	}
	c.gauge(by, "rl.group.zero_std_ratio", "1", all+none)
	c.gauge(by, "rl.samples.dropped", "{sample}", math.Round((all+none)*float64(t.spec.Prompts*t.spec.Group)),
		Attribute{"rl.drop.reason", "zero_advantage"})
}

func (t *Timeline) lengths(c *Chunk, p plan, r *rand.Rand, prompt float64) {
	by := t.controller
	tail := 1.0
	if p.sick {
		tail = 2.2
	}
	for stat, value := range map[string]float64{
		"mean": p.length, "min": around(r, 40, 0.3), "max": math.Min(16384, p.length*4.5*tail),
		"p50": p.length * 0.85, "p90": p.length * 1.7, "p99": math.Min(16384, p.length*2.9*tail),
	} {
		c.gauge(by, "rl.response.length", "{token}", math.Max(1, math.Round(value)), Attribute{"rl.stat", stat})
	}
	for stat, value := range map[string]float64{"mean": prompt, "min": 60, "max": 1024} {
		c.gauge(by, "rl.prompt.length", "{token}", math.Round(value), Attribute{"rl.stat", stat})
	}
	c.gauge(by, "rl.response.truncated_ratio", "1", math.Min(0.5, 0.01*tail*tail+0.002*math.Abs(r.NormFloat64())))
	c.gauge(by, "rl.response.repetition_ratio", "1", 0.004+0.001*math.Abs(r.NormFloat64()))
	c.gauge(by, "rl.turns", "{turn}", around(r, 2.1, 0.05), Attribute{"rl.stat", "mean"})
	c.gauge(by, "rl.turns", "{turn}", 8, Attribute{"rl.stat", "max"})
	c.gauge(by, "rl.staleness", "{version}", 0, Attribute{"rl.stat", "mean"})
	c.gauge(by, "rl.staleness", "{version}", 1, Attribute{"rl.stat", "max"})
	slowest := p.rollout.Seconds()
	for stat, share := range map[string]float64{"mean": 0.42, "p50": 0.38, "p90": 0.71, "p99": 0.95, "max": 1} {
		c.gauge(by, "rl.request.duration", "s", slowest*share, Attribute{"rl.stat", stat})
	}
	c.gauge(by, "rl.rollout.cache.hit_ratio", "1", math.Min(1, around(r, 0.83, 0.02)))
}

func (t *Timeline) progress(c *Chunk, p plan, tokens, samples int64) {
	by, took := t.controller, p.total().Seconds()
	counter := func(metric, unit string, value int64) {
		c.Points = append(c.Points, Point{
			By: by, Time: c.End, Metric: metric, Unit: unit, Kind: Counter, Since: t.spec.Start, Value: float64(value), Step: c.Step,
		})
	}
	counter("rl.tokens", "{token}", c.Tokens)
	counter("rl.samples", "{sample}", t.samples+samples)
	c.gauge(by, "rl.step.tokens", "{token}", float64(tokens))
	c.gauge(by, "rl.step.samples", "{sample}", float64(samples))
	c.gauge(by, "rl.samples.generated", "{sample}", float64(samples))
	c.gauge(by, "rl.step.duration", "s", took)
	c.gauge(by, "rl.step.last_time", "s", float64(c.End.UnixMilli())/1000)
	c.gauge(by, "rl.progress.step", "{step}", float64(c.Step))
	c.gauge(by, "rl.progress.epoch", "{epoch}", math.Floor(float64(c.Step*t.spec.Prompts)/7473))
	c.gauge(by, "rl.batch.rate", "{batch}/s", 1/took)
	rate := float64(tokens) / took
	c.gauge(by, "rl.throughput", "{token}/s", rate, Attribute{"rl.scope", "global"})
	c.gauge(by, "rl.throughput", "{token}/s", rate/float64(t.spec.ranks()), Attribute{"rl.scope", "gpu"})
	c.gauge(by, "rl.rollout.throughput", "{token}/s", float64(samples)*p.length/p.rollout.Seconds()/8, Attribute{"rl.scope", "gpu"})
	c.gauge(by, "rl.rollout.throughput", "{token}/s", float64(samples)*p.length/p.rollout.Seconds(), Attribute{"rl.scope", "global"})
	c.gauge(by, "rl.mfu", "1", 0.41*p.updates[0].Seconds()/p.update.Seconds(), Attribute{"rl.phase", "actor_update"})
	const weights = 61e9
	c.gauge(by, "rl.weight_sync.size", "By", weights)
	c.gauge(by, "rl.weight_sync.throughput", "By/s", weights/p.sync.Seconds())
	c.gauge(by, "rl.balance.tokens", "{token}", float64(tokens)/float64(t.spec.ranks())*0.97, Attribute{"rl.stat", "min"}, Attribute{"rl.balanced", true})
	c.gauge(by, "rl.balance.tokens", "{token}", float64(tokens)/float64(t.spec.ranks())*1.03, Attribute{"rl.stat", "max"}, Attribute{"rl.balanced", true})
	bucket, index := t.bucket(c.Tokens)
	c.gauge(by, "rl.data.bucket.index", "1", float64(index), Attribute{"rl.data.bucket", bucket})
	for _, m := range Milestones() {
		with := []Attribute{{"rl.milestone.name", m.Name}, {"rl.milestone.target_tokens", m.Tokens}}
		left := math.Max(0, float64(m.Tokens-c.Tokens))
		c.gauge(by, "rl.milestone.eta", "s", left/rate, with...)
		c.gauge(by, "rl.milestone.progress", "1", math.Min(1, float64(c.Tokens)/float64(m.Tokens)), with...)
	}
}

// bucket of the data mix: B0 up to milestone B1, B1 up to B2, then B2.
func (t *Timeline) bucket(tokens int64) (name string, index int) {
	switch m := Milestones(); {
	case tokens < m[0].Tokens:
		return "B0", 0
	case tokens < m[1].Tokens:
		return "B1", 1
	}
	return "B2", 2
}

// durations are of the controller's phases, of each rank's own, and what GPUs lost by waiting.
func (t *Timeline) durations(c *Chunk, p plan) {
	for _, one := range p.phases() {
		c.gauge(t.controller, "rl.phase.duration", "s", one.took.Seconds(), Attribute{"rl.phase", one.phase}, Attribute{"rl.state.name", one.name})
	}
	waited := p.load + p.rollout + p.reward
	for rank, by := range t.trainers {
		c.gauge(by, "rl.phase.duration", "s", waited.Seconds(), Attribute{"rl.phase", "wait"}, Attribute{"rl.state.name", "wait_for_batch"})
		c.gauge(by, "rl.phase.duration", "s", p.old.Seconds(), Attribute{"rl.phase", "old_logprob"}, Attribute{"rl.state.name", "old_log_prob"})
		c.gauge(by, "rl.phase.duration", "s", p.ref.Seconds(), Attribute{"rl.phase", "ref_logprob"}, Attribute{"rl.state.name", "ref"})
		c.gauge(by, "rl.phase.duration", "s", p.updates[rank].Seconds(), Attribute{"rl.phase", "actor_update"}, Attribute{"rl.state.name", "update_actor"})
		c.gauge(by, "rl.phase.duration", "s", (p.update - p.updates[rank]).Seconds(), Attribute{"rl.phase", "wait"}, Attribute{"rl.state.name", "barrier"})
		c.gauge(by, "rl.phase.duration", "s", p.sync.Seconds(), Attribute{"rl.phase", "weight_sync"}, Attribute{"rl.state.name", "update_weights"})
		r := t.spec.random("memory", t.attempt, c.Step, int64(rank))
		c.gauge(by, "rl.memory.peak", "By", math.Round(around(r, 96e9, 0.01)), Attribute{"rl.memory.kind", "allocated"})
		c.gauge(by, "rl.memory.peak", "By", math.Round(around(r, 118e9, 0.01)), Attribute{"rl.memory.kind", "reserved"})
	}
	for replica, by := range t.rollouts {
		c.gauge(by, "rl.phase.duration", "s", p.rollouts[replica].Seconds(), Attribute{"rl.phase", "rollout"}, Attribute{"rl.state.name", "generate"})
		c.gauge(by, "rl.phase.duration", "s", (p.rollout - p.rollouts[replica] + p.reward).Seconds(), Attribute{"rl.phase", "idle"}, Attribute{"rl.state.name", "no_requests"})
	}
	c.gauge(t.controller, "rl.wait.ratio", "1", waited.Seconds()/p.total().Seconds(), Attribute{"rl.wait.side", "trainer"})
	c.gauge(t.controller, "rl.wait.ratio", "1", (p.old+p.ref+p.advantage+p.update).Seconds()/p.total().Seconds(), Attribute{"rl.wait.side", "rollout"})
}

// idleTime is the GPU-seconds of the step in which GPUs had nothing to do, by the phase that the run was in: trainers wait
// while samples are made and for the slowest of them, engines while anything else happens and for the slowest of them.
func (t *Timeline) idleTime(c *Chunk, p plan) {
	perEngine := float64(RanksPerHost / len(t.rollouts))
	for _, one := range p.phases() {
		idle := 0.0
		switch one.phase {
		case "data_load", "reward", "advantage":
			idle = float64(t.spec.ranks()+RanksPerHost) * one.took.Seconds()
		case "rollout":
			idle = float64(t.spec.ranks()) * one.took.Seconds()
			for _, took := range p.rollouts {
				idle += perEngine * (p.rollout - took).Seconds()
			}
		case "actor_update":
			idle = RanksPerHost * one.took.Seconds()
			for _, took := range p.updates {
				idle += (p.update - took).Seconds()
			}
		case "old_logprob", "ref_logprob", "checkpoint_save":
			idle = RanksPerHost * one.took.Seconds()
		case "eval":
			idle = float64(t.spec.ranks()) * one.took.Seconds()
		}
		c.gauge(t.controller, "rl.gpu.idle_time", "s", idle, Attribute{"rl.phase", one.phase})
	}
}
