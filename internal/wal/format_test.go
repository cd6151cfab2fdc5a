package wal

import (
	"encoding/hex"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
)

var update = flag.Bool("update", false, "write the golden files")

func exampleSnapshot() *snapshot {
	return &snapshot{
		id:       logID{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
		own:      snapshotSegment{3, 0xabcdef},
		segments: []snapshotSegment{{1, 7}, {2, 8}},
		ranges:   []snapshotRange{{bounds{1, 56, 512}, 40, 1_700_000_000}, {bounds{2, 56, 2048}, 50_000, 1_700_000_001}},
	}
}

// exampleSegment has every type of record at fixed times.
func exampleSegment() []byte {
	s := exampleSnapshot()
	s.segments, s.ranges = nil, nil
	b := s.encode()
	seed := seedFor(s.id, s.own.number)
	start := int64(len(b))
	data := func(id uint64) { b = oneRow(b, seed, int64(len(b)), numbered(id, 20)) }
	data(0)
	data(1)
	first := bounds{s.own.number, start, int64(len(b))}
	cutAt := func(at bounds, rows int64) {
		b = cut{bounds: at, rows: rows, id: s.id, nonce: s.own.nonce}.append(b, seed, int64(len(b)), 1_700_000_000)
	}
	cutAt(first, 2)
	second := int64(len(b))
	data(2)
	cutAt(bounds{s.own.number, second, int64(len(b))}, 1)
	b = appendDone(b, seed, int64(len(b)), first)
	data(3)
	return b
}

// A log written by an earlier version must be readable, with the same tokens.
func TestFormat_Golden(t *testing.T) {
	golden := filepath.Join("testdata", "segment_v1.hex")
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(golden, []byte(hex.Dump(exampleSegment())), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), hex.Dump(exampleSegment()))

	dir := quickDir(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, segmentName(3)), exampleSegment(), 0o600))
	l := open(t, Options{Dir: dir, CutInterval: time.Hour, Logger: zap.NewNop()})
	a, b := take(t, l), take(t, l)
	require.Equal(t, "0102030405060708090a0b0c0d0e0f10-3-232-280-0000000000abcdef", a.Token())
	require.Equal(t, seq(2, 3), ids(t, l, a))
	require.True(t, strings.HasPrefix(b.Token(), "0102030405060708090a0b0c0d0e0f10-3-"))
	require.Equal(t, seq(3, 4), ids(t, l, b))
	require.Equal(t, filepath.Join(dir, "0000000000000004.seg"), segmentFiles(t, dir)[1])
}

func TestFormat_SnapshotRoundTripAndTruncation(t *testing.T) {
	want := exampleSnapshot()
	payload := want.encode()[headerBytes : headerBytes+16+4+3*snapshotSegmentBytes+4+2*snapshotRangeBytes]
	got, err := decodeSnapshot(payload)
	require.NoError(t, err)
	require.Equal(t, want, got)
	for n := range payload {
		_, err := decodeSnapshot(payload[:n])
		require.ErrorIs(t, err, errSnapshot, "%d bytes", n)
	}

	want.carried = []byte("carried")
	got, err = decodeSnapshot(append(payload, "carried"...))
	require.NoError(t, err)
	require.Equal(t, want, got)
	require.Contains(t, string(want.encode()), "carried")
}

// A record is valid in its own place only.
func TestFormat_HeaderIsBoundToItsPlace(t *testing.T) {
	b := appendControl(nil, 7, 4096, kindData, 1, []byte("payload"))
	require.EqualValues(t, len(b), recordBytes(len("payload")))
	_, ok := parseHeader(b, 7, 4096)
	require.True(t, ok)
	for _, elsewhere := range []int64{0, 8, 4088, 4104, 1 << 32} {
		_, ok = parseHeader(b, 7, elsewhere)
		require.False(t, ok, elsewhere)
	}
	_, ok = parseHeader(b, 8, 4096)
	require.False(t, ok)
	for i := range headerBytes {
		for bit := range 8 {
			b[i] ^= 1 << bit
			_, ok = parseHeader(b, 7, 4096)
			require.False(t, ok, "byte %d bit %d", i, bit)
			b[i] ^= 1 << bit
		}
	}
}

func TestOptions(t *testing.T) {
	check := func(o Options, problem string) {
		t.Helper()
		_, err := o.withDefaults()
		require.EqualError(t, err, problem)
	}
	check(Options{}, "log directory is empty")
	check(Options{Dir: "d", CutRows: -1}, "log d: sizes and times must not be negative")
	check(Options{Dir: "d", CutInterval: -time.Second}, "log d: sizes and times must not be negative")
	check(Options{Dir: "d", MaxBytes: 1000}, "log d: a size of 1000 bytes is less than the least, 65536")

	o, err := Options{Dir: "d", MaxBytes: 80 << 20}.withDefaults()
	require.NoError(t, err)
	require.EqualValues(t, 10<<20, o.SegmentBytes, "at most an eighth, so that a full log frees room early")
	require.EqualValues(t, 1<<20, o.MinFreeBytes)
	require.Equal(t, 50_000, o.CutRows)
	require.Equal(t, time.Second, o.CutInterval)
}
