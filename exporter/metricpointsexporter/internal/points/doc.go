// Package points turns OTLP metrics into rows of metric_points and packs the rows of one request into a payload for
// the write-ahead log.
//
// A payload is self-contained: strings that repeat (run, host, metric, unit) stand once in a table, the combination of
// them once in a table of heads, and rows are columns of small numbers that point into those tables. That is a fraction
// of the OTLP request it came from and becomes a ClickHouse block without looking at a row twice.
//
// What bites: an Encoder keeps its buffers and symbol tables between requests and serves one goroutine at a time. Strings
// of pdata alias the request's buffer; everything kept longer than the call is cloned.
package points
