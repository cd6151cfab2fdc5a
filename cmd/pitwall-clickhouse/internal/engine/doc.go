// Package engine owns a data directory and the ClickHouse engine on it.
//
// The directory holds a lock file of ours, the two configuration files we write
// at each start, and the engine's own data in "engine". One process at a time may
// open it; the lock goes away with the process, however it ends.
//
// What bites: without an explicit configuration file the engine reads one from
// the working directory or the home directory, and without the grants in ours any
// statement may read and write files as this process. The grants do not cover
// everything: package httpserver refuses the rest. And the engine goes on after a write that its disk refused, with damaged
// parts: see ErrWriteFailed.
package engine
