package enginereceiver

import (
	"context"
	"hash/fnv"
	"time"

	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/targets"
)

// loop scrapes one target, never twice at the same time.
type loop struct {
	target targets.Target
	cancel context.CancelFunc
	done   chan struct{}
}

// start begins the target's loop. Where the target was known under other labels, before is the loop that scrapes it so;
// it is told to end, and the new one waits for that.
func (r *engineReceiver) start(ctx context.Context, target targets.Target, before *loop) *loop {
	ctx, cancel := context.WithCancel(ctx)
	l := &loop{target: target, cancel: cancel, done: make(chan struct{})}
	r.wg.Go(func() {
		defer close(l.done)
		defer cancel()
		if before != nil {
			<-before.done
		}
		r.run(ctx, target)
	})
	return l
}

// run scrapes at the target's turns. A scrape that takes longer than the interval makes it miss turns, which are counted.
func (r *engineReceiver) run(ctx context.Context, target targets.Target) {
	p := newPage(r, target)
	interval := r.cfg.CollectionInterval
	turn := nextTurn(target.Name, interval, time.Now())
	timer := time.NewTimer(time.Until(turn))
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		// Waiting for a place counts against the target: its turns pass.
		select {
		case <-ctx.Done():
			return
		case r.places <- struct{}{}:
		}
		p.scrape(ctx)
		<-r.places
		following := turn.Add(interval)
		turn = nextTurn(target.Name, interval, later(turn, time.Now()))
		if missed := turn.Sub(following) / interval; missed > 0 {
			p.skip(ctx, int(missed))
		}
		timer.Reset(time.Until(turn))
	}
}

// later is for a timer that fires a moment before the wall clock is there.
func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// nextTurn returns the first turn after now. Turns follow from the name alone: targets are spread over the interval,
// and a restart of the collector leaves no target with a gap or two scrapes in a row.
func nextTurn(name string, interval time.Duration, now time.Time) time.Time {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // never fails
	phase := time.Duration(h.Sum64() % uint64(interval))
	since := time.Duration(now.UnixNano()) - phase
	return now.Add(interval - since%interval)
}
