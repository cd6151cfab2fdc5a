package coding

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/ClickHouse/ch-go/compress"
	"github.com/go-faster/city"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sample has parts that compress and parts that do not.
func sample(n int) []byte {
	random := rand.NewChaCha8([32]byte{1})
	b := make([]byte, n)
	_, _ = random.Read(b)
	copy(b[n/3:], strings.Repeat("pitwall ", n/24))
	return b
}

func TestHTTPCodingsRoundTrip(t *testing.T) {
	want := sample(300_000)
	for _, name := range []string{"gzip", "deflate", "br", "zstd", "lz4"} {
		var b bytes.Buffer
		w, err := NewWriter(&b, name)
		require.NoError(t, err, name)
		_, err = w.Write(want[:1000])
		require.NoError(t, err, name)
		require.NoError(t, w.Flush(), name)
		_, err = w.Write(want[1000:])
		require.NoError(t, err, name)
		require.NoError(t, w.Close(), name)
		assert.Less(t, b.Len(), len(want), name)

		r, err := Reader(bytes.NewReader(b.Bytes()), name)
		require.NoError(t, err, name)
		got, err := io.ReadAll(r)
		require.NoError(t, err, name)
		assert.True(t, bytes.Equal(want, got), name)

		r, err = Reader(bytes.NewReader(b.Bytes()[:b.Len()/2]), name)
		require.NoError(t, err, name)
		_, err = io.ReadAll(r)
		assert.Error(t, err, "%s: half of it must not look whole", name)
	}
	_, err := Reader(strings.NewReader(""), "snappy")
	assert.ErrorIs(t, err, ErrUnknown)
}

func TestChoose(t *testing.T) {
	for accept, want := range map[string]string{
		"": "", "identity": "", "gzip": "gzip", "gzip, deflate": "gzip", "gzip;q=0, deflate": "deflate", "GZIP ; q=0.5": "gzip",
		"gzip, br;q=1.0": "br", "snappy": "", "*": "", "br;q=x": "",
	} {
		assert.Equal(t, want, Choose(accept), accept)
	}
}

func TestFramesRoundTrip(t *testing.T) {
	want := sample(2_500_000)
	var b bytes.Buffer
	n, err := NewFrameWriter(&b).Write(want)
	require.NoError(t, err)
	assert.Equal(t, len(want), n)
	// ch-go reads what we write.
	theirs := make([]byte, len(want))
	_, err = io.ReadFull(compress.NewReader(bytes.NewReader(b.Bytes())), theirs)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(want, theirs))
	got, err := io.ReadAll(NewFrameReader(&b))
	require.NoError(t, err)
	assert.True(t, bytes.Equal(want, got))
}

func frames(t testing.TB, pieces ...[]byte) []byte {
	var out []byte
	for i, method := range []compress.Method{compress.None, compress.LZ4, compress.ZSTD} {
		if i >= len(pieces) {
			break
		}
		w := compress.NewWriter(compress.LevelZero, method)
		require.NoError(t, w.Compress(pieces[i]))
		out = append(out, w.Data...)
	}
	return out
}

func TestFramesCutAnywhere(t *testing.T) {
	whole := frames(t, []byte("none"), []byte(strings.Repeat("lz4", 20)), []byte(strings.Repeat("zstd", 20)))
	ends := map[int]bool{0: true}
	for i := 1; i <= 3; i++ {
		ends[len(frames(t, [][]byte{[]byte("none"), []byte(strings.Repeat("lz4", 20)), []byte(strings.Repeat("zstd", 20))}[:i]...))] = true
	}
	for i := range len(whole) + 1 {
		_, err := io.ReadAll(NewFrameReader(bytes.NewReader(whole[:i])))
		if ends[i] {
			assert.NoError(t, err, "%d", i)
		} else {
			assert.ErrorIs(t, err, ErrFrame, "%d", i)
		}
	}
	for i := range whole {
		damaged := bytes.Clone(whole)
		damaged[i] ^= 0x40
		_, err := io.ReadAll(NewFrameReader(bytes.NewReader(damaged)))
		assert.ErrorIs(t, err, ErrFrame, "byte %d", i)
	}
}

// frame makes one with a right checksum, whatever it says of itself.
func frame(method byte, payload []byte, decoded uint32) []byte {
	b := make([]byte, headerSize, headerSize+len(payload))
	b[checksumSize] = method
	binary.LittleEndian.PutUint32(b[checksumSize+1:], uint32(len(payload)+sizesSize))
	binary.LittleEndian.PutUint32(b[checksumSize+5:], decoded)
	b = append(b, payload...)
	sum := city.CH128(b[checksumSize:])
	binary.LittleEndian.PutUint64(b, sum.Low)
	binary.LittleEndian.PutUint64(b[8:], sum.High)
	return b
}

func TestFramesThatLieAboutTheirSize(t *testing.T) {
	w, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	bomb := w.EncodeAll(make([]byte, 512<<20), nil) // 512 MiB in some 16 KiB
	require.NoError(t, w.Close())
	for name, b := range map[string][]byte{
		"zstd of more than a frame may hold": frame(methodZSTD, bomb, 10),
		"lz4 of nothing":                     frame(methodLZ4, nil, maxFrame),
		"more than a frame may hold":         frame(methodNone, nil, 1<<31),
		"less than its header":               frame(methodNone, []byte("x"), 2),
		"unknown method":                     frame(0x55, nil, 0),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := io.ReadAll(NewFrameReader(bytes.NewReader(b)))
		runtime.ReadMemStats(&after)
		assert.ErrorIs(t, err, ErrFrame, name)
		assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(2*maxFrame), name)
	}
}

func FuzzFrameReader(f *testing.F) {
	f.Add(frames(f, []byte("a"), []byte("bb"), []byte("ccc")))
	f.Add(frame(methodZSTD, []byte{1}, 5))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := io.ReadAll(NewFrameReader(bytes.NewReader(b)))
		if err != nil && !errors.Is(err, ErrFrame) {
			t.Fatal(err)
		}
		if err == nil { // what reads well says the same when it is written again
			var again bytes.Buffer
			if _, err := NewFrameWriter(&again).Write(got); err != nil {
				t.Fatal(err)
			}
			if back, err := io.ReadAll(NewFrameReader(&again)); err != nil || !bytes.Equal(back, got) {
				t.Fatal(err)
			}
		}
	})
}

func BenchmarkFrameReader(b *testing.B) {
	var in bytes.Buffer
	_, err := NewFrameWriter(&in).Write(sample(1 << 20))
	require.NoError(b, err)
	b.SetBytes(1 << 20)
	b.ReportAllocs()
	for range b.N {
		if _, err := io.Copy(io.Discard, NewFrameReader(bytes.NewReader(in.Bytes()))); err != nil {
			b.Fatal(err)
		}
	}
}
