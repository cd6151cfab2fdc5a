package simulation

import (
	"math"
	"math/rand/v2"
)

// Layers that report their own values, every LayersEvery steps, and experts of each.
const experts = 8

func layers() []int64 { return []int64{0, 12, 24, 36} }

// model makes the values that are about the architecture: routers, null experts, hyper-connections, sparse attention,
// recurrence.
func (t *Timeline) model(c *Chunk, r *rand.Rand) {
	by, skill := t.controller, t.spec.skill(c.Step)
	for kind, value := range map[string]float64{"aux": 1.02 + 0.1*(1-skill), "z": 0.03, "load_balance": 0.011 + 0.01*(1-skill)} {
		noise := t.spec.random("router/"+kind, t.attempt, c.Step)
		c.gauge(by, "rl.moe.router.loss", "1", around(noise, value, 0.01), Attribute{"rl.moe.loss.kind", kind})
	}
	c.gauge(by, "rl.moe.router.null_loss", "1", around(r, 0.004+0.03*(1-skill), 0.05))
	c.gauge(by, "rl.moe.null_ratio", "1", NullTarget*(0.4+0.6*math.Sqrt(skill))+0.004*r.NormFloat64(), Attribute{"rl.stat", "mean"})
	if c.Step%LayersEvery != 0 {
		return
	}
	for _, layer := range layers() {
		t.layer(c, layer, t.spec.random("layer", t.attempt, c.Step, layer), skill)
	}
	c.gauge(by, "rl.recurrence.depth", "{iteration}", 2.6+0.8*skill+0.05*r.NormFloat64(), Attribute{"rl.stat", "mean"})
	for iteration := int64(1); iteration <= 4; iteration++ {
		at := Attribute{"rl.recurrence.iteration", iteration}
		c.gauge(by, "rl.recurrence.loss_gain", "1", around(r, 0.2/math.Pow(2.2, float64(iteration)), 0.03), at)
		c.gauge(by, "rl.recurrence.duration", "s", t.spec.pace()*around(r, 0.011*float64(iteration), 0.02), at)
	}
	bucket, _ := t.bucket(c.Tokens)
	for _, subject := range []string{"mathematics", "code"} {
		for frequency := range int64(16) {
			power := math.Exp(-float64(frequency)/5) + 0.02*math.Abs(r.NormFloat64())
			if subject == "code" && frequency == 6 {
				power += 0.4
			}
			c.gauge(by, "rl.moe.fourier.power", "1", power, Attribute{"rl.subject", subject},
				Attribute{"rl.data.bucket", bucket}, Attribute{"rl.frequency", frequency})
		}
	}
}

func (t *Timeline) layer(c *Chunk, layer int64, r *rand.Rand, skill float64) {
	by, at := t.controller, Attribute{"rl.layer", layer}
	deep := float64(layer) / 36
	c.gauge(by, "rl.moe.router.null_loss", "1", around(r, 0.004+0.03*(1-skill)*(1-deep/2), 0.05), at)
	c.gauge(by, "rl.moe.null_ratio", "1", NullTarget*(0.4+0.6*math.Sqrt(skill))*(0.8+0.4*deep)+0.005*r.NormFloat64(), at)
	shares, sum := make([]float64, experts), 0.0
	for e := range shares {
		shares[e] = math.Exp(0.25 * r.NormFloat64())
		sum += shares[e]
	}
	highest, lowest, average := 0.0, math.Inf(1), 0.0
	for e := range shares {
		shares[e] /= sum
		violation := shares[e]*experts - 1
		highest, lowest, average = math.Max(highest, violation), math.Min(lowest, violation), average+math.Abs(violation)/experts
		c.gauge(by, "rl.moe.expert.load", "1", shares[e], at, Attribute{"rl.expert", int64(e)})
	}
	for _, one := range []struct {
		kind  string
		value float64
	}{{"max", highest}, {"min", lowest}, {"avg", average}} {
		c.gauge(by, "rl.moe.load.violation", "1", one.value, at, Attribute{"rl.moe.violation", one.kind})
	}
	for _, site := range []string{"attn", "mlp"} {
		where := []Attribute{at, {"rl.site", site}}
		c.gauge(by, "rl.mhc.row_sum_error", "1", math.Abs(1e-4*r.NormFloat64()), where...)
		c.gauge(by, "rl.mhc.column_sum_error", "1", math.Abs(1e-4*r.NormFloat64()), where...)
		c.gauge(by, "rl.mhc.gain", "1", around(r, 1.2+0.3*deep, 0.03), where...)
		c.gauge(by, "rl.mhc.grad_gain", "1", around(r, 1.1+0.2*(1-deep), 0.03), where...)
		c.gauge(by, "rl.mhc.offdiagonal_mass", "1", math.Abs(around(r, 0.05+0.2*skill*deep, 0.05)), where...)
		c.gauge(by, "rl.mhc.stream_similarity", "1", math.Min(1, around(r, 0.6+0.3*deep, 0.02)), where...)
	}
	for head := range int64(2) {
		where := []Attribute{at, {"rl.head_group", head}}
		c.gauge(by, "rl.gsa.gate", "1", 0.3+0.4*skill*float64(head)+0.01*r.NormFloat64(), append(where, Attribute{"rl.stat", "mean"})...)
		c.gauge(by, "rl.gsa.selected_ratio", "1", around(r, 0.18-0.06*skill, 0.03), where...)
		c.gauge(by, "rl.gsa.entropy", "1", around(r, 3.4-0.9*skill, 0.02), where...)
	}
	if c.Step%CheckpointEvery == 0 && layer <= 12 {
		t.favourites(c, layer, r)
	}
}

// favourites are the tokens that the first experts of a layer get most.
func (t *Timeline) favourites(c *Chunk, layer int64, r *rand.Rand) {
	for expert := range int64(4) {
		count := 20_000.0
		for place := int64(1); place <= 10; place++ {
			count = math.Round(count * (0.7 + 0.2*r.Float64()))
			c.gauge(t.controller, "rl.moe.expert.token_count", "{token}", count, Attribute{"rl.layer", layer},
				Attribute{"rl.expert", expert}, Attribute{"rl.token.id", 100*expert + 7*place + layer}, Attribute{"rl.token.rank", place})
		}
	}
}

func (t *Timeline) evaluation(c *Chunk, r *rand.Rand) {
	by, skill := t.controller, t.spec.skill(c.Step)
	for i, set := range []string{"gsm8k", "math500", "aime24"} {
		hard := float64(i) * 0.25
		at := Attribute{"rl.dataset", set}
		c.gauge(by, "rl.eval.score", "1", math.Min(1, math.Max(0, 0.35+0.6*skill-hard+0.01*r.NormFloat64())), at,
			Attribute{"rl.eval.metric", "acc"}, Attribute{"rl.k", int64(1)}, Attribute{"rl.k.pick", "mean"}, Attribute{"rl.stat", "mean"})
		for _, k := range []int64{1, 8} {
			score := 0.35 + 0.6*skill - hard + 0.04*math.Log2(float64(k)) + 0.01*r.NormFloat64()
			c.gauge(by, "rl.pass_at_k", "1", math.Min(1, math.Max(0, score)), at, Attribute{"rl.k", k})
		}
		c.gauge(by, "rl.eval.response.length", "{token}", math.Round(answerLength(c.Step)*(1+hard)), at, Attribute{"rl.stat", "mean"})
	}
	for horizon := int64(1); horizon <= 2; horizon++ {
		c.gauge(by, "rl.validation.loss", "1", 1.8-0.9*skill+0.5*float64(horizon-1)+0.01*r.NormFloat64(),
			Attribute{"rl.dataset", "heldout"}, Attribute{"rl.horizon", horizon})
	}
}
