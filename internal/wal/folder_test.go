package wal

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
)

func TestLog_OneOwner(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "log")
	l := open(t, Options{Dir: dir})
	_, err := Open(Options{Dir: dir})
	require.EqualError(t, err, "log directory "+dir+" is in use by another log, in this process or another")
	require.NoError(t, l.Close())
	open(t, Options{Dir: dir})
}

func TestLog_FilesAreTheOwnersAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	open(t, Options{Dir: dir})
	info, err := os.Stat(dir)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	info, err = os.Stat(segmentFiles(t, dir)[0])
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

// A crash loop during an outage must not pile up files.
func TestLog_OpeningsLeaveNoEmptySegments(t *testing.T) {
	dir, tokens := filled(t)
	before := len(segmentFiles(t, dir))
	for range 20 {
		l := open(t, Options{Dir: dir, Logger: zap.NewNop()})
		require.Equal(t, tokens[0], take(t, l).Token())
		require.NoError(t, l.Close())
	}
	require.LessOrEqual(t, len(segmentFiles(t, dir)), before+1)
}

// A folder may be copied with what is in it: a machine image, a restored backup.
func TestLog_CopiesShareTokensOfTheirCommonPastOnly(t *testing.T) {
	dir := quickDir(t)
	l := open(t, Options{Dir: dir, CutRows: 10, CutInterval: time.Hour})
	put(t, l, 0, 15)
	require.NoError(t, l.Close())
	other := quickDir(t)
	copyLog(t, dir, other)
	tokens := func(dir string) (common, own []string) {
		l := open(t, Options{Dir: dir, CutRows: 10, CutInterval: time.Hour})
		put(t, l, 20, 40) // the same sizes at the same places
		common = append(common, take(t, l).Token(), take(t, l).Token())
		return common, append(own, take(t, l).Token(), take(t, l).Token())
	}
	common1, own1 := tokens(dir)
	common2, own2 := tokens(other)
	require.Equal(t, common1, common2)
	require.NotSubset(t, own1, own2[:1])
	require.NotSubset(t, own1, own2[1:])
}

func TestLog_SegmentsGoWhenTheirRangesAreDone(t *testing.T) {
	dir, _ := filled(t)
	l := open(t, Options{Dir: dir})
	var out []Range
	for range l.Stats().Ranges {
		out = append(out, take(t, l))
	}
	segments := l.Stats().Segments
	for _, r := range out[1:] {
		l.Done(r)
	}
	put(t, l, 1000, 1001) // behind the marks in the committer's order
	require.Equal(t, segments, l.Stats().Segments, "the oldest holds the others")
	l.Done(out[0])
	waitFor(t, "one segment left", func() bool { return l.Stats().Segments == 1 })
	require.Len(t, segmentFiles(t, dir), 1)
	info, err := os.Stat(segmentFiles(t, dir)[0])
	require.NoError(t, err)
	require.Equal(t, info.Size(), l.Stats().DiskBytes)
}

func TestLog_OldestAgeSurvivesReopening(t *testing.T) {
	dir := t.TempDir()
	l := open(t, Options{Dir: dir, CutRows: 1})
	require.Zero(t, l.Stats().OldestAge)
	put(t, l, 0, 1)
	waitFor(t, "a second to pass", func() bool { return l.Stats().OldestAge >= time.Second })
	require.NoError(t, l.Close())
	l = open(t, Options{Dir: dir, CutRows: 1})
	require.GreaterOrEqual(t, l.Stats().OldestAge, time.Second)
	l.Done(take(t, l))
	require.Zero(t, l.Stats().OldestAge)
}
