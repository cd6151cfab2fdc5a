package wal

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
)

// FuzzOpenMutatedSegment: whatever stands in the newest segment, the log opens,
// drains, takes new payloads, and gives out only what was appended.
func FuzzOpenMutatedSegment(f *testing.F) {
	pristine, _ := crashed(f)
	path := segmentFiles(f, pristine)[0]
	whole, err := os.ReadFile(path)
	require.NoError(f, err)
	offs, _ := recordsOf(f, path)

	f.Add(whole)
	f.Add([]byte{})
	f.Add(whole[offs[1]:])
	f.Add(append(bytes.Clone(whole), whole...))
	for _, off := range offs {
		f.Add(whole[:off+headerBytes])
		for _, at := range []int64{0, 2, 3, 4, 8, 16, 20, headerBytes} {
			b := bytes.Clone(whole)
			b[off+at] ^= 0x80
			f.Add(b)
		}
		b := bytes.Clone(whole)
		binary.LittleEndian.PutUint32(b[off+8:], 1<<31)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := quickDir(t)
		require.NoError(t, os.WriteFile(filepath.Join(dir, filepath.Base(path)), b, 0o600))
		l, err := Open(Options{Dir: dir, CutRows: 10, CutInterval: time.Millisecond, Logger: zap.NewNop()})
		require.NoError(t, err)
		require.NoError(t, l.Append(t.Context(), numbered(1000, 100), 1))
		n := map[uint64]bool{}
		for l.Stats().Rows > 0 {
			r := take(t, l)
			for _, id := range ids(t, l, r) { // compares each with what was appended
				require.True(t, id < 28 || id == 1000)
				require.False(t, n[id], "payload %d came twice", id)
				n[id] = true
			}
			l.Done(r)
		}
		require.True(t, n[1000])
		require.NoError(t, l.Close())
	})
}

// FuzzSnapshot: what can be decoded is encoded as the same bytes again.
func FuzzSnapshot(f *testing.F) {
	payload := exampleSnapshot().encode()[headerBytes:]
	f.Add(payload)
	for n := range payload {
		f.Add(payload[:n])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := decodeSnapshot(b)
		if err != nil {
			return
		}
		require.Equal(t, b, s.encode()[headerBytes:headerBytes+len(b)])
	})
}
