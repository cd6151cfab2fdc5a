// Command pitwall-clickhouse serves ClickHouse's HTTP interface from libchdb, the
// ClickHouse engine as a library. See README.md beside this file.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/pitwall-otel/pitwall/cmd/pitwall-clickhouse/internal/engine"
	"github.com/pitwall-otel/pitwall/cmd/pitwall-clickhouse/internal/sandbox"
)

const (
	exitFailed = 1
	exitUsage  = 2
	exitInUse  = 3
)

// The process's first thread must never enter the engine: there, and only there, it
// finds its stack by reading /proc/self/maps, which a confined process cannot. Only
// from an init function is the thread that main keeps sure to be that one.
//
//nolint:gochecknoinits // see above
func init() { runtime.LockOSThread() }

func main() {
	os.Exit(run(os.Args[1:]))
}

func run(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	o, confined, err := confinedOptions()
	if err == nil && !confined {
		o, err = parseOptions(args)
	}
	if errors.Is(err, errHelp) {
		return 0
	}
	if err != nil {
		return report(err, exitUsage)
	}
	if !confined {
		err := confine(o)
		if !errors.Is(err, sandbox.ErrUnsupported) {
			return report(err, exitFailed)
		}
		fmt.Fprintln(os.Stderr, "pitwall-clickhouse: warning: "+err.Error()+": who may run SQL can read the files that this process can read")
	}
	if o.StopOnStdinClose {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		// Ends with the process: a read of standard input cannot be called off.
		go func() { waitForEnd(os.Stdin); cancel() }()
	}
	served := make(chan error, 1)
	go func() { served <- serve(ctx, o) }()
	err = <-served
	var inUse *engine.InUseError
	switch {
	case errors.As(err, &inUse):
		return report(err, exitInUse)
	case err != nil:
		return report(err, exitFailed)
	}
	return 0
}

func report(err error, code int) int {
	fmt.Fprintln(os.Stderr, "pitwall-clickhouse: "+err.Error())
	return code
}

// waitForEnd reads until nobody holds the other end any more.
func waitForEnd(f *os.File) {
	buf := make([]byte, 512)
	for {
		if _, err := f.Read(buf); err != nil {
			return
		}
	}
}
