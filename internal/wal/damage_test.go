package wal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	"golang.org/x/sys/unix"
)

// crashed leaves a log as kill -9 does: payloads 0..27 acknowledged, ranges
// 0..9 (done), 10..19 (handed out) and 20..27 (not cut), in one segment. It
// returns the folder and the token of the middle range.
func crashed(t testing.TB) (dir, token string) {
	t.Helper()
	live := quickDir(t)
	l := open(t, Options{Dir: live, CutRows: 10, CutInterval: time.Hour, Logger: zap.NewNop()})
	put(t, l, 0, 20)
	first, second := take(t, l), take(t, l)
	l.Done(first)
	put(t, l, 20, 28)
	dir = quickDir(t)
	copyLog(t, live, dir)
	return dir, second.Token()
}

func TestLog_TornTail(t *testing.T) {
	dir, token := crashed(t)
	path := segmentFiles(t, dir)[0]
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	offs, kinds := recordsOf(t, path)
	isCut := slices.Index(kinds, kindCut) // of the first range
	isCut = isCut + 1 + slices.Index(kinds[isCut+1:], kindCut)

	for size := range len(whole) + 1 {
		cutAt := quickDir(t)
		name := filepath.Join(cutAt, filepath.Base(path))
		require.NoError(t, os.WriteFile(name, whole[:size], 0o600))
		got, stats := openAndDrain(t, cutAt)
		// What is wholly there is what was acknowledged by then.
		var want []uint64
		next, done := uint64(0), false
		for i, off := range offs {
			if end := off + recordBytes(int(lengthAt(whole, off))); end > int64(size) {
				break
			}
			switch kinds[i] {
			case kindData:
				want = append(want, next)
				next++
			case kindDone:
				done = true
			}
		}
		if done {
			want = want[10:]
		}
		if size < int(offs[1]) {
			want = nil // not even the snapshot: the name would not be there
		}
		got.requireExactlyOnce(t, want, nil)
		require.Equal(t, want, keys(got.counts()), "size %d", size)
		require.Zero(t, stats.DamagedRows, "size %d", size)
		if int64(size) >= offs[isCut]+recordBytes(cutBytes) {
			require.Contains(t, got.rows, token, "size %d", size)
		}
		os.RemoveAll(cutAt)
	}
}

func TestLog_ZeroFilledOrGarbageTail(t *testing.T) {
	for name, tail := range map[string][]byte{
		"zeros":   make([]byte, 100_000),
		"garbage": numbered(3, 100_000),
	} {
		t.Run(name, func(t *testing.T) {
			dir, token := crashed(t)
			f, err := os.OpenFile(segmentFiles(t, dir)[0], os.O_APPEND|os.O_WRONLY, 0)
			require.NoError(t, err)
			_, err = f.Write(tail)
			require.NoError(t, err)
			require.NoError(t, f.Close())
			got, stats := openAndDrain(t, dir)
			require.Equal(t, seq(10, 28), keys(got.counts()))
			require.Contains(t, got.rows, token)
			require.Zero(t, stats.DamagedRows)
			require.Zero(t, stats.SetAside)
		})
	}
}

// Power failed in a group: the length and some pages are there, others not.
func TestLog_TornGroup(t *testing.T) {
	dir, _ := crashed(t)
	path := segmentFiles(t, dir)[0]
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	var id logID
	copy(id[:], b[headerBytes:])
	seed, end := seedFor(id, 1), len(b)
	for n := range uint64(4) {
		b = oneRow(b, seed, int64(len(b)), numbered(28+n, 4000))
	}
	clear(b[end+headerBytes:]) // one header made it, and no payload
	require.NoError(t, os.WriteFile(path, b, 0o600))
	got, stats := openAndDrain(t, dir)
	require.Equal(t, seq(10, 28), keys(got.counts()))
	require.Zero(t, stats.DamagedRows)
	require.Zero(t, stats.SetAside)
}

// Damage to one record of the newest segment, wherever: the others come out,
// once, and the file is kept for inspection when they have.
func TestLog_CorruptRecord(t *testing.T) {
	for what, at := range map[string]int64{"header": 4, "payload": headerBytes + 3} {
		t.Run(what, func(t *testing.T) {
			pristine, token := crashed(t)
			offs, kinds := recordsOf(t, segmentFiles(t, pristine)[0])
			id := uint64(0)
			for i := range offs {
				dir := quickDir(t)
				copyLog(t, pristine, dir)
				flip(t, segmentFiles(t, dir)[0], offs[i]+at, 1)
				got, stats := openAndDrain(t, dir)
				want := seq(10, 28)
				setAside, damaged := int64(1), int64(0)
				switch kinds[i] {
				case kindSnapshot:
					// its cuts tell the log's id and the segment's nonce
				case kindDone:
					want = seq(0, 28) // a lost mark costs a repetition, which the token makes harmless
				case kindData:
					if id == 27 {
						setAside = 0 // not to be told from a torn end
					}
					// The cut knows how many rows there were, or else the record's own header.
					if id >= 10 && id < 20 || what == "payload" && id >= 20 && id < 27 {
						damaged = 1
					}
					want = slices.DeleteFunc(want, func(have uint64) bool { return have == id })
					id++
				}
				require.Equal(t, want, keys(got.counts()), "record %d, a %d", i, kinds[i])
				require.Contains(t, got.rows, token, "record %d", i)
				require.Equal(t, setAside, stats.SetAside, "record %d", i)
				require.Equal(t, damaged, stats.DamagedRows, "record %d", i)
				require.Len(t, corruptFiles(t, dir), int(setAside))
			}
		})
	}
}

// filled is a log of several sealed segments with everything undone.
func filled(t testing.TB) (dir string, tokens []string) {
	t.Helper()
	dir = quickDir(t)
	l := open(t, Options{Dir: dir, CutRows: 10, SegmentBytes: 8 << 10, CutInterval: time.Hour})
	put(t, l, 0, 500)
	require.NoError(t, l.Close())
	l = open(t, Options{Dir: dir}) // cuts the rest
	for range l.Stats().Ranges {
		tokens = append(tokens, take(t, l).Token())
	}
	put(t, l, 500, 501) // so that its segment does not count as empty
	require.NoError(t, l.Close())
	require.Greater(t, len(segmentFiles(t, dir)), 5)
	return dir, tokens
}

func TestLog_CorruptSealedSegment(t *testing.T) {
	for name, damage := range map[string]func(path string){
		"payload":      func(path string) { flip(t, path, 5000, 1) },
		"a whole page": func(path string) { flip(t, path, 4096, 4096) },
		"snapshot":     func(path string) { flip(t, path, 0, 30) },
		"cut short":    func(path string) { require.NoError(t, os.Truncate(path, 5000)) },
		"everything":   func(path string) { require.NoError(t, os.WriteFile(path, make([]byte, 8000), 0o600)) },
		"missing":      func(path string) { require.NoError(t, os.Remove(path)) },
	} {
		t.Run(name, func(t *testing.T) {
			dir, tokens := filled(t)
			damage(segmentFiles(t, dir)[2])
			l := open(t, Options{Dir: dir, Logger: zap.NewNop()})
			got := newStore()
			lost := 0
			for l.Stats().Rows > 0 {
				r := take(t, l)
				found := 0
				damaged, err := l.Read(r, func([]byte, int) error { found++; return nil })
				require.NoError(t, err)
				require.Equal(t, r.Rows, found+damaged)
				lost += damaged
				got.insert(t, r.Token(), ids(t, l, r))
				l.Done(r)
			}
			waitFor(t, "all old segments gone", func() bool { return l.Stats().Segments == 1 })
			s := l.Stats()
			if name == "missing" {
				lost = int(s.DamagedRows)
			}
			require.EqualValues(t, lost, s.DamagedRows)
			require.Len(t, got.counts(), 501-lost)
			for _, token := range tokens {
				if !strings.Contains(token, "-3-") { // the damaged file's number
					require.Contains(t, got.rows, token)
				}
			}
			got.requireExactlyOnce(t, nil, nil)
			switch name {
			case "snapshot": // not needed while a newer one is readable
				require.Zero(t, lost)
				require.Zero(t, s.SetAside)
			case "missing":
				require.Positive(t, lost)
				require.Zero(t, s.SetAside)
			default:
				require.Positive(t, lost)
				require.EqualValues(t, 1, s.SetAside)
				require.Len(t, corruptFiles(t, dir), 1)
			}
			require.LessOrEqual(t, lost, 80, "more than the damaged segment was lost")
		})
	}
}

// With the newest snapshot unreadable, the one before it and the records since
// are the state.
func TestLog_CorruptNewestSnapshot(t *testing.T) {
	dir, tokens := filled(t)
	files := segmentFiles(t, dir)
	flip(t, files[len(files)-1], 4, 1)
	got, stats := openAndDrain(t, dir)
	require.Equal(t, seq(0, 501), keys(got.counts()))
	got.requireExactlyOnce(t, nil, nil)
	for _, token := range tokens {
		require.Contains(t, got.rows, token)
	}
	require.Zero(t, stats.DamagedRows)
	require.EqualValues(t, 1, stats.SetAside)
}

// badPage is a file with a page that the disk does not give back.
type badPage struct {
	*bytes.Reader
	page int64
}

func (b badPage) ReadAt(p []byte, off int64) (int, error) {
	if off < (b.page+1)*diskPage && off+int64(len(p)) > b.page*diskPage {
		return 0, unix.EIO
	}
	return b.Reader.ReadAt(p, off)
}

func TestScanner_UnreadablePageCostsOnlyItsRecords(t *testing.T) {
	var data []byte
	for id := range uint64(1000) {
		data = oneRow(data, 7, int64(len(data)), numbered(id, 40)) // 64 bytes each
	}
	var sc scanner
	sc.reset(badPage{bytes.NewReader(data), 3}, 7, 0, int64(len(data)))
	var got []uint64
	for {
		rec, err := sc.next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		require.Equal(t, rec.off == 4*diskPage, rec.gap)
		got = append(got, binary.LittleEndian.Uint64(rec.payload))
	}
	require.Equal(t, append(seq(0, 192), seq(256, 1000)...), got)
}

// The cuts tell what no snapshot can: the ranges keep their tokens.
func TestLog_NoSnapshotReadable(t *testing.T) {
	dir, tokens := filled(t)
	for _, path := range segmentFiles(t, dir) {
		flip(t, path, 0, headerBytes)
	}
	got, stats := openAndDrain(t, dir)
	require.Equal(t, seq(0, 501), keys(got.counts()))
	got.requireExactlyOnce(t, nil, nil)
	for _, token := range tokens {
		require.Contains(t, got.rows, token)
	}
	require.Zero(t, stats.DamagedRows)
}

// Without snapshot and cut there is no log that the rows belong to. Nobody was handed any of them, and they are counted.
func TestLog_NeitherSnapshotNorCutReadable(t *testing.T) {
	live := quickDir(t)
	l := open(t, Options{Dir: live, CutInterval: time.Hour})
	put(t, l, 0, 28)
	dir := quickDir(t)
	copyLog(t, live, dir)
	flip(t, segmentFiles(t, dir)[0], 0, headerBytes)
	got, stats := openAndDrain(t, dir)
	require.Empty(t, got.rows)
	require.EqualValues(t, 28, stats.DamagedRows)
	require.EqualValues(t, 1, stats.SetAside)
}

func TestLog_NothingReadableStartsFresh(t *testing.T) {
	dir := quickDir(t)
	for n := range uint64(10) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, segmentName(n)), numbered(n, 5000), 0o600))
	}
	core, lines := observer.New(zap.InfoLevel)
	l := open(t, Options{Dir: dir, CutRows: 1, Logger: zap.New(core)})
	require.Equal(t, 1, lines.Len(), "ten times the same in a minute is one line")
	require.EqualValues(t, 10, l.Stats().SetAside)
	require.Len(t, corruptFiles(t, dir), corruptKept)
	put(t, l, 1, 2)
	require.Equal(t, seq(1, 2), ids(t, l, take(t, l)))
}
