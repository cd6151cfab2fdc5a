package wal

import (
	"errors"
	"io"
	"os"
)

const (
	scanChunk = 256 << 10
	// scanKeep is the largest buffer kept for the next reader.
	scanKeep = 4 << 20
	diskPage = 4 << 10
)

// scanner reads the records between two offsets of a segment, in order, and
// finds its way again behind bytes it cannot make sense of.
type scanner struct {
	file io.ReaderAt
	seed uint32
	pos  int64
	end  int64
	// credulous: the seed is not known, so that only payloads are proved by their checksums.
	credulous bool

	buf  []byte
	base int64 // offset of buf[0]
}

// record is one record whose header is good. Its payload is the scanner's
// memory and valid until the next call.
type record struct {
	header
	off, end int64
	payload  []byte
	intact   bool // the payload's checksum is right
	gap      bool // unreadable bytes stood before this record
}

func (s *scanner) reset(file io.ReaderAt, seed uint32, pos, end int64) {
	s.file, s.seed, s.pos, s.end = file, seed, pos, end
	s.buf, s.base = s.buf[:0], pos
}

// next returns io.EOF at the end. Bytes that cannot be read, for whatever
// reason of the disk, count as unreadable records, not as an error.
func (s *scanner) next() (record, error) {
	var gap bool
	for s.pos+headerBytes <= s.end {
		rec, ok, err := s.at(s.pos)
		if err != nil {
			return record{}, err
		}
		// Behind a gap only a whole good record proves that reading is in step again.
		if ok && (rec.intact || !gap && !s.credulous) {
			rec.gap = gap
			s.pos = rec.end
			return rec, nil
		}
		gap = true
		s.pos += alignment
	}
	return record{}, io.EOF
}

func (s *scanner) at(off int64) (record, bool, error) {
	b, err := s.window(off, headerBytes)
	if err != nil {
		return record{}, false, err
	}
	h, ok := parseHeader(b, s.seed, off)
	if s.credulous {
		h, ok = parseFields(b)
	}
	size := recordBytes(int(h.length))
	if !ok || off+size > s.end {
		return record{}, false, nil
	}
	b, err = s.window(off, int(size))
	if err != nil || int64(len(b)) < size {
		return record{}, false, err
	}
	rec := record{header: h, off: off, end: off + size, payload: b[headerBytes : headerBytes+h.length]}
	rec.intact = checksum(rec.payload) == h.crc
	return rec, true, nil
}

// window returns the n bytes at off, fewer only where the file ends.
func (s *scanner) window(off int64, n int) ([]byte, error) {
	if i := off - s.base; i >= 0 && i+int64(n) <= int64(len(s.buf)) {
		return s.buf[i : i+int64(n)], nil
	}
	want := int(min(int64(max(n, scanChunk)), s.end-off))
	if cap(s.buf) < want {
		s.buf = make([]byte, max(want, scanChunk))
	}
	s.buf, s.base = s.buf[:want], off
	got, err := s.file.ReadAt(s.buf, off)
	if errors.Is(err, os.ErrClosed) {
		s.buf = s.buf[:0]
		return nil, err
	}
	switch {
	case err == nil:
	case errors.Is(err, io.EOF):
		s.end = off + int64(got)
	default:
		s.salvage()
		got = want
	}
	s.buf = s.buf[:got]
	return s.buf[:min(n, got)], nil
}

// salvage fills the buffer page by page, with zeros for pages that the disk
// does not give back: waiting for them would hold up the log for ever.
func (s *scanner) salvage() {
	for i := 0; i < len(s.buf); i += diskPage {
		page := s.buf[i:min(i+diskPage, len(s.buf))]
		if n, err := s.file.ReadAt(page, s.base+int64(i)); err != nil {
			clear(page[n:])
		}
	}
}
