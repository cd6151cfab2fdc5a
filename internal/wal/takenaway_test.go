package wal

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// While the folder is elsewhere nothing is accepted, and nothing in it counts as damaged. When it is back all goes on.
func TestLog_FolderRenamedAndBack(t *testing.T) {
	dir, _ := filled(t) // ids 0 to 500
	l := open(t, Options{Dir: dir})
	away := dir + "-away"
	require.NoError(t, os.Rename(dir, away))
	oldest := take(t, l)
	for range 3 {
		require.ErrorIs(t, l.Append(t.Context(), numbered(1000, 100), 1), errTakenAway)
	}
	_, err := readIDs(l, oldest)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, os.Rename(away, dir))

	waitFor(t, "it to be accepted", func() bool { return l.Append(t.Context(), numbered(501, 100), 1) == nil })
	s, want := newStore(), []uint64(nil)
	s.insert(t, oldest.Token(), ids(t, l, oldest))
	l.Done(oldest)
	drainInto(t, l, s)
	for id := range uint64(502) {
		want = append(want, id)
	}
	s.requireExactlyOnce(t, want, []uint64{1000})
	require.Zero(t, l.Stats().DamagedRows)
}

// A segment alone is removed: what comes while that is noticed is refused, and the log goes on in another one.
func TestLog_SegmentRemoved(t *testing.T) {
	dir := quickDir(t)
	l := open(t, Options{Dir: dir, CutRows: 10})
	put(t, l, 0, 10)
	for _, path := range segmentFiles(t, dir) {
		require.NoError(t, os.Remove(path))
	}
	require.ErrorIs(t, l.Append(t.Context(), numbered(1000, 100), 1), errTakenAway)
	put(t, l, 10, 20)
	require.NoError(t, l.Close())
	s, _ := openAndDrain(t, dir)
	s.requireExactlyOnce(t, keys(s.counts()), []uint64{1000})
	require.Equal(t, []uint64{10, 11, 12, 13, 14, 15, 16, 17, 18, 19}, keys(s.counts()))
}
