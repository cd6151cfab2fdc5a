package wal

import (
	"bytes"
	"context"
	"encoding/binary"
	"maps"
	"os"
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
	o.Sealing = func() []byte {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.sealed = maps.Clone(w.told)
		return nil
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

// sum is a witness that has no files: it knows how often each payload was told, by what it carries from header to header.
type sum struct {
	told    map[uint32]uint32 // times, by checksum
	unknown int               // how often it was told of something unreadable
}

func (s *sum) options(o Options) Options {
	s.told, s.unknown = map[uint32]uint32{}, 0
	o.Kept = func(payload []byte) {
		if payload == nil {
			s.unknown++
			return
		}
		s.told[checksum(payload)]++
	}
	o.Sealing = func() (carried []byte) {
		for c, n := range s.told {
			carried = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(carried, c), n)
		}
		return carried
	}
	o.Carried = func(carried []byte) {
		clear(s.told)
		for entry := range slices.Chunk(carried, 8) {
			s.told[binary.LittleEndian.Uint32(entry)] = binary.LittleEndian.Uint32(entry[4:])
		}
	}
	return o
}

// What the newest header carries and what is told of the records behind it are together everything, each once; whether
// payloads have rows or not, and however many segments are deleted meanwhile.
func TestCarried_EverythingOnceThroughAnyNumberOfSegments(t *testing.T) {
	dir, want := quickDir(t), map[uint32]uint32{}
	for opening := range 5 {
		var s sum
		l, err := Open(s.options(Options{Dir: dir, MaxBytes: minMaxBytes, CutRows: 5, CutInterval: time.Millisecond}))
		require.NoError(t, err)
		require.Equal(t, want, s.told, "opening %d", opening)
		store := newStore()
		for n := range 44 {
			payload, rows := numbered(uint64(100*opening+n), 1000), n%3
			require.NoError(t, l.Append(context.Background(), payload, rows))
			want[checksum(payload)]++
			if n%10 == 9 {
				drainInto(t, l, store)
			}
		}
		require.NoError(t, l.Close())
		require.Zero(t, s.unknown)
	}
}

// Payloads without rows are in no range, and take nothing from those beside them.
func TestAppend_WithoutRows(t *testing.T) {
	dir := quickDir(t)
	l, err := Open(Options{Dir: dir, CutRows: 1000, CutInterval: time.Millisecond})
	require.NoError(t, err)
	var want []string
	for n := range 30 {
		payload := numbered(uint64(n), 100)
		require.NoError(t, l.Append(context.Background(), payload, n%2))
		if n%2 == 1 {
			want = append(want, string(payload))
		}
	}
	require.EqualValues(t, 15, l.Stats().Rows)
	require.NoError(t, l.Close())
	l, err = Open(Options{Dir: dir, CutRows: 1000, CutInterval: time.Millisecond})
	require.NoError(t, err)
	require.EqualValues(t, 15, l.Stats().Rows)
	var got []string
	for len(got) < len(want) {
		r, err := l.Next(context.Background())
		require.NoError(t, err)
		_, err = l.Read(r, func(payload []byte, rows int) error {
			require.Equal(t, 1, rows)
			got = append(got, string(payload))
			return nil
		})
		require.NoError(t, err)
		l.Done(r)
	}
	require.Equal(t, want, got)
	stats := l.Stats()
	require.Zero(t, stats.Rows)
	require.Zero(t, stats.Bytes)
	require.NoError(t, l.Close())
}

// What cannot be read is told as nil, before what stands behind it; the torn end of a crash is not: it was never acknowledged.
func TestKept_Unreadable(t *testing.T) {
	dir := quickDir(t)
	var s sum
	l, err := Open(s.options(Options{Dir: dir, CutInterval: time.Hour}))
	require.NoError(t, err)
	header := l.active.size
	for n := range 3 {
		require.NoError(t, l.Append(context.Background(), numbered(uint64(n), 1000), 1))
	}
	path := l.active.path
	require.NoError(t, l.Close())
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	second := header + recordBytes(1000)

	f := func(unknown, told int, damage func([]byte) []byte) {
		t.Helper()
		require.NoError(t, os.WriteFile(path, damage(bytes.Clone(content)), 0o600))
		l, err := Open(s.options(Options{Dir: dir}))
		require.NoError(t, err)
		require.Equal(t, unknown, s.unknown)
		require.Len(t, s.told, told)
		next := l.active.path
		require.NoError(t, l.Close())
		require.NoError(t, os.Remove(next))
	}
	f(0, 3, func(b []byte) []byte { return b })
	f(1, 2, func(b []byte) []byte { b[second+headerBytes+8]++; return b })
	f(1, 2, func(b []byte) []byte { b[second]++; return b })
	f(0, 2, func(b []byte) []byte { return b[:len(b)-20] })
}
