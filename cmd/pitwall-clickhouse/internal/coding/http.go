package coding

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// maxWindow bounds the memory that a zstd input can ask of its reader, in bytes.
const maxWindow = 64 << 20

// ErrUnknown is returned for a Content-Encoding that is not served.
var ErrUnknown = errors.New("unknown content encoding")

// Reader decodes r, which is in the given Content-Encoding. Closing it does not close r.
func Reader(r io.Reader, encoding string) (io.ReadCloser, error) {
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "", "identity":
		return io.NopCloser(r), nil
	case "gzip", "x-gzip":
		return gzip.NewReader(r)
	case "deflate": // zlib's container, as RFC 9110 and every ClickHouse client have it
		return zlib.NewReader(r)
	case "br":
		return io.NopCloser(brotli.NewReader(r)), nil
	case "zstd":
		d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	case "lz4":
		return io.NopCloser(lz4.NewReader(r)), nil
	}
	return nil, fmt.Errorf("%w %q", ErrUnknown, encoding)
}

// Writer is a compressor whose output so far can be pushed out.
type Writer interface {
	io.WriteCloser
	Flush() error
}

// NewWriter encodes into w. The encoding is one that Choose returned.
func NewWriter(w io.Writer, encoding string) (Writer, error) {
	switch encoding {
	case "gzip":
		return gzip.NewWriterLevel(w, gzip.BestSpeed)
	case "deflate":
		return zlib.NewWriterLevel(w, zlib.BestSpeed)
	case "br":
		return brotli.NewWriterLevel(w, 3), nil
	case "zstd":
		return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
	case "lz4":
		return lz4.NewWriter(w), nil
	}
	return nil, fmt.Errorf("%w %q", ErrUnknown, encoding)
}

// Choose returns the first encoding, in the server's order of liking, that an
// Accept-Encoding header allows, or "" for none.
func Choose(accept string) string {
	allowed := map[string]bool{}
	for part := range strings.SplitSeq(accept, ",") {
		name, quality, _ := strings.Cut(part, ";")
		name = strings.ToLower(strings.TrimSpace(name))
		q, found := strings.CutPrefix(strings.TrimSpace(quality), "q=")
		weight, err := strconv.ParseFloat(q, 64)
		allowed[name] = !found || err == nil && weight > 0
	}
	for _, name := range []string{"br", "lz4", "zstd", "gzip", "deflate"} {
		if allowed[name] {
			return name
		}
	}
	return ""
}
