package block

import (
	"fmt"

	"github.com/ClickHouse/ch-go/compress"
)

// Compression names the codec of the frames in which blocks travel.
type Compression string

// The codecs that ClickHouse reads from a body sent with decompress=1, and none.
const (
	LZ4  Compression = "lz4"
	ZSTD Compression = "zstd"
	None Compression = "none"
)

// Compressor packs pieces of blocks into frames.
type Compressor struct{ writer *compress.Writer }

// NewCompressor returns a Compressor for lz4 or zstd.
func NewCompressor(c Compression) (*Compressor, error) {
	switch c {
	case LZ4:
		return &Compressor{writer: compress.NewWriter(compress.LevelZero, compress.LZ4)}, nil
	case ZSTD:
		return &Compressor{writer: compress.NewWriter(compress.LevelZero, compress.ZSTD)}, nil
	default:
		return nil, fmt.Errorf("no compressor for %q", c)
	}
}

// Append appends a frame with that piece.
func (c *Compressor) Append(dst, piece []byte) ([]byte, error) {
	if err := c.writer.Compress(piece); err != nil {
		return dst, fmt.Errorf("compress a frame of %d bytes: %w", len(piece), err)
	}
	return append(dst, c.writer.Data...), nil
}
