package chdb

import (
	"time"
	"unsafe"
)

// Result is a whole result, or a chunk of a streamed one, in the engine's memory.
type Result struct {
	lib    *Library
	handle unsafe.Pointer
}

// result takes ownership of a handle, and frees it when it carries an error.
func (c *Conn) result(handle unsafe.Pointer) (*Result, error) {
	if handle == nil {
		return nil, parseError("the engine returned no result")
	}
	r := &Result{lib: c.lib, handle: handle}
	if msg := c.lib.resultError(handle); msg != nil {
		err := parseError(cString(msg))
		r.Close()
		return nil, err
	}
	return r, nil
}

// Bytes is the formatted result. It is valid until Close.
func (r *Result) Bytes() []byte {
	n := r.lib.resultLength(r.handle)
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(r.lib.resultBuffer(r.handle)), n)
}

// Close frees the result.
func (r *Result) Close() {
	if r.handle != nil {
		r.lib.resultDestroy(r.handle)
		r.handle = nil
	}
}

// Stats are the figures of a finished statement.
type Stats struct {
	ResultRows                uint64
	ReadRows, ReadBytes       uint64 // from tables
	WrittenRows, WrittenBytes uint64 // also by materialized views
	Elapsed                   time.Duration
}

// Stats are the statement's figures so far.
func (r *Result) Stats() Stats {
	return Stats{
		ResultRows:   r.lib.rowsRead(r.handle),
		ReadRows:     r.lib.storageRows(r.handle),
		ReadBytes:    r.lib.storageBytes(r.handle),
		WrittenRows:  r.lib.rowsWritten(r.handle),
		WrittenBytes: r.lib.bytesWritten(r.handle),
		Elapsed:      time.Duration(r.lib.resultElapsed(r.handle) * float64(time.Second)),
	}
}
