// Package chdb binds libchdb, ClickHouse as a shared library, without cgo.
//
// A Conn is a session and runs one statement at a time; run statements at the
// same time on several. All connections of a process share one data directory.
// The first one starts the engine, closing the last one stops it.
//
// What bites:
//   - The engine installs signal handlers that make a Go nil dereference hang
//     for ever. Open turns them off, which must happen before the first Connect.
//   - Data behind an INSERT inside the statement is not binary safe. Only an
//     Insert stream is, and its statement must carry no FORMAT clause.
//   - A Stream takes SELECT only and formats each chunk as a document of its
//     own, so only formats without a header or a footer can be streamed.
//   - Connect gives no reason when it fails; the engine prints it on stderr.
package chdb
