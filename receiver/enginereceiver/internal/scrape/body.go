package scrape

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
)

// counter counts the bytes of a body on the wire.
type counter struct {
	io.Reader
	bytes int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.bytes += int64(n)
	return n, err
}

// decoded is the body without its Content-Encoding; done gives back what decoding took.
func (c *Client) decoded(ctx context.Context, resp *http.Response, wire io.Reader) (body io.Reader, done func(), failed *Error) {
	switch encoding := resp.Header.Get("Content-Encoding"); encoding {
	case "", "identity":
		return wire, func() {}, nil
	case "gzip", "x-gzip":
	default:
		return nil, nil, &Error{Kind: Encoding, cause: fmt.Errorf("content-encoding %q was not asked for", encoding)}
	}
	unzip, ok := c.unzip.Get().(*gzip.Reader)
	if !ok {
		unzip = new(gzip.Reader)
	}
	if err := unzip.Reset(wire); err != nil {
		return nil, nil, broken(ctx, err)
	}
	return unzip, func() { c.unzip.Put(unzip) }, nil
}

// broken is a body that ended before its end.
func broken(ctx context.Context, err error) *Error {
	_, corrupt := errors.AsType[flate.CorruptInputError](err)
	if corrupt || errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) {
		return &Error{Kind: Encoding, cause: err}
	}
	return failure(ctx, err)
}

func (c *Client) buffer() *[]byte {
	if buffer, ok := c.buffers.Get().(*[]byte); ok {
		return buffer
	}
	return new([]byte)
}

// appendAll reads to the end or to one byte more than limit. Expected is how much there may be, -1 when nobody knows.
func appendAll(body []byte, from io.Reader, limit, expected int64) ([]byte, error) {
	// One byte more, to see the end without growing; never as much as a header claims.
	body = slices.Grow(body, int(max(4<<10, min(expected, limit, 1<<20)+1)))
	for {
		room := min(int64(cap(body)-len(body)), limit+1-int64(len(body)))
		n, err := from.Read(body[len(body) : int64(len(body))+room])
		body = body[:len(body)+n]
		switch {
		case errors.Is(err, io.EOF):
			return body, nil
		case err != nil || int64(len(body)) > limit:
			return body, err
		case len(body) == cap(body):
			body = slices.Grow(body, int(min(int64(len(body)), limit+1-int64(len(body)))))
		}
	}
}

// wholeFamilies cuts a body that was cut anywhere: before its last block of metadata lines, because part of a histogram is
// worse than none. A body without metadata lines is cut after its last whole line.
func wholeFamilies(body []byte) []byte {
	body = body[:bytes.LastIndexByte(body, '\n')+1]
	cut, found := len(body), false
	for end := len(body); end > 0; {
		start := bytes.LastIndexByte(body[:end-1], '\n') + 1
		comment := bytes.HasPrefix(body[start:end], []byte("# "))
		if found && !comment {
			break
		}
		if comment {
			cut, found = start, true
		}
		end = start
	}
	return body[:cut]
}
