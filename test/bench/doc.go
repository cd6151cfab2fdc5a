// Command bench measures what docs/benchmarks.md claims: the metricpoints exporter beside contrib's clickhouse exporter,
// first as exporters alone (pdata to answered POST), then as whole collectors (OTLP/HTTP to rows); and the engine receiver
// beside contrib's prometheus receiver, both scraping the same pages of test/fleet's engines, a few often and many at once.
//
// Both sides run in turn in the same rounds against the same engine with the same points, and every round counts the
// rows in the table afterwards, or the scrapes and their points: a figure for points that did not arrive is worth nothing.
// CPU is the operating system's own accounting of each process, so it holds on a busy machine where wall time does not.
//
//	make deps build && go run ./test/bench -rounds 5
package main
