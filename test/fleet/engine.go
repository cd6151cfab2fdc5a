package fleet

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"time"
)

// Engine is one fake engine. Its methods may be called at any time; what they change shows from the next Advance or
// scrape on.
type Engine struct {
	fleet  *Fleet
	spec   Spec
	index  uint64
	random *rand.Rand

	ranks    []*scheduler
	source   *source
	turn     int
	slow     float64
	paused   bool
	weights  time.Duration // of the last weight update, 0 before the first
	pausedAt time.Duration

	server   *http.Server
	address  string
	life     *Life
	answer   answer
	released chan struct{} // closed when a hang ends
}

type answer int

const (
	answersMetrics answer = iota
	answersHTML
	answersNever
)

// Name is the Spec's.
func (e *Engine) Name() string { return e.spec.Name }

// Spec is the engine's own, with the defaults filled in.
func (e *Engine) Spec() Spec { return e.spec }

// URL is where the engine listens, http://127.0.0.1:port; after Kill, where it listened.
func (e *Engine) URL() string {
	e.fleet.mu.Lock()
	defer e.fleet.mu.Unlock()
	return "http://" + e.address
}

// Alive says whether the engine listens.
func (e *Engine) Alive() bool {
	e.fleet.mu.Lock()
	defer e.fleet.mu.Unlock()
	return e.server != nil
}

// Kill ends the engine's process: its requests and counters are lost, its port closed, answers cut.
func (e *Engine) Kill() {
	if server := e.end(); server != nil {
		_ = server.Close()
	}
}

// stop ends the process when answers under way are written.
func (e *Engine) stop() {
	if server := e.end(); server != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if server.Shutdown(ctx) != nil {
			_ = server.Close()
		}
	}
}

func (e *Engine) end() *http.Server {
	e.fleet.mu.Lock()
	defer e.fleet.mu.Unlock()
	server := e.server
	e.server = nil
	if server != nil {
		e.life.Ended = true
		e.unhang()
		for _, s := range e.ranks {
			e.fleet.routed.Lost += int64(s.forget())
		}
	}
	return server
}

// Restart starts a killed or running engine again, as a new process: counters from 0, another port.
func (e *Engine) Restart() error {
	e.Kill()
	return e.start()
}

// Submit lets n requests arrive at once, as a rollout that begins does.
func (e *Engine) Submit(n int) {
	e.fleet.mu.Lock()
	defer e.fleet.mu.Unlock()
	if e.server == nil {
		return
	}
	for range n {
		e.arrive(e.source.draw(e.fleet.now))
	}
}

// SetLoad changes how many requests arrive per second from now on.
func (e *Engine) SetLoad(requestsPerSecond float64) {
	e.fleet.mu.Lock()
	defer e.fleet.mu.Unlock()
	e.spec.Load.RequestsPerSecond = requestsPerSecond
	e.source = newSource(e.spec.Load, e.random, e.fleet.now)
}

// SetSlowness stretches everything the engine does by a factor; 1 is normal.
func (e *Engine) SetSlowness(factor float64) {
	e.fleet.mu.Lock()
	defer e.fleet.mu.Unlock()
	e.slow = factor
}

// SetKVTokens changes the room of each KV cache, so that requests are preempted when it is small.
func (e *Engine) SetKVTokens(tokens int) {
	e.fleet.mu.Lock()
	defer e.fleet.mu.Unlock()
	for _, s := range e.ranks {
		s.capacity.KVTokens = tokens
	}
}

// Pause stops all work, as before a weight update; Continue ends it and reports how long it took.
func (e *Engine) Pause() {
	e.fleet.mu.Lock()
	defer e.fleet.mu.Unlock()
	e.paused, e.pausedAt = true, e.fleet.now
}

// Continue ends a pause.
func (e *Engine) Continue() {
	e.fleet.mu.Lock()
	defer e.fleet.mu.Unlock()
	if e.paused {
		e.paused, e.weights = false, e.fleet.now-e.pausedAt
	}
}

// Abort ends all requests unfinished, as a partial rollout does.
func (e *Engine) Abort() {
	e.fleet.mu.Lock()
	defer e.fleet.mu.Unlock()
	for _, s := range e.ranks {
		s.abort(e.fleet.now)
	}
}

// Hang lets requests to the engine wait until Recover; it works on meanwhile.
func (e *Engine) Hang() {
	e.fleet.mu.Lock()
	defer e.fleet.mu.Unlock()
	e.answer, e.released = answersNever, make(chan struct{})
}

// AnswerHTML lets the engine answer with an error page, status 200, as a proxy in between does.
func (e *Engine) AnswerHTML() {
	e.fleet.mu.Lock()
	defer e.fleet.mu.Unlock()
	e.unhang()
	e.answer = answersHTML
}

// Recover ends Hang and AnswerHTML.
func (e *Engine) Recover() {
	e.fleet.mu.Lock()
	defer e.fleet.mu.Unlock()
	e.unhang()
	e.answer = answersMetrics
}

func (e *Engine) unhang() {
	if e.answer == answersNever {
		close(e.released)
		e.answer = answersMetrics
	}
}

// Totals is what the engine has counted up to now, served or not.
func (e *Engine) Totals() Totals {
	e.fleet.mu.Lock()
	defer e.fleet.mu.Unlock()
	var whole Totals
	for _, t := range e.byRank() {
		whole.add(t)
	}
	return whole
}

func (e *Engine) byRank() []Totals {
	totals := make([]Totals, len(e.ranks))
	for i, s := range e.ranks {
		totals[i] = s.totals(e.fleet.now)
	}
	return totals
}

// start begins a life: everything from zero, on a free port.
func (e *Engine) start() error {
	var listener net.Listener
	if !e.fleet.options.Offline {
		var err error
		if listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			return fmt.Errorf("listen for engine %s: %w", e.spec.Name, err)
		}
	}
	e.fleet.mu.Lock()
	defer e.fleet.mu.Unlock()
	number := 0
	if e.life != nil {
		number = e.life.Number + 1
	}
	e.random = rand.New(rand.NewPCG(e.fleet.options.Seed, e.index<<32|uint64(number)))
	e.source = newSource(e.spec.Load, e.random, e.fleet.now)
	e.slow, e.paused, e.answer = 1, false, answersMetrics
	e.ranks = nil
	for range e.spec.DataRanks {
		e.ranks = append(e.ranks, &scheduler{
			engine: e, capacity: e.spec.Capacity, role: e.spec.Role, counts: newCounts(e.spec.Version),
			ledger:    account{atFinish: e.spec.Version.sglang(), keep: e.fleet.options.KeepValues},
			refreshed: e.fleet.now, prefillUntil: e.fleet.now,
		})
	}
	if listener != nil {
		e.address = listener.Addr().String()
	}
	e.life = &Life{Engine: e.spec.Name, Number: number, Address: e.address, Started: e.fleet.now, StartedAt: time.Now()}
	e.fleet.lives = append(e.fleet.lives, e.life)
	e.server = &http.Server{Handler: e.handler(e.life), ReadHeaderTimeout: 10 * time.Second}
	if listener != nil {
		e.fleet.serve(e.server, listener)
	}
	return nil
}

// longestQueue is where a scheduler turns requests away.
const longestQueue = 20_000

func (e *Engine) arrive(r *request) {
	s := e.ranks[e.turn%len(e.ranks)]
	e.turn++
	if len(s.waiting) >= longestQueue {
		e.fleet.routed.Lost++
		return
	}
	if peer := e.fleet.byName[e.spec.Peer]; peer != nil && peer.server != nil {
		r.receiver = peer.ranks[e.turn%len(peer.ranks)]
	}
	s.arrive(r)
}

func (e *Engine) step(now, tick time.Duration) {
	if e.server == nil {
		return
	}
	for r := e.source.due(now + tick); r != nil; r = e.source.due(now + tick) {
		e.arrive(r)
	}
	if e.paused {
		return
	}
	for _, s := range e.ranks {
		s.step(now, tick, e.slow)
	}
}

// jitter is a random duration of that mean.
func (e *Engine) jitter(mean time.Duration) time.Duration {
	return time.Duration((0.5 + e.random.Float64()) * float64(mean))
}
