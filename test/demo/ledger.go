package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"time"

	"github.com/pitwall-otel/pitwall/test/demo/simulation"
)

// What dashboards must show of the past, for tests that are not written in Go or not in this module. Times are RFC 3339 in
// UTC, durations seconds.
type (
	runAnswers struct {
		Start       time.Time                     `json:"start"`
		Attempts    []simulation.AttemptLedger    `json:"attempts"`
		LastStep    int64                         `json:"last_step"`
		LastStepEnd time.Time                     `json:"last_step_end"`
		Tokens      int64                         `json:"tokens"`
		Throughput  float64                       `json:"throughput"` // of the last step, token/s
		Loss        *float64                      `json:"loss"`       // of the last step; null when it is not finite
		Nonfinite   []int64                       `json:"nonfinite_steps"`
		Checkpoints []simulation.CheckpointLedger `json:"checkpoints"`
		Reached     map[string]time.Time          `json:"milestones_reached"`
		Missing     map[string]float64            `json:"milestones_eta"` // seconds
		Samples     int64                         `json:"samples"`
		OpenStates  int                           `json:"open_states"`
		Status      string                        `json:"status"` // rl.run.status said last, empty: none
		Engines     []engineAnswers               `json:"engines"`
	}
	engineAnswers struct {
		Replica     int   `json:"replica"`
		Finished    int64 `json:"finished"`
		Prompt      int64 `json:"prompt_tokens"`
		Cached      int64 `json:"cached_tokens"`
		Output      int64 `json:"output_tokens"` // as inference.tokens.output counts
		Preemptions int64 `json:"preemptions"`
		Running     int   `json:"running"`
		Waiting     int   `json:"waiting"`
	}
	gpuAnswers struct {
		Host string `json:"host"`
		GPU  int64  `json:"gpu"`
		simulation.DeviceLedger
	}
)

func (d *demo) writeLedger(name string) error {
	runs, gpus := map[string]runAnswers{}, []gpuAnswers{}
	for _, p := range d.players {
		if r := p.ledger.Runs[p.spec.ID]; r != nil {
			runs[p.spec.ID] = p.answers(r)
		}
		for at, gpu := range p.ledger.GPUs {
			gpus = append(gpus, gpuAnswers{at.Host, at.Index, *gpu})
		}
	}
	text, err := json.MarshalIndent(map[string]any{"runs": runs, "gpus": gpus}, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the ledger: %w", err)
	}
	if err := os.WriteFile(name, append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("write the ledger: %w", err)
	}
	return nil
}

func (p *player) answers(r *simulation.RunLedger) runAnswers {
	a := runAnswers{
		Start: r.Spec.Start, Attempts: r.Attempts, LastStep: r.LastStep, LastStepEnd: r.LastStepEnd, Tokens: r.Tokens,
		Throughput: r.Throughput, Nonfinite: r.Nonfinite, Checkpoints: r.Checkpoints, Reached: r.Reached,
		Missing: map[string]float64{}, Samples: r.Samples, OpenStates: len(r.Open), Status: r.Finished,
	}
	if !math.IsNaN(r.Loss) && !math.IsInf(r.Loss, 0) {
		a.Loss = &r.Loss
	}
	for _, m := range simulation.Milestones() {
		if _, reached := r.Reached[m.Name]; !reached {
			a.Missing[m.Name] = r.ETA(m).Seconds()
		}
	}
	for replica, t := range p.totals {
		output := t.Output
		if r.Spec.EngineKind == "sglang" {
			output = t.DecodedTokens
		}
		a.Engines = append(a.Engines, engineAnswers{
			replica, t.Finished, t.ComputedTokens + t.CachedTokens, t.CachedTokens, output, t.Preemptions, t.Running, t.Waiting,
		})
	}
	return a
}
