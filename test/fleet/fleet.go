package fleet

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// Options of a fleet.
type Options struct {
	Seed    uint64
	Engines []Spec
	Router  RouterVersion // empty: no router
	// RouterTimeout is how long the router waits for a worker; 0: 5 s, as the routers do.
	RouterTimeout time.Duration
	// Tick is the step of the simulation; 0: 100 ms.
	Tick time.Duration
	// KeepValues keeps every observation in the ledger, for the counts of buckets; it grows with the requests.
	KeepValues bool
	// Offline engines serve nothing: only the simulation and the ledger, for times that are past.
	Offline bool
}

// Fleet is a set of engines that run. Close stops it.
type Fleet struct {
	options Options
	engines []*Engine
	byName  map[string]*Engine
	router  *Router

	mu      sync.Mutex // guards all engines' state
	now     time.Duration
	lives   []*Life
	routed  Routed
	took    *histogram // from arrival to answer, as the router sees it
	serving sync.WaitGroup
}

// Start starts the engines at the virtual time 0.
func Start(options Options) (*Fleet, error) {
	set(&options.Tick, 100*time.Millisecond)
	set(&options.RouterTimeout, 5*time.Second)
	f := &Fleet{options: options, byName: map[string]*Engine{}, took: newHistogram(
		.001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 15, 30, 45, 60, 90, 120, 180, 240,
	)}
	for i, spec := range options.Engines {
		if spec.Version.number() == "" {
			return nil, fmt.Errorf("engine %s: version %q is not known", spec.Name, spec.Version)
		}
		if f.byName[spec.Name] != nil {
			return nil, fmt.Errorf("two engines are called %q", spec.Name)
		}
		e := &Engine{fleet: f, spec: spec.withDefaults(), index: uint64(i)}
		f.engines, f.byName[spec.Name] = append(f.engines, e), e
	}
	var err error
	for _, e := range f.engines {
		if e.spec.Role == Prefill && f.byName[e.spec.Peer] == nil {
			err = errors.Join(err, fmt.Errorf("engine %s: its peer %q is not in the fleet", e.spec.Name, e.spec.Peer))
			continue
		}
		err = errors.Join(err, e.start())
	}
	if err == nil && options.Router != "" {
		f.router, err = startRouter(f)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Engines are in the order of the options.
func (f *Fleet) Engines() []*Engine { return f.engines }

// Engine returns one by its name, or nil.
func (f *Fleet) Engine(name string) *Engine { return f.byName[name] }

// Router is nil without one.
func (f *Fleet) Router() *Router { return f.router }

// Now is the virtual time since the start.
func (f *Fleet) Now() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

// Advance moves the virtual time on by whole ticks, at least d.
func (f *Fleet) Advance(d time.Duration) {
	for range (d + f.options.Tick - 1) / f.options.Tick {
		f.tick()
	}
}

func (f *Fleet) tick() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range f.engines {
		e.step(f.now, f.options.Tick)
	}
	f.now += f.options.Tick
}

// Drive advances the virtual time with the clock, speed times as fast, until the context ends.
func (f *Fleet) Drive(ctx context.Context, speed float64) {
	ticker := time.NewTicker(max(time.Millisecond, min(100*time.Millisecond, time.Duration(float64(f.options.Tick)/speed))))
	defer ticker.Stop()
	start, from := time.Now(), f.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			f.Advance(from + time.Duration(float64(time.Since(start))*speed) - f.Now())
		}
	}
}

// Lives is the ledger: every life of every engine, in the order of their starts.
func (f *Fleet) Lives() []Life {
	f.mu.Lock()
	defer f.mu.Unlock()
	lives := make([]Life, len(f.lives))
	for i, life := range f.lives {
		lives[i] = *life
	}
	return lives
}

// Close stops all servers and waits for them.
func (f *Fleet) Close() {
	for _, e := range f.engines {
		e.stop()
	}
	if f.router != nil {
		f.router.close()
	}
	f.serving.Wait()
}

func (f *Fleet) serve(server *http.Server, listener net.Listener) {
	f.serving.Go(func() { _ = server.Serve(listener) }) // it ends with an error always, by Close
}
