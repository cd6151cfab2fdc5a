// Package test holds the system tests: the programs as they are shipped, the real engine, real certificates, faults from
// outside. What several of its files need and no package of ours offers lies beside them.
//
// They build what they start (see internal/enginetest) and need the engine's library, which `make deps` fetches.
package test
