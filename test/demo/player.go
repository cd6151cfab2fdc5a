package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pitwall-otel/pitwall/test/demo/engines"
	"github.com/pitwall-otel/pitwall/test/demo/simulation"
	"github.com/pitwall-otel/pitwall/test/demo/telemetry"
	"github.com/pitwall-otel/pitwall/test/fleet"
)

// player sends one run: what is past at once, then second by second.
type player struct {
	spec     simulation.Spec
	timeline *simulation.Timeline
	client   *telemetry.Client
	ledger   *simulation.Ledger
	register *registrar

	engines *engines.Engines // that serve, live
	totals  []fleet.Totals   // of the engines at their last reading in the past

	chunk *simulation.Chunk // under way
	sent  time.Time         // up to where
}

func newPlayer(spec simulation.Spec, o options) (*player, error) {
	client, err := telemetry.NewClient(o.otlp)
	if err != nil {
		return nil, err
	}
	return &player{
		spec: spec, timeline: simulation.NewTimeline(spec), client: client, ledger: simulation.NewLedger(),
		register: newRegistrar(o.registration, spec), sent: spec.Start.Add(-1),
	}, nil
}

func (p *player) close() {
	p.client.Close()
	p.register.close()
}

// next makes the chunk under way another when it is over; false at the run's end.
func (p *player) next(read func(*simulation.Chunk) error) (bool, error) {
	if p.chunk != nil && p.sent.Before(p.chunk.End) {
		return true, nil
	}
	p.chunk = p.timeline.Next()
	if p.chunk == nil {
		return false, nil
	}
	p.sent = p.chunk.Begin.Add(-1) // what happens at its very begin belongs to it
	if err := read(p.chunk); err != nil {
		return false, err
	}
	p.ledger.Add(p.spec, p.chunk)
	return true, nil
}

// past sends everything up to now. What is under way then is sent in part.
func (p *player) past(ctx context.Context, now time.Time) error {
	if !p.spec.Start.Before(now) {
		return nil
	}
	work, err := engines.Start(p.spec, p.spec.Start, false)
	if err != nil {
		return err
	}
	defer work.Close()
	for p.sent.Before(now) {
		more, err := p.next(func(c *simulation.Chunk) error { return work.Read(c, now) })
		if err != nil {
			return err
		}
		if !more {
			break
		}
		if err := p.send(ctx, now); err != nil {
			return err
		}
	}
	p.totals = work.Totals()
	return p.client.Flush(ctx)
}

func (p *player) send(ctx context.Context, to time.Time) error {
	if to.After(p.chunk.End) {
		to = p.chunk.End
	}
	if err := p.client.Add(ctx, p.chunk, p.sent, to); err != nil {
		return err
	}
	p.sent = to
	return nil
}

// live goes on with the clock: engines that serve, and every second what has happened in it.
func (p *player) live(ctx context.Context) error {
	if !p.spec.End.IsZero() {
		return nil
	}
	work, err := engines.Start(p.spec, time.Now(), true)
	if err != nil {
		return err
	}
	defer work.Close()
	p.engines = work
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		if err := p.second(ctx, work, time.Now()); err != nil && !errors.Is(err, context.Canceled) {
			return fmt.Errorf("run %s: %w", p.spec.ID, err)
		}
		p.register.renew(ctx, work.Fleet())
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// second sends what has happened up to now, and lets the engines do it.
func (p *player) second(ctx context.Context, work *engines.Engines, now time.Time) error {
	for p.sent.Before(now) {
		more, err := p.next(func(*simulation.Chunk) error { return nil })
		if err != nil || !more {
			return err
		}
		to := now
		if to.After(p.chunk.End) {
			to = p.chunk.End
		}
		if err := work.Advance(p.chunk, p.sent, to); err != nil {
			return err
		}
		if err := p.send(ctx, to); err != nil {
			return err
		}
	}
	return p.client.Flush(ctx)
}
