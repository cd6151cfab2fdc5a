package chdb

import (
	"runtime"
	"unsafe"
)

// Insert is a running INSERT that is fed with formatted bytes.
type Insert struct {
	conn   *Conn
	handle unsafe.Pointer
	ended  bool
}

// Insert starts an INSERT. The statement stands without FORMAT (the engine would
// take the words for data) and without VALUES; SETTINGS are allowed. The
// connection takes no other statement until Close.
func (c *Conn) Insert(sql, format string, params ...Param) (*Insert, error) {
	p := packParams(params)
	h := c.lib.insert(c.handle, data(sql), uint64(len(sql)), data(format), uint64(len(format)),
		p.names, p.nameLens, p.values, p.valueLens, uint64(len(params)))
	runtime.KeepAlive(p)
	if h == nil {
		return nil, parseError("the engine returned no insert stream")
	}
	in := &Insert{conn: c, handle: h}
	if err := in.err(); err != nil {
		in.Close()
		return nil, err
	}
	return in, nil
}

// Write appends a piece of the data, cut anywhere; the engine copies it, and
// blocks while it is behind.
func (in *Insert) Write(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	state := in.conn.lib.insertAppend(in.handle, unsafe.Pointer(unsafe.SliceData(b)), uint64(len(b)))
	runtime.KeepAlive(b)
	if state == 0 {
		return len(b), nil
	}
	if err := in.err(); err != nil {
		return 0, err
	}
	return 0, parseError("the insert stream takes no more data")
}

// Done ends the data and waits until the rows are stored.
func (in *Insert) Done() (Stats, error) {
	in.ended = true
	r, err := in.conn.result(in.conn.lib.insertDone(in.handle))
	if err != nil {
		return Stats{}, err
	}
	defer r.Close()
	return r.Stats(), nil
}

// Close cancels the INSERT unless Done was called, and frees it. Blocks that
// the engine had already stored stay.
func (in *Insert) Close() {
	if in.handle == nil {
		return
	}
	if !in.ended {
		in.conn.lib.insertCancel(in.handle)
	}
	in.conn.lib.insertDestroy(in.handle)
	in.handle = nil
}

func (in *Insert) err() error {
	if msg := in.conn.lib.insertError(in.handle); msg != nil {
		return parseError(cString(msg))
	}
	return nil
}
