package batchids

import (
	"context"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/pitwall-otel/pitwall/exporter/metricpointsexporter/internal/points"
)

// parts is the number of generations that the window and the number of ids are divided into: what is forgotten early
// for want of room is at most one of them.
const parts = 4

// Options of a Set.
type Options struct {
	Dir        string        // made with mode 0700 at the first id
	Window     time.Duration // how long an id is known, at least, and at most a quarter longer
	MaxEntries int           // ids known at once, at about 40 bytes of memory each and 16 on disk; the oldest go first
	// Elapsed is the time since some moment before Open, by a clock that is never set.
	Elapsed func() time.Duration
	Logger  *zap.Logger
}

// Set is the ids known. Begin and Finish may be called concurrently with everything, Keep, Sync and Close not with
// each other.
type Set struct {
	opts  Options
	files files

	mu          sync.Mutex
	generations []*generation // oldest first; ids are added to the last
	entries     int           // of all generations
	flying      map[points.BatchID]chan struct{}
}

// generation is the ids of one file.
type generation struct {
	number uint64
	ids    map[points.BatchID]struct{}
	first  time.Duration // when the first and the last of them were added
	last   time.Duration
}

// Open reads the ids in opts.Dir. It changes no file: who may is not clear before the log is open.
func Open(opts Options) (*Set, error) {
	s := &Set{opts: opts, files: files{dir: opts.Dir, log: opts.Logger}, flying: map[points.BatchID]chan struct{}{}}
	generations, err := s.files.open()
	if err != nil {
		return nil, fmt.Errorf("read batch ids in %s: %w", opts.Dir, err)
	}
	s.generations = generations
	for _, g := range generations {
		g.first = opts.Elapsed()
		g.last = g.first
		s.entries += len(g.ids)
	}
	return s, nil
}

// Begin returns true if the request with that id was accepted before. Otherwise the caller must call Finish, and until
// then other requests with that id wait for what becomes of this one.
func (s *Set) Begin(ctx context.Context, id points.BatchID) (bool, error) {
	for {
		s.mu.Lock()
		if s.known(id) {
			s.mu.Unlock()
			return true, nil
		}
		done, ok := s.flying[id]
		if !ok {
			s.flying[id] = make(chan struct{})
			s.mu.Unlock()
			return false, nil
		}
		s.mu.Unlock()
		select {
		case <-done:
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

// Finish ends what Begin began. Whether the request was accepted is known from Keep.
func (s *Set) Finish(id points.BatchID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.flying[id])
	delete(s.flying, id)
}

// known reports whether the id is within the window. s.mu is held.
func (s *Set) known(id points.BatchID) bool {
	now := s.opts.Elapsed()
	for _, g := range s.generations {
		if _, ok := g.ids[id]; ok && now-g.last < s.opts.Window {
			return true
		}
	}
	return false
}

// Keep makes the id known. Its points must be on disk.
func (s *Set) Keep(id points.BatchID) {
	s.mu.Lock()
	if s.known(id) {
		s.mu.Unlock()
		return
	}
	now := s.opts.Elapsed()
	g := s.youngest(now)
	begun := g == nil
	if begun {
		g = &generation{number: s.files.next(), ids: map[points.BatchID]struct{}{}, first: now}
		s.generations = append(s.generations, g)
	}
	g.ids[id], g.last = struct{}{}, now
	s.entries++
	forgotten := s.forget(now)
	s.mu.Unlock()

	if begun {
		s.files.begin(g.number)
	}
	s.files.append(id)
	s.files.remove(forgotten)
}

// youngest is the generation that takes an id now; nil if another has to be begun. s.mu is held.
func (s *Set) youngest(now time.Duration) *generation {
	if len(s.generations) == 0 {
		return nil
	}
	g := s.generations[len(s.generations)-1]
	if len(g.ids) >= max(1, s.opts.MaxEntries/parts) || now-g.first > s.opts.Window/parts {
		return nil
	}
	return g
}

// forget takes out the oldest generations, those that no window reaches and those that are too many, and returns their
// numbers. s.mu is held.
func (s *Set) forget(now time.Duration) (numbers []uint64) {
	for len(s.generations) > 0 && (s.entries > s.opts.MaxEntries || now-s.generations[0].last >= s.opts.Window) {
		g := s.generations[0]
		s.generations[0] = nil // or its memory stays
		s.generations = s.generations[1:]
		s.entries -= len(g.ids)
		numbers = append(numbers, g.number)
	}
	return numbers
}

// Sync returns when the ids kept so far are on disk, or a line in the log says why they are not.
func (s *Set) Sync() { s.files.sync() }

// Close is a Sync that ends it all.
func (s *Set) Close() { s.files.close() }
