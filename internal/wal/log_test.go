package wal

import (
	"context"
	"encoding/binary"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
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
	var got []uint64
	_, err := l.Read(r, func(p []byte, _ int) error {
		id := binary.LittleEndian.Uint64(p)
		require.Equal(t, numbered(id, len(p)), p)
		got = append(got, id)
		return nil
	})
	require.NoError(t, err)
	return got
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
	again := take(t, l2)
	require.Equal(t, b.Token(), again.Token())
	require.Equal(t, seq(10, 20), ids(t, l2, again))
	require.Equal(t, seq(20, 25), ids(t, l2, take(t, l2)))
}
