// Package embeddedclickhouseextension runs the helper program pitwall-clickhouse, a ClickHouse HTTP endpoint on the
// chDB library, as a child process of the collector: it starts it, waits for it, restarts it and stops it last.
//
// What bites: the helper gets a process group of its own, or Ctrl-C in a terminal would end it before the pipelines
// have flushed into it. It ends when its standard input closes, so that a collector that was killed leaves no orphan
// holding the data directory. One helper owns a data directory; a collector restarted in a hurry finds the old helper
// still closing (exit code 3) and has to retry soon. The collector itself reports StatusStarting before Start and
// StatusOK after it unless another status was reported, and StatusPermanentError admits no further report.
package embeddedclickhouseextension

//go:generate go tool -modfile=../../internal/tools/go.mod mdatagen metadata.yaml
