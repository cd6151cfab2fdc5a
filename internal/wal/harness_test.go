package wal

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
)

// store stands for the table behind the log: it keeps each token once.
type store struct {
	rows map[string][]uint64 // ids by token
}

func newStore() *store { return &store{rows: map[string][]uint64{}} }

// insert fails the test when a token comes again with other rows.
func (s *store) insert(t testing.TB, token string, got []uint64) {
	t.Helper()
	if before, ok := s.rows[token]; ok {
		require.Equal(t, before, got, "token %s came again with other rows", token)
		return
	}
	s.rows[token] = got
}

// counts says how often each id is stored.
func (s *store) counts() map[uint64]int {
	n := map[uint64]int{}
	for _, rows := range s.rows {
		for _, id := range rows {
			n[id]++
		}
	}
	return n
}

// requireExactlyOnce: all of acked are stored, and nothing is stored twice, nor
// anything of refused at all.
func (s *store) requireExactlyOnce(t testing.TB, acked, refused []uint64) {
	t.Helper()
	n := s.counts()
	for id, times := range n {
		if times != 1 {
			t.Fatalf("payload %d stored %d times", id, times)
		}
	}
	for _, id := range acked {
		if n[id] == 0 {
			t.Fatalf("acknowledged payload %d was lost", id)
		}
	}
	for _, id := range refused {
		if n[id] != 0 {
			t.Fatalf("refused payload %d was stored", id)
		}
	}
}

// drainInto stores and finishes ranges until the log holds no row.
func drainInto(t testing.TB, l *Log, s *store) {
	t.Helper()
	for l.Stats().Rows > 0 {
		r := take(t, l)
		s.insert(t, r.Token(), ids(t, l, r))
		l.Done(r)
	}
}

// quickDir is in memory where that is possible, for tests that open a log
// thousands of times.
func quickDir(t testing.TB) string {
	dir, err := os.MkdirTemp("/dev/shm", "wal")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// copyLog is what a crash at this moment leaves behind: the files, oldest
// first, as far as they are still there.
func copyLog(t testing.TB, from, to string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(to, 0o700))
	entries, err := os.ReadDir(from)
	require.NoError(t, err)
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		in, err := os.Open(filepath.Join(from, e.Name()))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		require.NoError(t, err)
		out, err := os.OpenFile(filepath.Join(to, e.Name()), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
		require.NoError(t, err)
		_, err = io.Copy(out, in)
		require.NoError(t, errors.Join(err, in.Close(), out.Close()))
	}
}

// segmentFiles are the paths of a log's segments, ascending.
func segmentFiles(t testing.TB, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"+segmentSuffix))
	require.NoError(t, err)
	slices.Sort(files)
	return files
}

func corruptFiles(t testing.TB, dir string) []string {
	t.Helper()
	return segmentFiles(t, filepath.Join(dir, corruptFolder))
}

// openAndDrain opens, drains and closes a log and returns what came out.
func openAndDrain(t testing.TB, dir string) (*store, Stats) {
	t.Helper()
	l, err := Open(Options{Dir: dir, CutRows: 10, CutInterval: time.Millisecond, Logger: zap.NewNop()})
	require.NoError(t, err)
	s := newStore()
	drainInto(t, l, s)
	require.NoError(t, l.Close()) // and with it all deleting and setting aside
	return s, l.Stats()
}

// recordsOf finds where a segment's records begin, with their kinds.
func recordsOf(t testing.TB, path string) (offs []int64, kinds []kind) {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	for off := int64(0); off+headerBytes <= int64(len(data)); {
		if binary.LittleEndian.Uint16(data[off:]) != magic {
			break
		}
		offs, kinds = append(offs, off), append(kinds, kind(data[off+3]))
		off += recordBytes(int(lengthAt(data, off)))
	}
	return offs, kinds
}

func lengthAt(data []byte, off int64) uint32 { return binary.LittleEndian.Uint32(data[off+8:]) }

// flip changes bytes of a file.
func flip(t testing.TB, path string, off int64, n int) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	b := make([]byte, n)
	_, err = f.ReadAt(b, off)
	require.NoError(t, err)
	for i := range b {
		b[i] ^= 0xff
	}
	_, err = f.WriteAt(b, off)
	require.NoError(t, errors.Join(err, f.Close()))
}

func keys[V any](m map[uint64]V) []uint64 { return slices.Sorted(maps.Keys(m)) }

func waitFor(t testing.TB, what string, ok func() bool) {
	t.Helper()
	require.Eventually(t, ok, 10*time.Second, time.Millisecond, what)
}

func shortly(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	t.Cleanup(cancel)
	return ctx
}

// oneRow appends a data record of one row for offset off.
func oneRow(dst []byte, seed uint32, off int64, payload []byte) []byte {
	h := header{kind: kindData, rows: 1, sec: 1_700_000_000, crc: checksum(payload)}
	return appendRecord(dst, seed, off, h, payload)
}
