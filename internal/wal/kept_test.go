package wal

import (
	"context"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// witness keeps what a user of Kept and Sealing would: what was told, and of that what was told before the last Sealing.
type witness struct {
	mu           sync.Mutex
	told, sealed map[string]bool
}

func newWitness() *witness {
	return &witness{told: map[string]bool{}, sealed: map[string]bool{}}
}

func (w *witness) options(o Options) Options {
	o.Kept = func(payload []byte) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.told[string(payload)] = true
	}
	o.Sealing = func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.sealed = maps.Clone(w.told)
	}
	return o
}

func (w *witness) knows(payload []byte) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.told[string(payload)]
}

// Whenever the process ends, what was told before the last Sealing and what the next Open tells are all that was ever
// acknowledged, through any number of segments, also those that are done and deleted.
func TestKept_NothingIsMissedAcrossSegments(t *testing.T) {
	dir, known := quickDir(t), map[string]bool{}
	var appended []string
	unsealed := 0
	for opening := range 5 {
		w := newWitness()
		l, err := Open(w.options(Options{Dir: dir, MaxBytes: minMaxBytes, CutRows: 5, CutInterval: time.Millisecond}))
		require.NoError(t, err)
		maps.Copy(known, w.told)
		require.Equal(t, slices.Sorted(slices.Values(appended)), slices.Sorted(maps.Keys(known)), "opening %d", opening)
		for n := range 44 {
			payload := numbered(uint64(100*opening+n), 1000)
			require.NoError(t, l.Append(context.Background(), payload, 1))
			require.True(t, w.knows(payload), "told before Append returns")
			appended = append(appended, string(payload))
			if n%10 == 9 {
				drainInto(t, l, newStore())
			}
		}
		crashed := quickDir(t) // without what Close does
		copyLog(t, dir, crashed)
		require.NoError(t, l.Close())
		maps.Copy(known, w.sealed)
		require.NotEmpty(t, w.sealed)
		unsealed += len(w.told) - len(w.sealed)
		dir = crashed
	}
	require.Positive(t, unsealed, "else no Open had anything to tell")
}

func TestKept_RefusedIsNotTold(t *testing.T) {
	w := newWitness()
	l, err := Open(w.options(Options{Dir: quickDir(t), MinFreeBytes: 1 << 60}))
	require.NoError(t, err)
	require.ErrorIs(t, l.Append(context.Background(), []byte("p"), 1), ErrFull)
	require.NoError(t, l.Close())
	require.Empty(t, w.told)
}
