package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Version is of the frames' contents.
const Version = 2

// MaxFrame bounds a frame's payload, in bytes. A GPU with 7 MIG devices and 10,000 processes takes a quarter of it.
const MaxFrame = 1 << 20

// Kind is what a frame holds.
type Kind byte

// The kinds.
const (
	KindHello Kind = iota + 1
	KindAsk
	KindHeader
	KindAnswer
	KindEvent
)

// Errors of reading.
var (
	ErrTooLong   = errors.New("frame is too long")
	ErrMalformed = errors.New("malformed frame")
)

const headLength = 5

// begin makes room for a frame's head in buf.
func begin(buf []byte, kind Kind) []byte {
	return append(buf[:0], 0, 0, 0, 0, byte(kind))
}

// finish writes the payload's length into the head.
func finish(buf []byte) []byte {
	binary.LittleEndian.PutUint32(buf, uint32(len(buf)-headLength))
	return buf
}

// Read reads one frame. The payload is valid until the next call with the same buffer, which it returns grown.
func Read(r io.Reader, buf []byte) (kind Kind, payload, grown []byte, err error) {
	var head [headLength]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, buf, err
	}
	n := binary.LittleEndian.Uint32(head[:])
	if n > MaxFrame {
		return 0, nil, buf, fmt.Errorf("%w: %d bytes", ErrTooLong, n)
	}
	if cap(buf) < int(n) {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	if _, err := io.ReadFull(r, buf); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return 0, nil, buf, err
	}
	return Kind(head[4]), buf, buf, nil
}
