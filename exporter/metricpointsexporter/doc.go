// Package metricpointsexporter writes OTLP metrics as rows of one ClickHouse table, training_observability.metric_points.
//
// A request becomes columns as it arrives, is appended to a write-ahead log and answered after the log's fsync; apart
// from that, ranges of the log become sorted Native blocks that are posted over HTTP until the server has them, with a
// token that lets the server store each range once. The answer to a request therefore never waits for the server, and
// a server that is away costs disk instead of points.
//
// Cumulative histograms become what came since the value before, which is remembered with the log (internal/delta).
//
// What bites: the promise is for one log directory and one table. Two exporters need two directories, and the table
// needs a deduplication window (the migrations set it; a table of your own may lack it, which is reported at start).
package metricpointsexporter
