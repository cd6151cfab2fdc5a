package faults

import (
	"testing"
	"time"
)

// The collector dies at random moments under load.
func TestKillOfTheCollector(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.collector.Start()
	clients := r.send(usual)
	for range rounds(20) {
		r.acknowledges(1)
		moment(800 * time.Millisecond)
		r.collector.Kill()
		r.collector.Launch()
	}
	r.acknowledges(1)
	clients.stop()
	r.finish(0)
}

// The engine has the rows, its answer gets lost, and the collector dies before it can ask again: after the next start the
// same ranges go out, and the engine knows their tokens.
func TestKillBetweenInsertAndMark(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.collector.Start()
	clients := r.send(usual)
	for range rounds(8) {
		r.acknowledges(1)
		r.proxy.inject(loseAnswer)
		met := r.proxy.broken.Load()
		r.until(func() bool { return r.proxy.broken.Load() >= met+2 }, "two answers lost")
		r.collector.Kill()
		r.proxy.heal()
		r.collector.Launch()
	}
	r.acknowledges(1)
	clients.stop()
	r.finish(0)
}

// The collector dies at random moments of its start, with a backlog to read.
func TestKillDuringStart(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.collector.Start()
	r.proxy.inject(cut)
	clients := r.send(usual)
	r.acknowledges(200_000)
	clients.stop()
	r.collector.Kill()
	for round := range rounds(20) {
		if round%2 == 1 {
			r.proxy.inject(every(2, loseAnswer)) // some of the backlog goes, half of that without a mark
		} else {
			r.proxy.inject(cut)
		}
		r.collector.Launch()
		moment(400 * time.Millisecond)
		r.collector.Kill()
	}
	r.proxy.heal()
	inserts, began := r.proxy.inserts.Load(), time.Now()
	r.collector.Launch()
	r.until(func() bool {
		return r.proxy.inserts.Load() > inserts || r.now()["points_queued"] == 0 && len(r.now()) > 0
	}, "an INSERT")
	t.Logf("from start to the first INSERT, or to an empty log: %.1f s", time.Since(began).Seconds())
	r.finish(0)
}

// The engine dies under load, in the middle of INSERTs; clients notice nothing.
func TestKillOfTheEngine(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.collector.Start()
	clients := r.send(usual)
	for range rounds(5) {
		inserts := r.proxy.inserts.Load()
		r.until(func() bool { return r.proxy.inserts.Load() > inserts }, "an INSERT")
		moment(500 * time.Millisecond)
		r.engine.Kill()
		r.acknowledges(5000)
		r.engine.Restart()
	}
	clients.stop()
	got := r.finish(0)
	if got.refused+got.unknown > 0 {
		t.Errorf("%d points refused and %d without an answer: an engine's death must not reach clients", got.refused, got.unknown)
	}
}
