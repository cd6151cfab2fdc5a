package coding

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/ClickHouse/ch-go/compress"
	"github.com/go-faster/city"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// A frame is a 16-byte CityHash128 of the rest, a method byte, the size of method,
// sizes and payload together, the size once decompressed, and the payload.
const (
	checksumSize = 16
	sizesSize    = 9
	headerSize   = checksumSize + sizesSize

	// maxFrame bounds a frame's payload and its decompressed form, in bytes.
	// ClickHouse clients send a block as one frame.
	maxFrame = 128 << 20

	methodNone = 0x02
	methodLZ4  = 0x82
	methodZSTD = 0x90
)

// ErrFrame is returned for bytes that are not a frame, or one that is damaged or too large.
var ErrFrame = errors.New("bad compressed frame")

// FrameReader decompresses a sequence of frames. ch-go's reader is not used: it
// trusts a zstd payload to hold no more than its header says.
type FrameReader struct {
	r       io.Reader
	payload bytes.Buffer
	data    []byte
	rest    []byte
	zstd    *zstd.Decoder
}

// NewFrameReader reads frames from r.
func NewFrameReader(r io.Reader) *FrameReader { return &FrameReader{r: r} }

// Read returns decompressed bytes, and io.EOF after the last whole frame.
func (f *FrameReader) Read(p []byte) (int, error) {
	for len(f.rest) == 0 {
		if err := f.frame(); err != nil {
			return 0, err
		}
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

func (f *FrameReader) frame() error {
	var header [headerSize]byte
	if n, err := io.ReadFull(f.r, header[:]); err != nil {
		if n == 0 && errors.Is(err, io.EOF) {
			return io.EOF
		}
		return fmt.Errorf("%w: header: %w", ErrFrame, err)
	}
	size := int64(binary.LittleEndian.Uint32(header[checksumSize+1:])) - sizesSize
	decoded := int64(binary.LittleEndian.Uint32(header[checksumSize+5:]))
	if size < 0 || size > maxFrame || decoded > maxFrame {
		return fmt.Errorf("%w: %d bytes for %d", ErrFrame, size, decoded)
	}
	f.payload.Reset()
	f.payload.Write(header[checksumSize:])
	// Grows as bytes arrive, so that a header alone costs nothing.
	if n, err := io.Copy(&f.payload, io.LimitReader(f.r, size)); err != nil {
		return fmt.Errorf("%w: payload: %w", ErrFrame, err)
	} else if n < size {
		return fmt.Errorf("%w: payload: %w", ErrFrame, io.ErrUnexpectedEOF)
	}
	sum := city.CH128(f.payload.Bytes())
	if sum.Low != binary.LittleEndian.Uint64(header[:]) || sum.High != binary.LittleEndian.Uint64(header[8:]) {
		return fmt.Errorf("%w: checksum differs", ErrFrame)
	}
	return f.decode(header[checksumSize], f.payload.Bytes()[sizesSize:], int(decoded))
}

func (f *FrameReader) decode(method byte, payload []byte, size int) (err error) {
	switch method {
	case methodNone:
		f.data = append(f.data[:0], payload...)
	case methodLZ4:
		// LZ4 cannot expand more than 255 times: a header that says so is a lie.
		if size > 256*(len(payload)+1) {
			return fmt.Errorf("%w: %d bytes for %d", ErrFrame, len(payload), size)
		}
		if cap(f.data) < size {
			f.data = make([]byte, size)
		}
		var n int
		n, err = lz4.UncompressBlock(payload, f.data[:size])
		f.data = f.data[:max(n, 0)]
	case methodZSTD:
		if f.zstd == nil {
			f.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(maxFrame))
			if err != nil {
				return err
			}
		}
		f.data, err = f.zstd.DecodeAll(payload, f.data[:0])
	default:
		return fmt.Errorf("%w: method 0x%02x", ErrFrame, method)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrFrame, err)
	}
	if len(f.data) != size {
		return fmt.Errorf("%w: %d bytes instead of %d", ErrFrame, len(f.data), size)
	}
	f.rest = f.data
	return nil
}

// FrameWriter compresses each piece written to it into LZ4 frames of up to 1 MiB.
type FrameWriter struct {
	w io.Writer
	c *compress.Writer
}

// NewFrameWriter writes frames to w.
func NewFrameWriter(w io.Writer) *FrameWriter {
	return &FrameWriter{w: w, c: compress.NewWriter(compress.LevelZero, compress.LZ4)}
}

// Write compresses p and writes it whole: nothing is kept back.
func (f *FrameWriter) Write(p []byte) (int, error) {
	const frame = 1 << 20
	for done := 0; done < len(p); done += frame {
		if err := f.c.Compress(p[done:min(done+frame, len(p))]); err != nil {
			return done, fmt.Errorf("compress: %w", err)
		}
		if _, err := f.w.Write(f.c.Data); err != nil {
			return done, err
		}
	}
	return len(p), nil
}
