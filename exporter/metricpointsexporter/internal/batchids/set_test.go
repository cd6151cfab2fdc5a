package batchids

import (
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/pitwall-otel/pitwall/exporter/metricpointsexporter/internal/points"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// clocked is a Set under a clock that the test sets.
type clocked struct {
	*Set
	t    testing.TB
	now  time.Duration
	logs *observer.ObservedLogs
}

func open(t testing.TB, dir string, window time.Duration, entries int) *clocked {
	core, logs := observer.New(zap.WarnLevel)
	c := &clocked{t: t, logs: logs}
	var err error
	c.Set, err = Open(Options{Dir: dir, Window: window, MaxEntries: entries, Elapsed: func() time.Duration { return c.now }, Logger: zap.New(core)})
	require.NoError(t, err)
	return c
}

func id(n int) (id points.BatchID) {
	binary.BigEndian.PutUint64(id[:], uint64(n)+1)
	return id
}

func (c *clocked) keep(from, to int) {
	for n := from; n < to; n++ {
		c.Keep(id(n))
	}
}

// knows asks as a request does; one that is not known ends without being accepted.
func (c *clocked) knows(n int) bool {
	known, err := c.Begin(context.Background(), id(n))
	require.NoError(c.t, err)
	if !known {
		c.Finish(id(n))
	}
	return known
}

func (c *clocked) known(from, to int) (count int) {
	for n := from; n < to; n++ {
		if c.knows(n) {
			count++
		}
	}
	return count
}

func entriesOnDisk(t *testing.T, dir string) (entries int) {
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	for _, file := range files {
		info, err := os.Stat(file)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode(), file)
		entries += int(info.Size()) / 16
	}
	return entries
}

func TestSet_KnowsForTheWindow(t *testing.T) {
	dir := t.TempDir()
	c := open(t, dir, time.Hour, 100)
	c.keep(0, 1)
	for _, step := range []struct {
		after time.Duration
		want  bool
	}{{0, true}, {59*time.Minute + 59*time.Second, true}, {time.Hour, false}} {
		c.now = step.after
		assert.Equal(t, step.want, c.knows(0), step.after)
	}
	// An id every minute for ten hours: no more than an hour and a quarter of them is anywhere.
	for minute := range 600 {
		c.now = time.Duration(minute) * time.Minute
		c.keep(minute, minute+1)
		require.LessOrEqual(t, c.entries, 76)
	}
	assert.Equal(t, 60, c.known(540, 600), "those of the last hour")
	assert.LessOrEqual(t, c.known(0, 600), 76)
	c.Close()
	assert.LessOrEqual(t, entriesOnDisk(t, dir), 76)
}

// After a restart, however long the collector was down and whatever the wall clock says now, the window begins anew.
func TestSet_WindowAfterARestart(t *testing.T) {
	dir := t.TempDir()
	c := open(t, dir, time.Hour, 100)
	c.keep(0, 10)
	c.now = 50 * time.Minute
	c.Close()
	again := open(t, dir, time.Hour, 100)
	again.now = 59 * time.Minute
	assert.Equal(t, 10, again.known(0, 10))
	again.now = 61 * time.Minute
	again.keep(20, 21)
	assert.Zero(t, again.known(0, 10))
	again.Close()
	assert.Equal(t, 1, entriesOnDisk(t, dir))
}

func TestSet_BoundedByNumber(t *testing.T) {
	for _, limit := range []int{1, 3, 4, 100, 1000} {
		dir := t.TempDir()
		c := open(t, dir, time.Hour, limit)
		last := min(5*limit+7, 2500)
		for n := range last {
			c.keep(n, n+1)
			require.LessOrEqual(t, c.entries, limit)
			require.True(t, c.knows(n), "the newest one")
		}
		newest := limit - limit/parts
		assert.Equal(t, newest, c.known(last-newest, last), "limit %d", limit)
		c.Close()
		assert.LessOrEqual(t, entriesOnDisk(t, dir), limit)
		again := open(t, dir, time.Hour, limit)
		assert.Equal(t, newest, again.known(last-newest, last), "limit %d, after a restart", limit)
	}
}

func TestSet_ARepeatedIDTakesNoRoom(t *testing.T) {
	dir := t.TempDir()
	c := open(t, dir, time.Hour, 100)
	for range 50 {
		c.keep(0, 2)
	}
	c.Close()
	assert.Equal(t, 2, entriesOnDisk(t, dir))
}

// Whatever a crash leaves of the youngest file, whole entries are known, and adding goes on behind them.
func TestSet_TornFile(t *testing.T) {
	whole := t.TempDir()
	first := open(t, whole, time.Hour, 100)
	first.keep(0, 3)
	first.Close()
	content, err := os.ReadFile(filepath.Join(whole, "0000000000000001.ids"))
	require.NoError(t, err)
	require.Len(t, content, 3*16)
	for n := range len(content) + 1 {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "0000000000000001.ids"), content[:n], 0o600))
		c := open(t, dir, time.Hour, 100)
		require.Equal(t, n/16, c.known(0, 3), "cut at %d", n)
		c.keep(10, 12)
		c.Close()
		again := open(t, dir, time.Hour, 100)
		require.Equal(t, n/16, again.known(0, 3))
		require.Equal(t, 2, again.known(10, 12))
	}
	// A page of zeros, as some file systems leave one, is no ids.
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "0000000000000001.ids"), append(make([]byte, 160), content...), 0o600))
	c := open(t, dir, time.Hour, 100)
	assert.Equal(t, 3, c.known(0, 3))
	known, err := c.Begin(context.Background(), points.BatchID{})
	require.NoError(t, err)
	assert.False(t, known)
}

func FuzzOpen(f *testing.F) {
	f.Add([]byte("0123456789abcdef0123456789ABCDEFtail"))
	f.Fuzz(func(t *testing.T, content []byte) {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "0000000000000007.ids"), content, 0o600))
		c := open(t, dir, time.Hour, 100)
		require.LessOrEqual(t, c.entries, len(content)/16)
		c.keep(0, 1)
		c.Close()
		require.True(t, open(t, dir, time.Hour, 100).knows(0))
	})
}

func TestSet_WaitsForTheSameID(t *testing.T) {
	f := func(accepted bool) {
		t.Helper()
		c := open(t, t.TempDir(), time.Hour, 100)
		known, err := c.Begin(context.Background(), id(1))
		require.NoError(t, err)
		require.False(t, known)
		require.False(t, c.knows(2), "another id does not wait")

		answers := make(chan bool)
		for range 3 {
			go func() {
				known, _ := c.Begin(context.Background(), id(1))
				if !known {
					c.Finish(id(1))
				}
				answers <- known
			}()
		}
		gone, cancel := context.WithCancel(context.Background())
		cancel()
		_, err = c.Begin(gone, id(1))
		require.ErrorIs(t, err, context.Canceled)
		select {
		case <-answers:
			t.Fatal("answered before the first")
		default:
		}
		if accepted {
			c.Keep(id(1))
		}
		c.Finish(id(1))
		for range 3 {
			require.Equal(t, accepted, <-answers)
		}
		require.Empty(t, c.flying)
	}
	f(true)
	f(false)
}

// A disk that takes nothing costs the memory of a restart, not the points; later it is tried again.
func TestSet_WhenTheDiskTakesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ids")
	c := open(t, dir, time.Hour, 100)
	require.NoError(t, os.WriteFile(dir, nil, 0o600)) // where the folder should be
	c.keep(0, 3)
	c.Sync()
	assert.Equal(t, 1, c.logs.Len())
	assert.Equal(t, 3, c.known(0, 3))
	require.NoError(t, os.Remove(dir))
	c.Close()
	assert.Equal(t, 3, open(t, dir, time.Hour, 100).known(0, 3))
}

func BenchmarkSet(b *testing.B) {
	c := open(b, b.TempDir(), time.Hour, 1_000_000)
	b.ReportAllocs()
	ctx := context.Background()
	for n := range b.N {
		if known, _ := c.Begin(ctx, id(n)); known {
			b.Fatal(n)
		}
		c.Keep(id(n))
		c.Finish(id(n))
	}
	c.Close()
}
