// Package statement reads as much of a SQL text as an HTTP server must know
// before the engine sees it: where the data of an INSERT begins and in which
// format it is, the format a result was asked in, and whether the text names one
// of the few things that the engine's grants do not forbid.
//
// It is a tokenizer and a few rules, not a parser. What a statement does is the
// engine's own parser's to say (chdb.Conn.Classify); only text that this parser
// has rewritten in its canonical form may be trusted to hold what it seems to.
package statement
