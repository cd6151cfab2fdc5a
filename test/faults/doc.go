// Package faults holds the proof of the delivery promise: each test breaks something from outside while clients send, and
// then compares, point by point, what was acknowledged with what is in the table.
//
// The parts of the rig: load sends stamped points over OTLP/HTTP and gRPC and keeps a record of every answer; proxy stands
// between collector and engine and breaks INSERTs; ledger scrapes the collector and checks that its counts add up at
// every sample; certificates issues good and bad ones, and tls has a front that serves them; clock is a wall clock for
// one collector; rig puts them together, and its finish reconciles by SQL. A new component gets its faults here.
//
// What bites:
//   - A request without an answer may be stored or not: "unknown". Only acknowledged points must be there, only refused
//     ones must not, and none may be there twice.
//   - The binaries must have been built (make deps build). One test starts an engine of its own: 300 MB.
//   - PITWALL_SOAK=1 (make soak) makes the loops ten times as long.
//   - No test asserts how long something took: other tests run beside it. Deadlines only end a test that hangs.
//   - Figures are logged, so `go test -v -run NAME ./test/faults` shows them.
package faults
