// Package collectortest runs the real bin/pitwall in a test, with a shipped configuration moved to free ports and to a
// folder of its own: New prepares it, Start and Stop may follow each other any number of times on the same data.
//
// The binaries must have been built (make deps build). What the collector said is shown when the test fails.
package collectortest
