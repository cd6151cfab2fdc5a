// Package httpserver speaks ClickHouse's HTTP interface in front of an embedded
// engine: what a ClickHouse server does between its socket and its interpreter.
//
// Each request has an engine session of its own, unless it names a session_id.
// What the URL sets holds for the request only, so a kept session gets its own
// values back afterwards. A statement runs when the engine's parser has said what
// it does (see admit) and never otherwise.
//
// What bites: the status line is gone once the first byte of a result is sent. An
// error after that is a block of text at the end of the body, and the connection
// is cut so that no client takes the result for complete.
package httpserver
