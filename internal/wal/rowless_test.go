package wal

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Payloads without rows count nothing, wherever they stand: before rows, behind them, behind a cut.
func TestStats_BytesOfRowsOnly(t *testing.T) {
	l, err := Open(Options{Dir: quickDir(t), CutRows: 2, CutInterval: time.Hour})
	require.NoError(t, err)
	size := recordBytes(100)
	want := int64(0)
	for n, rows := range []int{0, 0, 1, 0, 1, 0, 0, 1} {
		require.NoError(t, l.Append(context.Background(), numbered(uint64(n), 100), rows))
		switch n {
		case 2, 7:
			want += size
		case 4:
			want += 2 * size // with the one in between
		}
		require.Equal(t, want, l.Stats().Bytes, "after %d", n)
	}
	require.NoError(t, l.Close())
}

// A header that no record holds would hide the ranges from the next Open: rather what is carried is left out.
func TestCarried_TooLarge(t *testing.T) {
	dir := quickDir(t)
	var carried [][]byte
	options := Options{
		Dir: dir, CutInterval: time.Hour,
		Sealing: func() []byte { return make([]byte, maxPayload) },
		Carried: func(b []byte) { carried = append(carried, b) },
	}
	l, err := Open(options)
	require.NoError(t, err)
	require.NoError(t, l.Append(context.Background(), numbered(1, 100), 1))
	id := l.ID()
	require.NoError(t, l.Close())
	l, err = Open(options)
	require.NoError(t, err)
	require.Equal(t, id, l.ID())
	require.EqualValues(t, 1, l.Stats().Rows)
	require.Equal(t, [][]byte{nil}, carried)
	require.NoError(t, l.Close())
}
