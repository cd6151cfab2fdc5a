package chdb

import (
	"errors"
	"runtime"
	"unsafe"
)

// ErrConnect is all the library says when a connection cannot be made.
var ErrConnect = errors.New("the engine refused the connection")

// Conn is a session of the engine. It is not safe for concurrent use.
type Conn struct {
	lib *Library
	// box is the library's own pointer to the handle, which it wants back to close.
	box    unsafe.Pointer
	handle unsafe.Pointer
}

// Connect opens a session. Arguments are those of clickhouse local, such as
// --path=DIR; server-level ones count only for the connection that starts the engine.
func (l *Library) Connect(args ...string) (*Conn, error) {
	argv := make([]*byte, 0, len(args)+2)
	for _, arg := range append([]string{"clickhouse"}, args...) {
		argv = append(argv, unsafe.SliceData(append([]byte(arg), 0)))
	}
	argc := int32(len(argv))
	argv = append(argv, nil)
	box := l.connect(argc, unsafe.Pointer(unsafe.SliceData(argv)))
	runtime.KeepAlive(argv)
	if box == nil {
		return nil, ErrConnect
	}
	return &Conn{lib: l, box: box, handle: *(*unsafe.Pointer)(box)}, nil
}

// Close ends the session. Its statement must have ended, its streams be closed.
func (c *Conn) Close() {
	if c.box != nil {
		c.lib.closeConn(c.box)
		c.box, c.handle = nil, nil
	}
}

// Query runs one statement and returns its whole result, written in the
// statement's own FORMAT or, without one, in format. The caller closes the
// result. An error of the engine is an *Error.
func (c *Conn) Query(sql, format string, params ...Param) (*Result, error) {
	p := packParams(params)
	r := c.lib.query(c.handle, data(sql), uint64(len(sql)), data(format), uint64(len(format)),
		p.names, p.nameLens, p.values, p.valueLens, uint64(len(params)))
	runtime.KeepAlive(p)
	return c.result(r)
}

// Exec runs a statement whose result does not matter.
func (c *Conn) Exec(sql string, params ...Param) error {
	r, err := c.Query(sql, "Null", params...)
	if err != nil {
		return err
	}
	r.Close()
	return nil
}

// data points at the bytes of s, and at some byte when s is empty: the library
// takes a nil for an error.
func data(s string) unsafe.Pointer {
	if s == "" {
		s = "\x00"
	}
	return unsafe.Pointer(unsafe.StringData(s))
}
