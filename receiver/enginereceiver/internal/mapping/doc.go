// Package mapping turns one page of an inference engine or of a router into metrics that have one name per meaning: a
// [Mapper] holds what names mean, from the registry, and a [Target] what is remembered between two scrapes of one page.
//
// A series is decoded once. Its bytes are then a key for what it became (metric, attributes, bucket), so a scrape costs a
// comparison of bytes per line and the points themselves.
//
// What bites. Sums and histograms are cumulative, with start times that those rely on who make deltas: the metricpoints
// exporter, which remembers series over restarts, counts a value whole when its start is later than what it knows;
// cumulative_to_delta keeps its state per start time, drops the first value of a series that started before it, and after
// a drop of a histogram with the same start time it would be silent for ever. So a point's start time changes exactly when its count began anew: it is the
// engine's own (_created, process_start_time_seconds) where there is one; else the time of the scrape before, for a series
// that appears or restarts on an engine that was there; else, for an engine seen for the first time, the time of the
// scrape itself, because how much of the value is old nobody knows, and while scrapes are refused that of the next. Stored as they come, sums are the engine's own
// totals, and a value below the one before means that it restarted.
//
// The same work may show several times: per tensor and pipeline rank, per process, per priority and as their total, under
// an old and a new name. One of them becomes a point, the others are counted as dropped.
package mapping
