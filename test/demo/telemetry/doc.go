// Package telemetry sends the facts of test/demo/simulation as a trainer would: plain OTLP over HTTP with explicit times,
// the step as an attribute of each point, one resource per process. It waits and tries again when it is told to.
package telemetry
