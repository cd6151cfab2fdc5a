package simulation

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
)

func (t *Timeline) configHash() string {
	sum := sha256.Sum256([]byte(t.config()))
	return hex.EncodeToString(sum[:])
}

// milestones are reached once in a run, whatever its attempts repeat.
func (t *Timeline) milestones(c *Chunk) {
	for _, m := range Milestones() {
		if c.Tokens >= m.Tokens && !t.reached[m.Name] {
			t.reached[m.Name] = true
			c.event(t.controller, c.End, "rl.milestone", Attribute{"rl.milestone.name", m.Name}, Attribute{"rl.milestone.status", "reached"},
				Attribute{"rl.milestone.target_tokens", m.Tokens}, Attribute{"rl.step", c.Step})
		}
	}
}

// benchmarks that a checkpoint is measured with.
func benchmarks() []string { return []string{"gsm8k", "math500", "mmlu", "humaneval"} }

// checkpointEvents are of a checkpoint saved at the end of the step: numbers, benchmarks, every second one published, and
// the one before the last deleted unless it is published.
func (t *Timeline) checkpointEvents(c *Chunk) {
	s, by := t.spec, t.controller
	r := s.random("checkpoint", t.attempt, c.Step)
	id := s.checkpoint(c.Step)
	size, files := int64(61_400_000_000+r.IntN(50_000_000)), int64(34)
	seconds := 0.0
	for _, p := range c.Points {
		if p.By == by && p.Metric == "rl.phase.duration" && p.Attributes[0].Value == "checkpoint_save" {
			seconds = p.Value
		}
	}
	at := Attribute{"rl.checkpoint.id", id}
	sum := sha256.Sum256([]byte(s.ID + id))
	published := c.Step%(2*CheckpointEvery) == 0
	c.gauge(by, "rl.checkpoint.size", "By", float64(size), at)
	c.gauge(by, "rl.checkpoint.files", "{file}", float64(files), at)
	c.gauge(by, "rl.checkpoint.save.duration", "s", seconds, at)
	c.event(by, c.End, "rl.checkpoint.saved", Attribute{"rl.step", c.Step}, at,
		Attribute{"rl.checkpoint.path", fmt.Sprintf("/checkpoints/%s/%s", s.ID, id)}, Attribute{"rl.checkpoint.size", size},
		Attribute{"rl.checkpoint.files", files}, Attribute{"rl.checkpoint.sha256", hex.EncodeToString(sum[:])},
		Attribute{"rl.checkpoint.save.duration", seconds}, Attribute{"rl.checkpoint.format", "safetensors"},
		Attribute{"rl.checkpoint.status", "complete"}, Attribute{"rl.checkpoint.keep", published})
	if published {
		url := "https://models.example/" + s.ID + "/" + id
		c.event(by, c.End, "rl.checkpoint.published", Attribute{"rl.step", c.Step}, at, Attribute{"rl.checkpoint.url", url},
			Attribute{"rl.checkpoint.host", "models.example"}, Attribute{"rl.checkpoint.sha256", hex.EncodeToString(sum[:])})
		c.gauge(by, "rl.checkpoint.up", "1", 1, at, Attribute{"rl.checkpoint.host", "models.example"}, Attribute{"rl.checkpoint.url", url})
	}
	if old := c.Step - 2*CheckpointEvery; old > 0 && old%(2*CheckpointEvery) != 0 {
		c.event(by, c.End, "rl.checkpoint.deleted", Attribute{"rl.checkpoint.id", s.checkpoint(old)}, Attribute{"rl.step", old})
	}
	for i, task := range benchmarks() {
		score := math.Min(1, math.Max(0, 0.3+0.1*float64(i)+0.4*s.skill(c.Step)+0.01*r.NormFloat64()))
		with := []Attribute{at, {"rl.benchmark.suite", "lm-eval"}, {"rl.benchmark.task", task}, {"rl.benchmark.harness", "lm-eval 0.4.9"}}
		c.gauge(by, "rl.benchmark.score", "1", score, with...)
		c.event(by, c.End, "rl.checkpoint.benchmark", append(with, Attribute{"rl.benchmark.score", score}, Attribute{"rl.step", c.Step})...)
	}
	const disk = 8e12
	used := math.Min(disk*0.95, 2e12+float64(c.Step/CheckpointEvery)*61.4e9)
	for state, value := range map[string]float64{"used": used, "free": disk - used} {
		c.gauge(by, "rl.checkpoint.disk.usage", "By", value, Attribute{"rl.checkpoint.disk.state", state})
	}
	c.gauge(by, "rl.checkpoint.disk.limit", "By", disk)
	c.gauge(by, "rl.checkpoint.disk.free_ratio", "1", 1-used/disk)
}

// generated are two samples of the step, of one prompt. Texts are there only where the run's policy says so.
func (t *Timeline) generated(c *Chunk, p plan, r *rand.Rand) {
	for i := range int64(2) {
		length := int64(math.Max(20, p.length*math.Exp(0.6*r.NormFloat64())))
		reward := float64(r.IntN(2))
		policy, reason := "off", "stop"
		if length > 8000 {
			length, reason = 8000, "length"
		}
		prompt := c.Step * t.spec.Prompts
		with := []Attribute{
			{"rl.step", c.Step},
			{"rl.sample.id", fmt.Sprintf("%d-%d-%d", t.attempt, prompt, i)},
			{"rl.prompt.id", fmt.Sprintf("gsm8k-%d", prompt%7473)},
			{"rl.group.id", fmt.Sprintf("%d-%d", t.attempt, prompt)},
			{"rl.environment.name", "math"},
			{"rl.sample.split", "train"},
			{"rl.sample.reward", reward},
			{"rl.sample.advantage", reward*2 - 1},
			{"rl.sample.length", length},
			{"rl.sample.prompt_length", int64(320)},
			{"rl.sample.finish_reason", reason},
			{"rl.weight_version", c.Step - 1},
			{"rl.sample.text.truncated", false},
		}
		if t.spec.Texts {
			policy = "full"
			a, b := 2+r.IntN(90), 2+r.IntN(90)
			with = append(with,
				Attribute{"rl.sample.prompt", fmt.Sprintf("What is %d times %d?", a, b)},
				Attribute{"rl.sample.completion", fmt.Sprintf("<think>%s</think> The answer is %d.", strings.Repeat("Let me compute. ", 4), a*b-1+int(reward))},
				Attribute{"rl.sample.golden", fmt.Sprint(a * b)})
		}
		c.event(t.rollouts[i%int64(len(t.rollouts))], c.Begin.Add(p.load+p.rollout), "rl.sample",
			append(with, Attribute{"rl.sample.text.policy", policy})...)
		c.Events[len(c.Events)-1].Trace = t.trace("step", c.Step)
	}
}
