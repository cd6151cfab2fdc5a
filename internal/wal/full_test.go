package wal

import (
	"errors"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"golang.org/x/sys/unix"
)

// fill appends until the log refuses and returns what it took.
func fill(t *testing.T, l *Log, from uint64, size int) (acked []uint64, err error) {
	t.Helper()
	for id := from; ; id++ {
		if err = l.Append(t.Context(), numbered(id, size), 1); err != nil {
			require.ErrorIs(t, err, ErrFull)
			return acked, err
		}
		acked = append(acked, id)
	}
}

func TestLog_FullByBytes(t *testing.T) {
	dir := quickDir(t)
	l := open(t, Options{Dir: dir, MaxBytes: 1 << 20, CutRows: 10, Logger: zap.NewNop()})
	acked, err := fill(t, l, 0, 1000)
	require.ErrorContains(t, err, "of at most 1048576 bytes in "+dir)
	require.InDelta(t, 1000, len(acked), 60)
	s := l.Stats()
	require.LessOrEqual(t, s.DiskBytes, int64(1<<20))

	// It drops nothing, and takes more as soon as something has gone.
	got := newStore()
	for range s.Ranges / 2 {
		r := take(t, l)
		got.insert(t, r.Token(), ids(t, l, r))
		l.Done(r)
	}
	waitFor(t, "room", func() bool { return l.Stats().DiskBytes < 900<<10 })
	more, _ := fill(t, l, 10_000, 1000)
	require.NotEmpty(t, more)
	drainInto(t, l, got)
	got.requireExactlyOnce(t, append(acked, more...), nil)
}

// One segment that takes the whole room must not stay when all of it is done.
func TestLog_FullRecoversWhenOnlyTheActiveSegmentIsLeft(t *testing.T) {
	dir := smallDisk(t)
	l := open(t, Options{Dir: dir, CutRows: 10, CutInterval: time.Millisecond, Logger: zap.NewNop()})
	got := newStore()
	var acked []uint64
	for round := range uint64(4) {
		more, err := fill(t, l, round*10_000, 10_000)
		require.ErrorContains(t, err, "must remain")
		require.Greater(t, len(more), 100)
		acked = append(acked, more...)
		drainInto(t, l, got)
		waitFor(t, "room after everything was done", func() bool {
			return l.Append(t.Context(), numbered(round*10_000+9_999, 10_000), 1) == nil
		})
		acked = append(acked, round*10_000+9_999)
	}
	drainInto(t, l, got)
	got.requireExactlyOnce(t, acked, nil)
}

// Nor may it stay when others leave no room even for the next one.
func TestLog_FullRecoversWithoutRoomForAnotherFile(t *testing.T) {
	dir := smallDisk(t)
	l := open(t, Options{Dir: dir, CutRows: 10, CutInterval: time.Millisecond, Logger: zap.NewNop()})
	acked, _ := fill(t, l, 0, 10_000)
	got := newStore()
	var held []Range
	for rows := 0; rows < len(acked); rows += held[len(held)-1].Rows {
		held = append(held, take(t, l))
		got.insert(t, held[len(held)-1].Token(), ids(t, l, held[len(held)-1]))
	}
	filler(t, dir)
	for _, r := range held {
		l.Done(r)
	}
	waitFor(t, "room after everything was done", func() bool {
		return l.Append(t.Context(), numbered(9_999, 10_000), 1) == nil
	})
	drainInto(t, l, got)
	got.requireExactlyOnce(t, append(acked, 9_999), nil)
}

// smallDisk is a file system of its own, so that it can be filled.
func smallDisk(t *testing.T) string {
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=4m"); err != nil {
		t.Skipf("a file system to fill needs root: mount: %v; TestLog_FileSizeLimit runs instead", err)
	}
	t.Cleanup(func() { require.NoError(t, unix.Unmount(dir, unix.MNT_DETACH)) })
	return filepath.Join(dir, "log")
}

// filler takes all that is left of a disk.
func filler(t *testing.T, dir string) (free func()) {
	path := filepath.Join(filepath.Dir(dir), "filler")
	f, err := os.Create(path)
	require.NoError(t, err)
	for size := 64 << 10; size > 0; {
		if _, err := f.Write(make([]byte, size)); err != nil {
			require.ErrorIs(t, err, unix.ENOSPC)
			size /= 2
		}
	}
	require.NoError(t, f.Close())
	return func() { require.NoError(t, os.Remove(path)) }
}

// blind makes the log believe in free space, so that it meets the full disk
// while writing.
func blind(l *Log) {
	l.mu.Lock()
	l.space = space{bytes: math.MaxInt64 / 2, asked: time.Now().Add(time.Hour)}
	l.mu.Unlock()
}

func TestLog_DiskFullUnderAWrite(t *testing.T) {
	dir := smallDisk(t)
	l := open(t, Options{Dir: dir, CutRows: 10, CutInterval: time.Millisecond, Logger: zap.NewNop()})
	put(t, l, 0, 25)
	free := filler(t, dir)
	blind(l)
	var refused []uint64
	for id := uint64(100); id < 150; id++ {
		err := l.Append(t.Context(), numbered(id, 50_000), 1)
		require.ErrorIs(t, err, ErrFull)
		require.ErrorIs(t, err, unix.ENOSPC)
		refused = append(refused, id)
	}

	// A kill now loses nothing acknowledged and brings back nothing refused.
	crash := quickDir(t)
	copyLog(t, dir, crash)
	got, stats := openAndDrain(t, crash)
	got.requireExactlyOnce(t, seq(0, 25), refused)
	require.Zero(t, stats.SetAside)

	free()
	start := time.Now()
	waitFor(t, "appends after space returned", func() bool {
		return l.Append(t.Context(), numbered(200, 50_000), 1) == nil
	})
	t.Logf("recovered %v after space returned", time.Since(start).Round(time.Millisecond))
	live := newStore()
	drainInto(t, l, live)
	live.requireExactlyOnce(t, append(seq(0, 25), 200), refused)
	require.Zero(t, l.Stats().DamagedRows)
}

func TestLog_OpenOnAFullDisk(t *testing.T) {
	dir := smallDisk(t)
	first := open(t, Options{Dir: dir, CutRows: 10, CutInterval: time.Hour, Logger: zap.NewNop()})
	put(t, first, 0, 15)
	require.NoError(t, first.Close())
	free := filler(t, dir)

	l := open(t, Options{Dir: dir, CutRows: 10, CutInterval: time.Hour, Logger: zap.NewNop()})
	got := newStore()
	r := take(t, l) // was cut before: needs no room
	got.insert(t, r.Token(), ids(t, l, r))
	l.Done(r)
	_, err := l.Next(shortly(t)) // cannot be cut yet
	require.Error(t, err)
	blind(l)
	require.ErrorIs(t, l.Append(t.Context(), numbered(20, 100), 1), ErrFull)

	free()
	drainInto(t, l, got)
	waitFor(t, "appends after space returned", func() bool {
		return l.Append(t.Context(), numbered(21, 100), 1) == nil
	})
	require.NoError(t, l.Close())
	again, _ := openAndDrain(t, dir)
	for token, rows := range again.rows {
		got.insert(t, token, rows)
	}
	got.requireExactlyOnce(t, append(seq(0, 15), 21), []uint64{20})
}

// A limit on file size fails writes half-way, without a disk to fill.
func TestLog_FileSizeLimit(t *testing.T) {
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	dir := t.TempDir()
	l := open(t, Options{Dir: dir, CutRows: 10, CutInterval: time.Millisecond, Logger: zap.NewNop()})
	put(t, l, 0, 25)
	var before unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_FSIZE, &before))
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 100_000, Max: before.Max}))
	var acked, refused []uint64
	for id := uint64(100); id < 110; id++ {
		err := l.Append(t.Context(), numbered(id, 30_000), 1)
		if err == nil {
			acked = append(acked, id)
			continue
		}
		require.True(t, errors.Is(err, ErrFull) && errors.Is(err, unix.EFBIG), err)
		refused = append(refused, id)
	}
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_FSIZE, &before))
	require.Len(t, acked, 3)
	put(t, l, 200, 210)
	require.NoError(t, l.Close())
	got, _ := openAndDrain(t, dir)
	got.requireExactlyOnce(t, append(append(seq(0, 25), acked...), seq(200, 210)...), refused)
}

// When even shortening the file fails, or the flush does, the segment is left
// behind, and its tail with it.
func TestLog_WriteErrorAbandonsSegment(t *testing.T) {
	for name, device := range map[string]string{
		"write and truncate fail": "/dev/full",
		"flush fails":             "/dev/null",
	} {
		t.Run(name, func(t *testing.T) {
			dir := quickDir(t)
			l := open(t, Options{Dir: dir, CutRows: 10, CutInterval: time.Hour, Logger: zap.NewNop()})
			put(t, l, 0, 25)
			seg := l.active // idle: the committer touches nothing until the next append
			good := seg.file
			bad, err := os.OpenFile(device, os.O_RDWR, 0)
			require.NoError(t, err)
			// What the disk kept of the failing write, although it said no.
			tail := oneRow(nil, seg.seed, seg.size, numbered(30, 100))
			_, err = good.WriteAt(tail, seg.size)
			require.NoError(t, err)
			seg.file = bad

			require.Error(t, l.Append(t.Context(), numbered(30, 100), 5)) // enough for a cut
			require.Equal(t, 3, l.Stats().Ranges, "two, and what the new segment cut")
			require.NotSame(t, seg, l.active)
			put(t, l, 40, 45)
			require.NoError(t, bad.Close())
			seg.mu.Lock()
			seg.file = good
			seg.mu.Unlock()
			crash := quickDir(t)
			copyLog(t, dir, crash)
			got, _ := openAndDrain(t, crash)
			got.requireExactlyOnce(t, append(seq(0, 25), seq(40, 45)...), []uint64{30})
			require.Equal(t, append(seq(0, 10), seq(10, 20)...), append(ids(t, l, take(t, l)), ids(t, l, take(t, l))...))
			require.Equal(t, seq(20, 25), ids(t, l, take(t, l)))
		})
	}
}
