package chdb

import (
	"runtime"
	"unsafe"
)

// Stream is a running SELECT whose result is fetched in chunks.
type Stream struct {
	conn   *Conn
	handle unsafe.Pointer
	ended  bool
}

// Stream starts a SELECT. Anything else is refused by the engine (error 36).
func (c *Conn) Stream(sql, format string, params ...Param) (*Stream, error) {
	p := packParams(params)
	h := c.lib.streamQuery(c.handle, data(sql), uint64(len(sql)), data(format), uint64(len(format)),
		p.names, p.nameLens, p.values, p.valueLens, uint64(len(params)))
	runtime.KeepAlive(p)
	r, err := c.result(h)
	if err != nil {
		return nil, err
	}
	return &Stream{conn: c, handle: r.handle}, nil
}

// Next blocks for the next chunk. At the end it returns nil without an error.
func (s *Stream) Next() (*Result, error) {
	if s.ended {
		return nil, nil
	}
	r, err := s.conn.result(s.conn.lib.streamFetch(s.conn.handle, s.handle))
	if err != nil {
		s.ended = true
		return nil, err
	}
	if len(r.Bytes()) == 0 {
		s.ended = true
		r.Close()
		return nil, nil
	}
	return r, nil
}

// Close cancels what is left of the statement and frees the stream.
func (s *Stream) Close() {
	if s.handle == nil {
		return
	}
	if !s.ended {
		s.conn.lib.streamCancel(s.conn.handle, s.handle)
	}
	s.conn.lib.resultDestroy(s.handle)
	s.handle = nil
}
