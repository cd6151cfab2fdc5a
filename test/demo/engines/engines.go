package engines

import (
	"fmt"
	"slices"
	"time"

	"github.com/pitwall-otel/pitwall/test/demo/simulation"
	"github.com/pitwall-otel/pitwall/test/fleet"
)

// Engines of one run.
type Engines struct {
	spec    simulation.Spec
	fleet   *fleet.Fleet
	start   time.Time // the fleet's time 0
	born    time.Time // of the processes that run
	attempt int64
	sick    bool
	down    bool

	// Of past times only.
	processes []*simulation.Process
	next      time.Time
	read      time.Time
	before    []fleet.Histograms
	totals    []fleet.Totals // at the last reading
	moved     []movement
}

// movement is when an engine's counters moved last.
type movement struct {
	at    time.Time
	count int64
}

const firstPort = 30000

// Start starts a run's engines at a time: as servers, or for times that are past.
func Start(spec simulation.Spec, at time.Time, servers bool) (*Engines, error) {
	pace := spec.StepTime.Seconds() / 30
	load := fleet.Load{PromptTokens: 320, OutputTokens: 300, MaxOutputTokens: 700, Group: int(spec.Group)}
	capacity := fleet.Capacity{
		PrefillPerSecond: 60_000 / pace, TokenTime: time.Duration(8e6 * pace), TransferPerSec: 20 * (1 << 30) / pace, KVTokens: 120_000,
	}
	tick := time.Duration(250e6 * pace)
	if servers {
		tick /= 5
	}
	f, err := fleet.Start(fleet.Options{Seed: spec.Seed, Engines: specs(spec, load, capacity), Offline: !servers, Tick: max(tick, time.Millisecond)})
	if err != nil {
		return nil, fmt.Errorf("start the engines of %s: %w", spec.ID, err)
	}
	e := &Engines{spec: spec, fleet: f, start: at, born: at, attempt: 1, next: at.Add(spec.Cadence), read: at}
	e.identify()
	return e, nil
}

// specs: two engines that do everything, a prefill and a decode engine beside them.
func specs(spec simulation.Spec, load fleet.Load, capacity fleet.Capacity) []fleet.Spec {
	var all []fleet.Spec
	for replica := range spec.Engines {
		one := fleet.Spec{
			Name: fmt.Sprintf("engine-%d", replica), Version: fleet.VLLM026, Model: "Qwen/Qwen3-30B-A3B", TensorRanks: 2,
			Load: load, Capacity: capacity,
		}
		if spec.EngineKind == "sglang" {
			one.Version = fleet.SGLangMain
		}
		switch replica {
		case 2:
			one.Role, one.Peer = fleet.Prefill, "engine-3"
		case 3:
			one.Role = fleet.Decode
		}
		all = append(all, one)
	}
	return all
}

func (e *Engines) identify() {
	e.processes, e.before, e.moved, e.totals = nil, nil, nil, make([]fleet.Totals, e.spec.Engines)
	for replica, engine := range e.fleet.Engines() {
		e.processes = append(e.processes, &simulation.Process{
			Run: e.spec.ID, Attempt: e.attempt, Role: "engine", Host: e.spec.EngineHost, Replica: int64(replica),
			Server: e.spec.EngineHost, Port: firstPort + int64(replica),
		})
		e.before = append(e.before, engine.Histograms())
		e.moved = append(e.moved, movement{at: e.born})
	}
}

// Fleet is the engines themselves.
func (e *Engines) Fleet() *fleet.Fleet { return e.fleet }

// Totals are what each engine's processes had counted at the last reading.
func (e *Engines) Totals() []fleet.Totals { return e.totals }

// Close stops the engines.
func (e *Engines) Close() { e.fleet.Close() }

type action struct {
	at time.Time
	do func()
}

// actions of a chunk within its part after from and not after to, in their order.
func (e *Engines) actions(c *simulation.Chunk, from, to time.Time) []action {
	all := e.engines()
	var list []action
	add := func(at time.Time, do func()) {
		if at.After(from) && !at.After(to) {
			list = append(list, action{at, do})
		}
	}
	requests := int(e.spec.Prompts * e.spec.Group / int64(e.spec.Engines))
	for _, s := range c.States {
		if s.By.Role != "rollout" {
			continue
		}
		one := all[s.By.Replica]
		share := requests
		switch one.Spec().Role {
		case fleet.Prefill:
			share *= 2
		case fleet.Decode:
			share = 0
		case fleet.Unified:
		}
		switch s.Phase {
		case "rollout":
			add(s.Begin, func() { one.Submit(share) })
		case "eval":
			add(s.Begin, func() { one.Submit(share / 4) })
		case "weight_sync":
			add(s.Begin, one.Pause)
			add(s.End, one.Continue)
		}
	}
	if !e.sick && !e.spec.Sick.IsZero() && to.After(e.spec.Sick) {
		e.sick = true
		add(to, func() {
			all[simulation.QueueReplica].SetSlowness(12)
			all[simulation.FullReplica].SetKVTokens(24_000)
			all[simulation.FullReplica].SetLoad(14 / (e.spec.StepTime.Seconds() / 30))
			all[simulation.TailReplica].SetSlowness(simulation.TailFactor)
		})
	}
	if !e.down && !e.spec.Hangs.IsZero() && to.After(e.spec.Hangs) {
		e.down = true
		add(to, all[simulation.DownReplica].Kill)
	}
	slices.SortStableFunc(list, func(a, b action) int { return a.at.Compare(b.at) })
	return list
}

func (e *Engines) engines() []*fleet.Engine { return e.fleet.Engines() }

// Advance does what a part of the chunk asks of engines that serve.
func (e *Engines) Advance(c *simulation.Chunk, from, to time.Time) error {
	if err := e.follow(c); err != nil {
		return err
	}
	for _, one := range e.actions(c, from, to) {
		e.advance(one.at)
		one.do()
	}
	e.advance(to)
	return nil
}

// Read moves through a past chunk and adds the readings that fall into it, those after now left out.
func (e *Engines) Read(c *simulation.Chunk, now time.Time) error {
	if err := e.follow(c); err != nil {
		return err
	}
	list := e.actions(c, c.Begin.Add(-1), c.End)
	for ; !e.next.After(c.End) && !e.next.After(now); e.next = e.next.Add(e.spec.Cadence) {
		at := e.next
		list = append(list, action{at, func() { e.readings(c, at) }})
	}
	slices.SortStableFunc(list, func(a, b action) int { return a.at.Compare(b.at) })
	for _, one := range list {
		e.advance(one.at)
		one.do()
	}
	e.advance(c.End)
	return nil
}

// follow restarts the engines with a new attempt of the run.
func (e *Engines) follow(c *simulation.Chunk) error {
	if c.Attempt == e.attempt {
		return nil
	}
	e.attempt, e.born = c.Attempt, c.Begin
	for _, engine := range e.engines() {
		if err := engine.Restart(); err != nil {
			return fmt.Errorf("restart %s of %s: %w", engine.Name(), e.spec.ID, err)
		}
	}
	e.identify()
	return nil
}

func (e *Engines) advance(to time.Time) {
	if d := to.Sub(e.start) - e.fleet.Now(); d > 0 {
		e.fleet.Advance(d)
	}
}
