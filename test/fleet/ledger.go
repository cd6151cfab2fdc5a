package fleet

import (
	"slices"
	"time"
)

// Durations are observations of a time.
type Durations struct {
	Count  int64
	Sum    time.Duration
	Values []Observed // only with Options.KeepValues
}

// Observed is one value that was observed so many times.
type Observed struct {
	Value time.Duration
	Times int64
}

func (d *Durations) add(value time.Duration, times int64, keep bool) {
	d.Count += times
	d.Sum += value * time.Duration(times)
	if keep {
		d.Values = append(d.Values, Observed{value, times})
	}
}

// AtMost counts the kept values up to a bound: a cumulative bucket.
func (d Durations) AtMost(bound time.Duration) int64 {
	var count int64
	for _, v := range d.Values {
		if v.Value <= bound {
			count += v.Times
		}
	}
	return count
}

// Sizes are observations of a count of tokens or bytes.
type Sizes struct{ Count, Sum int64 }

func (s *Sizes) add(value int64) { s.Count++; s.Sum += value }

// Totals is what a scheduler or an engine counted from its start up to a moment. When a request's own figures are
// counted depends on the producer: vLLM counts as things happen, SGLang's tokenizer when the request has finished.
type Totals struct {
	At time.Duration // virtual time since the fleet's start

	// Work done, counted as it is done by both: SGLang's realtime_tokens_total and prefill_effective_tokens_total
	// (repeated prefills after preemption are in the first only), vLLM's generation_tokens_total.
	ComputedTokens, CachedTokens int64 // of prompts, by first prefills
	RepeatedTokens               int64 // of prompts and outputs, prefilled again after preemption
	DecodedTokens                int64 // all but each answer's first token, which the prefill makes
	Preemptions                  int64
	PreemptedInput               int64 // tokens of the preempted requests
	PreemptedOutput              int64
	QueueTime                    Durations // counted when the request is first scheduled
	Transfers                    Durations // of KV cache; SGLang counts at the prefill engine, vLLM at the decode engine
	TransferredBytes             Sizes

	// Figures of requests: SGLang at their end, vLLM when they occur.
	Finished, CutOff, Aborted       int64 // Finished has those cut off at the length limit, not those aborted
	PromptTokens, HitTokens, Output int64 // HitTokens are the prompts' tokens found in the cache
	FirstToken, BetweenTokens       Durations
	EndToEnd                        Durations

	// Gauges as the engine reports them: SGLang's are frozen while it is idle.
	Running, Waiting, KVTokens, KVCapacity int
	// Requests in the queues of disaggregation.
	Bootstrap, Inflight, Prealloc, Transferring int
	Paused                                      bool
	WeightUpdate                                time.Duration // how long the last one took
}

func (t *Totals) add(o Totals) {
	t.At = max(t.At, o.At)
	for _, pair := range []struct {
		to   *int64
		from int64
	}{
		{&t.ComputedTokens, o.ComputedTokens},
		{&t.CachedTokens, o.CachedTokens},
		{&t.RepeatedTokens, o.RepeatedTokens},
		{&t.DecodedTokens, o.DecodedTokens},
		{&t.Preemptions, o.Preemptions},
		{&t.PreemptedInput, o.PreemptedInput},
		{&t.PreemptedOutput, o.PreemptedOutput},
		{&t.TransferredBytes.Count, o.TransferredBytes.Count},
		{&t.TransferredBytes.Sum, o.TransferredBytes.Sum},
		{&t.Finished, o.Finished},
		{&t.CutOff, o.CutOff},
		{&t.Aborted, o.Aborted},
		{&t.PromptTokens, o.PromptTokens},
		{&t.HitTokens, o.HitTokens},
		{&t.Output, o.Output},
	} {
		*pair.to += pair.from
	}
	for _, pair := range []struct {
		to   *Durations
		from Durations
	}{
		{&t.QueueTime, o.QueueTime},
		{&t.Transfers, o.Transfers},
		{&t.FirstToken, o.FirstToken},
		{&t.BetweenTokens, o.BetweenTokens},
		{&t.EndToEnd, o.EndToEnd},
	} {
		pair.to.Count += pair.from.Count
		pair.to.Sum += pair.from.Sum
		pair.to.Values = slices.Concat(pair.to.Values, pair.from.Values)
	}
	t.Running += o.Running
	t.Waiting += o.Waiting
	t.KVTokens += o.KVTokens
	t.KVCapacity += o.KVCapacity
	t.Bootstrap += o.Bootstrap
	t.Inflight += o.Inflight
	t.Prealloc += o.Prealloc
	t.Transferring += o.Transferring
	t.Paused = t.Paused || o.Paused
	t.WeightUpdate = max(t.WeightUpdate, o.WeightUpdate)
}

// Life is one process of an engine, from its start to its end.
type Life struct {
	Engine    string
	Number    int           // of the engine's lives, from 0
	Address   string        // host:port
	Started   time.Duration // virtual time
	StartedAt time.Time     // by the clock, as _created says
	Ended     bool
	Serves    int // completely written expositions
	// What was counted at the first and the last serve, whole and by scheduler; zero before the first.
	First, Last             Totals
	FirstByRank, LastByRank []Totals
}

func (l *Life) served(byRank []Totals) {
	var whole Totals
	for _, t := range byRank {
		whole.add(t)
	}
	if l.Serves == 0 {
		l.First, l.FirstByRank = whole, byRank
	}
	l.Last, l.LastByRank = whole, byRank
	l.Serves++
}

// account adds events to totals in the way of a producer.
type account struct {
	Totals
	atFinish bool // SGLang: a request's figures count when it has finished
	keep     bool
}

func (a *account) scheduled(r *request, wait time.Duration) {
	a.QueueTime.add(wait, 1, a.keep)
	a.CachedTokens += int64(r.cached)
	a.ComputedTokens += int64(r.prompt - r.cached)
}

func (a *account) repeated(tokens int) { a.RepeatedTokens += int64(tokens) }

func (a *account) firstToken(r *request) {
	if !a.atFinish {
		a.request(r)
		a.Output++
	}
}

func (a *account) request(r *request) {
	a.FirstToken.add(r.firstToken-r.arrived, 1, a.keep)
	a.PromptTokens += int64(r.prompt)
	a.HitTokens += int64(r.cached)
}

func (a *account) tokens(n int, each time.Duration) {
	a.DecodedTokens += int64(n)
	if !a.atFinish {
		a.Output += int64(n)
		a.BetweenTokens.add(each, int64(n), a.keep)
	}
}

func (a *account) preempted(r *request) {
	a.Preemptions++
	a.PreemptedInput += int64(r.prompt)
	a.PreemptedOutput += int64(r.generated)
}

func (a *account) transferred(took time.Duration, bytes int64) {
	a.Transfers.add(took, 1, a.keep)
	a.TransferredBytes.add(bytes)
}

func (a *account) finished(r *request, at time.Duration, aborted bool) {
	if aborted {
		a.Aborted++
		return
	}
	a.Finished++
	if r.cutOff {
		a.CutOff++
	}
	a.EndToEnd.add(at-r.arrived, 1, a.keep)
	if !a.atFinish {
		return
	}
	a.request(r)
	a.Output += int64(r.generated)
	for _, d := range r.deliveries {
		a.BetweenTokens.add(d.each, int64(d.tokens), a.keep)
	}
}
