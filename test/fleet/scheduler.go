package fleet

import (
	"slices"
	"time"
)

// decodeLogInterval is how often SGLang's scheduler refreshes its gauges while it decodes (40 iterations of about 20 ms).
const decodeLogInterval = 800 * time.Millisecond

// scheduler is one rank of an engine: a queue, a batch and a KV cache.
type scheduler struct {
	engine   *Engine
	ledger   account
	counts   *counts
	capacity Capacity
	role     Role

	waiting, running []*request
	kvTokens         int
	prefillUntil     time.Duration

	// Disaggregation: prefill has bootstrap, then waiting and running, then inflight; decode has prealloc and transfer.
	bootstrap, inflight []*request
	prealloc, transfer  int

	gauges    gauges
	refreshed time.Duration
	decoded   int  // tokens since the refresh
	prefilled bool // since the refresh
}

// gauges are what the engine reports of its state.
type gauges struct {
	set                                    bool
	running, waiting, kvTokens, kvCapacity int
	throughput, hitRate                    float64
	bootstrap, inflight, prealloc, waits   int
	sumLengths                             int
}

func (s *scheduler) arrive(r *request) {
	switch {
	case s.role == Prefill:
		r.ready = r.arrived + s.engine.jitter(10*time.Millisecond)
		s.bootstrap = append(s.bootstrap, r)
		if r.receiver != nil {
			r.receiver.prealloc++
		}
	default:
		s.waiting = append(s.waiting, r)
	}
}

// step runs the scheduler over one tick; slow stretches every duration.
func (s *scheduler) step(now, tick time.Duration, slow float64) {
	end := now + tick
	s.bootstrap = slices.DeleteFunc(s.bootstrap, func(r *request) bool {
		if r.ready < end {
			s.waiting = append(s.waiting, r)
			return true
		}
		return false
	})
	s.prefill(now, end, slow)
	s.refresh(end) // with the batch that runs now, not with what is left of it at the end
	s.decode(end, tick, slow)
	s.handOver(end)
}

// prefill admits waiting requests one after the other, as long as the tick and the cache have room.
func (s *scheduler) prefill(now, end time.Duration, slow float64) {
	s.prefillUntil = max(s.prefillUntil, now)
	for len(s.waiting) > 0 && s.prefillUntil < end && len(s.running) < s.capacity.MaxRunning {
		r := s.waiting[0]
		if s.kvTokens+r.kv()+1 > s.capacity.KVTokens && len(s.running) > 0 {
			return
		}
		s.waiting = s.waiting[1:]
		start := max(s.prefillUntil, r.arrived, r.ready)
		tokens := r.kv() - r.cached
		if r.generated > 0 {
			tokens = r.kv() // preempted: its part of the cache is gone
		}
		r.prefillEnd = start + time.Duration(float64(tokens)/s.capacity.PrefillPerSecond*slow*float64(time.Second))
		if s.role == Decode {
			r.prefillEnd = start // the cache came from the prefill engine
		}
		s.prefillUntil = r.prefillEnd
		s.running = append(s.running, r)
		if r.receiver != nil {
			r.receiver.prealloc--
			r.receiver.transfer++
		}
		s.record(r, start, tokens)
		s.kvTokens += r.kv()
		s.prefilled = true
	}
}

func (s *scheduler) record(r *request, start time.Duration, tokens int) {
	if r.generated > 0 {
		r.delivered = r.prefillEnd
		s.ledger.repeated(tokens)
		s.counts.repeated(tokens)
		return
	}
	r.scheduled, r.firstToken, r.delivered, r.generated = start, r.prefillEnd, r.prefillEnd, 1
	if s.role != Decode {
		s.gauges.hitRate = float64(r.cached) / float64(r.prompt)
	}
	wait := start - r.arrived
	s.ledger.scheduled(r, wait)
	s.counts.scheduled(r, wait)
	s.ledger.firstToken(r)
	s.counts.firstToken(r)
	s.gauges.set = true
}

// decode gives every running request its tokens of the tick, preempts when the cache is full, and ends what is whole.
func (s *scheduler) decode(end, tick time.Duration, slow float64) {
	perToken := time.Duration(float64(s.capacity.TokenTime) * slow * (1 + float64(len(s.running))/float64(s.capacity.MaxRunning)))
	for _, r := range s.running {
		if s.role == Prefill || r.prefillEnd >= end {
			continue
		}
		r.credit += float64(min(tick, end-r.prefillEnd)) / float64(perToken)
		n := min(int(r.credit), r.output-r.generated)
		r.credit -= float64(n)
		if n == 0 {
			continue
		}
		each := (end - r.delivered) / time.Duration(n)
		r.delivered = end
		r.generated += n
		s.kvTokens += n
		s.decoded += n
		s.ledger.tokens(n, each)
		s.counts.tokens(n, each)
		if s.ledger.atFinish {
			r.deliveries = append(r.deliveries, delivery{each, n})
		}
	}
	for s.kvTokens > s.capacity.KVTokens && len(s.running) > 1 {
		s.preempt()
	}
	s.running = slices.DeleteFunc(s.running, func(r *request) bool {
		switch {
		case r.prefillEnd >= end:
			return false
		case s.role == Prefill:
			s.send(r)
		case r.generated < r.output:
			return false
		default:
			s.finish(r, r.delivered)
		}
		return true
	})
}

// preempt puts the request that was scheduled last back to the front of the queue.
func (s *scheduler) preempt() {
	r := s.running[len(s.running)-1]
	s.running = s.running[:len(s.running)-1]
	s.kvTokens -= r.kv()
	s.waiting = slices.Insert(s.waiting, 0, r)
	s.ledger.preempted(r)
	s.counts.preempted(r)
}

func (s *scheduler) finish(r *request, at time.Duration) {
	s.kvTokens -= r.kv()
	s.ledger.finished(r, at, false)
	s.counts.finished(r, at, false)
	if s.role != Prefill {
		s.engine.fleet.routed.Finished++
		s.engine.fleet.took.observe((at - r.arrived).Seconds(), 1)
	}
}

// send starts the transfer of a prefilled request's cache to the decode engine.
func (s *scheduler) send(r *request) {
	took := time.Duration(float64(r.prompt*bytesPerToken)/s.capacity.TransferPerSec*float64(time.Second)) + s.engine.jitter(4*time.Millisecond)
	r.ready = r.prefillEnd + took
	s.inflight = append(s.inflight, r)
}

// handOver ends transfers: here the request has finished with its first token, there it goes on.
func (s *scheduler) handOver(end time.Duration) {
	s.inflight = slices.DeleteFunc(s.inflight, func(r *request) bool {
		if r.ready >= end {
			return false
		}
		took, bytes := r.ready-r.prefillEnd, int64(r.prompt)*bytesPerToken
		from, to := s, r.receiver
		at := from
		if !s.engine.spec.Version.sglang() && to != nil {
			at = to // NIXL: who reads, measures
		}
		at.ledger.transferred(took, bytes)
		at.counts.transferred(took, bytes)
		s.finish(r, r.ready)
		if to != nil {
			to.transfer--
			to.waiting = append(to.waiting, &request{
				prompt: r.prompt, output: r.output, cutOff: r.cutOff, arrived: r.arrived, ready: r.ready, cached: r.prompt - 1,
			})
		}
		return true
	})
}

// refresh updates the gauges as the producer does: vLLM at every iteration, SGLang at prefills and now and then while it
// decodes, never while it is idle.
func (s *scheduler) refresh(now time.Duration) {
	if s.engine.spec.Version.sglang() {
		busy := len(s.running)+len(s.waiting)+len(s.inflight)+len(s.bootstrap)+s.prealloc+s.transfer > 0
		if !s.prefilled && (!busy || now-s.refreshed < decodeLogInterval) {
			return
		}
	}
	if elapsed := now - s.refreshed; elapsed > 0 {
		s.gauges.throughput = float64(s.decoded) / elapsed.Seconds()
	}
	s.refreshed, s.decoded, s.prefilled = now, 0, false
	g := &s.gauges
	g.set = true
	g.running, g.waiting, g.kvTokens, g.kvCapacity = len(s.running), len(s.waiting), s.kvTokens, s.capacity.KVTokens
	g.bootstrap, g.inflight, g.prealloc, g.waits = len(s.bootstrap), len(s.inflight), s.prealloc, s.transfer
	g.sumLengths = 0
	for _, r := range s.running {
		g.sumLengths += r.kv()
	}
}

// abort ends everything the scheduler has, as an abort of all requests before a weight update does.
func (s *scheduler) abort(at time.Duration) {
	for _, r := range slices.Concat(s.running, s.waiting, s.bootstrap, s.inflight) {
		s.ledger.finished(r, at, true)
		s.counts.finished(r, at, true)
	}
	s.forget()
}

// forget drops everything without a word, as a killed process does, and says how much that was.
func (s *scheduler) forget() int {
	lost := len(s.running) + len(s.waiting) + len(s.bootstrap) + len(s.inflight)
	for _, r := range slices.Concat(s.waiting, s.bootstrap) {
		if r.receiver != nil {
			r.receiver.prealloc--
		}
	}
	for _, r := range slices.Concat(s.running, s.inflight) {
		if r.receiver != nil {
			r.receiver.transfer--
		}
	}
	s.running, s.waiting, s.bootstrap, s.inflight, s.kvTokens = nil, nil, nil, nil, 0
	return lost
}

// totals is the ledger's view at a moment.
func (s *scheduler) totals(now time.Duration) Totals {
	t := s.ledger.Totals
	t.At = now
	g := s.gauges
	t.Running, t.Waiting, t.KVTokens, t.KVCapacity = g.running, g.waiting, g.kvTokens, s.capacity.KVTokens
	t.Bootstrap, t.Inflight, t.Prealloc, t.Transferring = g.bootstrap, g.inflight, g.prealloc, g.waits
	t.Paused, t.WeightUpdate = s.engine.paused, s.engine.weights
	for _, d := range []*Durations{&t.QueueTime, &t.Transfers, &t.FirstToken, &t.BetweenTokens, &t.EndToEnd} {
		d.Values = slices.Clip(d.Values)
	}
	return t
}
