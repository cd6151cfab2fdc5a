package simulation

import (
	"math"
	"slices"
	"time"
)

// Ledger adds up what timelines yielded: the answers that dashboards must give.
type Ledger struct {
	Keep   bool // keep every point, for Values and comparisons of rows
	Points []Point
	// Histograms, States and Events are kept along with the points.
	Histograms []Histogram
	States     []State
	Events     []Event

	Runs map[string]*RunLedger
	GPUs map[Device]*DeviceLedger
	// Counts of everything, kept or not.
	PointCount, StateCount, EventCount int64
}

// Device is a GPU by its place.
type Device struct {
	Host  string
	Index int64
}

// DeviceLedger is what a GPU's counters stand at.
type DeviceLedger struct {
	IdleSeconds      float64 `json:"idle_seconds"`
	BusySeconds      float64 `json:"busy_seconds"`
	ThrottledSeconds float64 `json:"throttled_seconds"`
	EnergyJoules     float64 `json:"energy_joules"`
	LastUtilization  float64 `json:"utilization"` // at the last reading, 0 to 1
	Xids             int64   `json:"xids"`
}

// RunLedger is one run.
type RunLedger struct {
	Spec        Spec
	Attempts    []AttemptLedger
	LastStep    int64 // of the last attempt
	LastStepEnd time.Time
	Tokens      int64 // trained on, as the last attempt counts
	Throughput  float64
	Loss        float64 // rl.loss.total of the last step, NaN included
	Checkpoints []CheckpointLedger
	Reached     map[string]time.Time // milestones
	Samples     int64                // generated ones that were sent
	Nonfinite   []int64              // steps
	Open        []State              // states without an end
	Finished    string               // the last rl.run.status
}

// AttemptLedger has the steps of an attempt.
type AttemptLedger struct {
	Number    int64 `json:"number"`
	FirstStep int64 `json:"first_step"`
	LastStep  int64 `json:"last_step"`
}

// CheckpointLedger is a checkpoint as its events leave it.
type CheckpointLedger struct {
	ID          string             `json:"id"`
	Step        int64              `json:"step"`
	Attempt     int64              `json:"attempt"`
	Size        int64              `json:"size_bytes"`
	SaveSeconds float64            `json:"save_seconds"`
	SavedAt     time.Time          `json:"saved_at"`
	URL         string             `json:"url"`
	Deleted     bool               `json:"deleted"`
	Scores      map[string]float64 `json:"scores"` // by task
}

// NewLedger is empty.
func NewLedger() *Ledger {
	return &Ledger{Runs: map[string]*RunLedger{}, GPUs: map[Device]*DeviceLedger{}}
}

// Add counts a chunk of a run.
func (l *Ledger) Add(spec Spec, c *Chunk) {
	run := l.Runs[spec.ID]
	if run == nil {
		run = &RunLedger{Spec: spec, Reached: map[string]time.Time{}}
		l.Runs[spec.ID] = run
	}
	l.PointCount += int64(len(c.Points))
	l.EventCount += int64(len(c.Events))
	l.StateCount += int64(len(c.States))
	if l.Keep {
		l.Points = append(l.Points, c.Points...)
		l.Histograms = append(l.Histograms, c.Histograms...)
		l.States = append(l.States, c.States...)
		l.Events = append(l.Events, c.Events...)
	}
	if len(run.Attempts) == 0 || run.Attempts[len(run.Attempts)-1].Number != c.Attempt {
		run.Attempts = append(run.Attempts, AttemptLedger{Number: c.Attempt})
	}
	for _, p := range c.Points {
		l.point(run, p)
	}
	for _, e := range c.Events {
		run.event(e)
	}
	for _, s := range c.States {
		if s.End.IsZero() {
			run.Open = append(run.Open, s)
		}
	}
}

func (l *Ledger) point(run *RunLedger, p Point) {
	if device, ok := p.attribute("rl.device.index").(int64); ok {
		at := Device{p.By.Host, device}
		if l.GPUs[at] == nil {
			l.GPUs[at] = &DeviceLedger{}
		}
		g := l.GPUs[at]
		switch p.Metric {
		case "nvidia.gpu.idle.duration":
			g.IdleSeconds = p.Value
		case "nvidia.gpu.busy.duration":
			g.BusySeconds = p.Value
		case "nvidia.gpu.throttled.duration":
			g.ThrottledSeconds = p.Value
		case "hw.energy":
			g.EnergyJoules = p.Value
		case "hw.gpu.utilization":
			g.LastUtilization = p.Value
		case "nvidia.gpu.xid.errors":
			g.Xids = int64(p.Value)
		}
		return
	}
	switch p.Metric {
	case "rl.tokens":
		run.Tokens, run.LastStep, run.LastStepEnd = int64(p.Value), p.Step, p.Time
		attempt := &run.Attempts[len(run.Attempts)-1]
		if attempt.FirstStep == 0 {
			attempt.FirstStep = p.Step
		}
		attempt.LastStep = p.Step
	case "rl.throughput":
		if p.attribute("rl.scope") == "global" {
			run.Throughput = p.Value
		}
	case "rl.loss.total":
		run.Loss = p.Value
		if math.IsNaN(p.Value) {
			run.Nonfinite = append(run.Nonfinite, p.Step)
		}
	}
}

func (run *RunLedger) event(e Event) {
	get := func(key string) any { return find(e.Attributes, key) }
	id, _ := get("rl.checkpoint.id").(string)
	switch e.Name {
	case "rl.checkpoint.saved":
		run.Checkpoints = slices.DeleteFunc(run.Checkpoints, func(c CheckpointLedger) bool { return c.ID == id }) // saved again after a resume
		run.Checkpoints = append(run.Checkpoints, CheckpointLedger{
			ID: id, Step: get("rl.step").(int64), Size: get("rl.checkpoint.size").(int64), Attempt: e.By.Attempt,
			SaveSeconds: get("rl.checkpoint.save.duration").(float64), SavedAt: e.Time, Scores: map[string]float64{},
		})
	case "rl.checkpoint.published", "rl.checkpoint.deleted", "rl.checkpoint.benchmark":
		i := slices.IndexFunc(run.Checkpoints, func(c CheckpointLedger) bool { return c.ID == id })
		if i < 0 {
			return
		}
		switch c := &run.Checkpoints[i]; e.Name {
		case "rl.checkpoint.published":
			c.URL = get("rl.checkpoint.url").(string)
		case "rl.checkpoint.deleted":
			c.Deleted = true
		default:
			c.Scores[get("rl.benchmark.task").(string)] = get("rl.benchmark.score").(float64)
		}
	case "rl.milestone":
		if get("rl.milestone.status") == "reached" {
			run.Reached[get("rl.milestone.name").(string)] = e.Time
		}
	case "rl.sample":
		run.Samples++
	case "rl.run.finished":
		run.Finished = get("rl.run.status").(string)
	}
}

func (p Point) attribute(key string) any { return find(p.Attributes, key) }

func find(attributes []Attribute, key string) any {
	for _, a := range attributes {
		if a.Key == key {
			return a.Value
		}
	}
	return nil
}

// Values of a metric by step: of one run, attempt, role and rank, with these attributes (those not named do not matter).
func (l *Ledger) Values(run string, attempt int64, role string, rank int64, metric string, with ...Attribute) map[int64]float64 {
	values := map[int64]float64{}
	for _, p := range l.Points {
		if p.By.Run != run || p.By.Attempt != attempt || p.By.Role != role || p.By.Rank != rank || p.Metric != metric {
			continue
		}
		if !slices.ContainsFunc(with, func(a Attribute) bool { return p.attribute(a.Key) != a.Value }) {
			values[p.Step] = p.Value
		}
	}
	return values
}

// ETA is how long the run needs to a milestone at its last rate; 0 when it is there.
func (run *RunLedger) ETA(m Milestone) time.Duration {
	if run.Throughput == 0 {
		return 0
	}
	return time.Duration(math.Max(0, float64(m.Tokens-run.Tokens)) / run.Throughput * float64(time.Second))
}
