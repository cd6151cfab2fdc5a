package chdb

import (
	"runtime"
	"unsafe"
)

// Class is what the engine's own parser says a statement does.
type Class uint32

// The classes, from chdb_query_class in the library's header.
const (
	ReadOnly       Class = iota // SELECT, SHOW, DESCRIBE, EXPLAIN, EXISTS, CHECK
	Mutating                    // INSERT, CREATE, ALTER, DROP and the like inside a database
	MutatingGlobal              // functions, named collections, users, writes to system
	Control                     // USE, SET, KILL, temporary tables, ATTACH, SYSTEM, BACKUP, INTO OUTFILE
	Unknown                     // did not parse, or into something this version does not know
)

// analysis is chdb_query_analysis_v1.
type analysis struct {
	size, statements, flags, class uint32
}

// Classify parses sql without running it and returns its class, the highest of
// all its statements, and how many statements it holds (0 when it does not parse).
func (c *Conn) Classify(sql string) (Class, int, error) {
	out := &analysis{}
	out.size = uint32(unsafe.Sizeof(*out))
	state := c.lib.classify(c.handle, data(sql), uint64(len(sql)), nil, 0, unsafe.Pointer(out))
	runtime.KeepAlive(out)
	if state != 0 {
		return Unknown, 0, parseError("the engine could not classify the statement")
	}
	return Class(out.class), int(out.statements), nil
}
