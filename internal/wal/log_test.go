package wal

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"
)

func TestMain(m *testing.M) {
	if runChild() {
		return
	}
	goleak.VerifyTestMain(m)
}

func open(t testing.TB, opts Options) *Log {
	t.Helper()
	if opts.Dir == "" {
		opts.Dir = t.TempDir()
	}
	if opts.Logger == nil {
		opts.Logger = zaptest.NewLogger(t)
	}
	l, err := Open(opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	return l
}

// numbered is a payload of n bytes that says which it is.
func numbered(id uint64, n int) []byte {
	b := make([]byte, max(n, 8))
	binary.LittleEndian.PutUint64(b, id)
	for i := 8; i < len(b); i++ {
		b[i] = byte(id) + byte(i)
	}
	return b
}

func put(t testing.TB, l *Log, from, to uint64) {
	t.Helper()
	for id := from; id < to; id++ {
		require.NoError(t, l.Append(t.Context(), numbered(id, 100), 1))
	}
}

func take(t testing.TB, l *Log) Range {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	r, err := l.Next(ctx)
	require.NoError(t, err)
	return r
}

// ids reads a range whose payloads are numbered.
func ids(t testing.TB, l *Log, r Range) []uint64 {
	t.Helper()
	got, err := readIDs(l, r)
	require.NoError(t, err)
	return got
}

func readIDs(l *Log, r Range) (got []uint64, err error) {
	_, err = l.Read(r, func(p []byte, _ int) error {
		id := binary.LittleEndian.Uint64(p)
		if !bytes.Equal(numbered(id, len(p)), p) {
			return fmt.Errorf("payload %d is not what was appended", id)
		}
		got = append(got, id)
		return nil
	})
	return got, err
}

func seq(from, to uint64) []uint64 {
	var s []uint64
	for ; from < to; from++ {
		s = append(s, from)
	}
	return s
}

func TestLog_AppendCutReadDone(t *testing.T) {
	l := open(t, Options{CutRows: 10})
	put(t, l, 0, 25)
	a, b := take(t, l), take(t, l)
	require.Equal(t, seq(0, 10), ids(t, l, a))
	require.Equal(t, seq(10, 20), ids(t, l, b))
	require.NotEqual(t, a.Token(), b.Token())
	c := take(t, l) // by time
	require.Equal(t, seq(20, 25), ids(t, l, c))
	require.EqualValues(t, 25, l.Stats().Rows)
	require.EqualValues(t, 25, l.Stats().AppendedRows)
	l.Done(a)
	l.Done(b)
	l.Done(c)
	l.Done(c)
	s := l.Stats()
	require.Zero(t, s.Rows)
	require.Zero(t, s.Bytes)
	require.Zero(t, s.Ranges)
}

func TestLog_ReopenGivesUndoneRangesAgain(t *testing.T) {
	dir := t.TempDir()
	l := open(t, Options{Dir: dir, CutRows: 10})
	put(t, l, 0, 25)
	a, b := take(t, l), take(t, l)
	l.Done(a)
	require.NoError(t, l.Close())

	l2 := open(t, Options{Dir: dir, CutRows: 10})
	require.Equal(t, l.ID(), l2.ID())
	require.EqualValues(t, 15, l2.Stats().RecoveredRows)
	require.Zero(t, l2.Stats().AppendedRows)
	again := take(t, l2)
	require.Equal(t, b.Token(), again.Token())
	require.Equal(t, seq(10, 20), ids(t, l2, again))
	require.Equal(t, seq(20, 25), ids(t, l2, take(t, l2)))
}

// While ranges wait to be taken, young rows gather up to CutRows instead of
// making small ranges.
func TestLog_NoSmallRangesDuringAnOutage(t *testing.T) {
	l := open(t, Options{CutRows: 10, CutInterval: time.Millisecond})
	put(t, l, 0, 1)
	waitFor(t, "a range by time", func() bool { return l.Stats().Ranges == 1 })
	for id := uint64(1); id < 35; id++ {
		put(t, l, id, id+1)
	}
	require.Equal(t, 4, l.Stats().Ranges)
	var sizes []int
	for range 5 {
		sizes = append(sizes, take(t, l).Rows)
	}
	require.Equal(t, []int{1, 10, 10, 10, 4}, sizes)
}

func TestLog_CutKeepsPayloadsWhole(t *testing.T) {
	l := open(t, Options{CutRows: 10, CutInterval: time.Millisecond})
	for id := range uint64(3) {
		require.NoError(t, l.Append(t.Context(), numbered(id, 50), 7))
	}
	require.Equal(t, 14, take(t, l).Rows)
	require.Equal(t, 7, take(t, l).Rows)
}

func TestLog_PayloadMayBeReusedAfterAppend(t *testing.T) {
	l := open(t, Options{CutRows: 3})
	buf := make([]byte, 100)
	for id := range uint64(3) {
		copy(buf, numbered(id, 100))
		require.NoError(t, l.Append(t.Context(), buf, 1))
	}
	require.Equal(t, seq(0, 3), ids(t, l, take(t, l)))
}

func TestLog_AppendRefusesWhatItCannotHold(t *testing.T) {
	l := open(t, Options{MaxBytes: 1 << 20})
	require.ErrorIs(t, l.Append(t.Context(), make([]byte, 1<<19), 1), ErrTooLarge)
	require.ErrorContains(t, l.Append(t.Context(), nil, 1), "there must be bytes")
	require.ErrorContains(t, l.Append(t.Context(), make([]byte, 8), -1), "must not be negative")
	require.Zero(t, l.Stats().Rows)
}

func TestLog_ContextEndsOnlyTheWaits(t *testing.T) {
	l := open(t, Options{CutRows: 1})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := l.Next(ended)
	require.ErrorIs(t, err, context.Canceled)
	// There is room in the queue, so there is nothing to give up.
	require.NoError(t, l.Append(ended, numbered(1, 10), 1))
	// There is none while so much is waiting.
	l.mu.Lock()
	l.queued += queueBytes
	l.mu.Unlock()
	require.ErrorIs(t, l.Append(ended, numbered(2, 10), 1), context.Canceled)
	waiting := make(chan error)
	go func() { waiting <- l.Append(context.Background(), numbered(3, 10), 1) }()
	waitFor(t, "an append waiting for room", func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.room != nil
	})
	l.mu.Lock()
	l.queued -= queueBytes
	close(l.room)
	l.room = nil
	l.mu.Unlock()
	require.NoError(t, <-waiting)
}

func TestLog_CloseEndsEverything(t *testing.T) {
	l := open(t, Options{CutRows: 1})
	put(t, l, 0, 1)
	r := take(t, l)
	waiting := make(chan error)
	go func() {
		_, err := l.Next(context.Background())
		waiting <- err
	}()
	require.NoError(t, l.Close())
	require.NoError(t, l.Close())
	require.ErrorIs(t, <-waiting, ErrClosed)
	require.ErrorIs(t, l.Append(t.Context(), numbered(1, 10), 1), ErrClosed)
	_, err := l.Next(t.Context())
	require.ErrorIs(t, err, ErrClosed)
	_, err = l.Read(r, nil)
	require.ErrorIs(t, err, ErrClosed)
	l.Done(r)
	require.EqualValues(t, 1, l.Stats().Rows)
}

// Everything at once; and what is in the log, plus what left it, is what came.
func TestLog_ConcurrentUseKeepsTheBalance(t *testing.T) {
	l := open(t, Options{Dir: quickDir(t), CutRows: 20, SegmentBytes: 16 << 10, CutInterval: time.Millisecond, Logger: zap.NewNop()})
	const callers, each = 8, 300
	var mu sync.Mutex // makes leaving the log and counting one step
	got, left := newStore(), int64(0)
	balanced := func() {
		mu.Lock()
		defer mu.Unlock()
		if s := l.Stats(); s.AppendedRows != s.Rows+left {
			t.Errorf("%d appended, %d in the log, %d left it", s.AppendedRows, s.Rows, left)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	var consumers, appenders sync.WaitGroup
	for range 3 {
		consumers.Go(func() {
			for {
				r, err := l.Next(ctx)
				if err != nil {
					return
				}
				rows, err := readIDs(l, r)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				got.rows[r.Token()] = rows
				l.Done(r)
				left += int64(r.Rows)
				mu.Unlock()
			}
		})
	}
	for n := range uint64(callers) {
		appenders.Go(func() {
			for id := n * each; id < (n+1)*each; id++ {
				if err := l.Append(ctx, numbered(id, int(50+id%500)), 1); err != nil {
					t.Error(err)
				}
				balanced()
			}
		})
	}
	appenders.Wait()
	waitFor(t, "an empty log", func() bool { return l.Stats().Rows == 0 })
	cancel()
	consumers.Wait()
	balanced()
	require.EqualValues(t, callers*each, left)
	got.requireExactlyOnce(t, seq(0, callers*each), nil)
}
