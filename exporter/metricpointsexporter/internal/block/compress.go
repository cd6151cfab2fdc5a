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

// frameBytes is the size of a frame before compression, the server's own default (max_compress_block_size).
const frameBytes = 1 << 20

// Compressor packs blocks into frames.
type Compressor struct {
	writer *compress.Writer
	framed []byte
}

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

// Compress returns the frames of data, valid until the next call.
func (c *Compressor) Compress(data []byte) ([]byte, error) {
	c.framed = c.framed[:0]
	for len(data) > 0 {
		n := min(len(data), frameBytes)
		if err := c.writer.Compress(data[:n]); err != nil {
			return nil, fmt.Errorf("compress a frame of %d bytes: %w", n, err)
		}
		c.framed = append(c.framed, c.writer.Data...)
		data = data[n:]
	}
	return c.framed, nil
}
