// Package delta turns cumulative histograms into what happened since the value before, and remembers that value with the
// log, so that neither a refused request nor a restart loses or repeats an observation.
//
// What bites:
//   - A series' value advances only when its request is on disk: states travel in the request's payload, and Keep, which
//     the log calls, takes them. Requests of one resource therefore wait for one another, from Convert to Release.
//   - What is known survives by the log alone: Snapshot stands in the header of each segment, Keep is told of what follows.
//   - A value that cannot be compared with one before is either counted whole, if its series began after Converter.since, or
//     is what the next ones are compared with and no more. since and forgotten move whenever something is forgotten, to its
//     own time if that is known: a series that was forgotten is never counted whole a second time, and no late value of it
//     is taken for its newest.
//   - Start times that are absent, or not before the point's own, say nothing (OpenTelemetry's "unknown start time"): then
//     a series that was known goes on, unless a count went down.
//   - What is dropped as unknown is remembered even if its request is refused (value.refused): when it comes again it is
//     still the first one, and when a later one comes instead it is counted as dropped then.
//   - Times are producers' times. Counts of one life only grow, so within it they tell better than times what is newer.
package delta
