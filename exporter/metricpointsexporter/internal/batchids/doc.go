// Package batchids remembers the ids of accepted requests, so that a request that is sent again is not stored again.
//
// What bites:
//   - An id is kept only once its points are on disk, and is itself on disk before the log begins a segment that hides
//     those points from the next start: Keep and Sync are the log's Kept and Sealing. So after any crash an id is in a
//     file here or in the segments that the log reads at start, and no id is ever known whose points are not there.
//   - Ids are forgotten generation by generation, by time and by number, whichever comes first.
//   - Time is how long the set is open: a wall clock may be set, and a window must not end by that. For what an earlier
//     process knew the window begins anew.
//   - A disk that takes no ids is no reason to refuse points: they are kept in memory and tried again at the next Sync.
package batchids
