package native

import (
	"bytes"
	"testing"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// revision 54451 has block information, 54454 and later a byte per column too.
const newRevision = 54460

// block is two columns written by ch-go, which shares no code with the recoder.
func block(t testing.TB, rows, revision int) []byte {
	t.Helper()
	var n proto.ColUInt32
	s := new(proto.ColStr).LowCardinality()
	for i := range rows {
		n.Append(uint32(i))
		s.Append([]string{"a", "b", "c"}[i%3])
	}
	var buf proto.Buffer
	input := []proto.InputColumn{{Name: "n", Data: &n}, {Name: "s", Data: s}}
	b := proto.Block{Columns: 2, Rows: rows, Info: proto.BlockInfo{BucketNum: -1}}
	if revision > 0 {
		b.Info.Encode(&buf)
	}
	require.NoError(t, b.EncodeRawBlock(&buf, revision, input))
	return buf.Buf
}

func TestRecoderWritesWhatTheRevisionAsksFor(t *testing.T) {
	in := append(block(t, 5, 0), block(t, 1000, 0)...)
	want := append(block(t, 5, newRevision), block(t, 1000, newRevision)...)
	var out bytes.Buffer
	n, err := NewRecoder(&out, newRevision).Write(in)
	require.NoError(t, err)
	assert.Equal(t, len(in), n)
	assert.Equal(t, want, out.Bytes())
}

func TestRecoderOfCutBlocks(t *testing.T) {
	in := block(t, 3, 0)
	for i := 2; i < len(in); i++ {
		var out bytes.Buffer
		_, err := NewRecoder(&out, newRevision).Write(in[:i])
		assert.ErrorContains(t, err, "read the engine's block", "%d of %d bytes", i, len(in))
		assert.Zero(t, out.Len(), "part of a block is no block")
	}
}

func BenchmarkRecoder(b *testing.B) {
	in := block(b, 65_000, 0)
	var out bytes.Buffer
	r := NewRecoder(&out, newRevision)
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for range b.N {
		out.Reset()
		if _, err := r.Write(in); err != nil {
			b.Fatal(err)
		}
	}
}
