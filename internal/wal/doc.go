// Package wal is the write-ahead log of the metricpoints exporter: the place
// where "accepted" becomes true. Append returns after its bytes are on disk,
// Next hands out fixed ranges of them, Done lets them go; whatever happens in
// between, a range keeps its bounds and its token, so a store that knows the
// token stores it once.
//
// What bites:
//   - One goroutine, the committer, does all writing. Everything that waits
//     when it comes round goes out with one write and one fdatasync.
//   - A range is fixed on disk before it is handed out. Done is only a mark
//     that spares work: it returns before the mark is on disk, so after a crash
//     a finished range may come again, with the same token.
//   - Opening never rewrites what it finds. It reads the newest segment's
//     header, which is a snapshot of the whole log, and walks what follows.
//   - An Append that fails is gone: it is cut off the file, or the file is left
//     and the next segment's header says what of it counts. Only if the disk
//     refuses both, and the process then dies, may it come back.
//
// Prometheus' tsdb/wlog was looked at and does not fit: it acknowledges no
// append by its own fsync, its Repair deletes the segments behind a damaged
// one, and it cannot read a range.
//
// The format is described in format.go. Linux only.
package wal
