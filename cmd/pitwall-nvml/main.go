//go:build (linux && cgo) || pitwall_nvml_stub

package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/pitwall-otel/pitwall/internal/nvml/wire"
)

const (
	exitFailed = 1
	exitUsage  = 2
	exitAgain  = 75 // start me again: only a new process can load the driver anew
)

const (
	// gcPercent trades a little CPU for memory: the heap is small, and the runtime's default lets it grow to 4 MiB.
	gcPercent = 25
	// maxProcs bounds the threads that run our code. Those that wait in the library do not count.
	maxProcs = 4
)

// options are the command line's.
type options struct {
	library   string
	relist    time.Duration
	initRetry time.Duration
	lostRetry time.Duration
}

func main() {
	debug.SetGCPercent(gcPercent)
	runtime.GOMAXPROCS(min(maxProcs, runtime.GOMAXPROCS(0)))
	var o options
	flags := flag.NewFlagSet("pitwall-nvml", flag.ContinueOnError)
	flags.StringVar(&o.library, "library", "", "path of libnvidia-ml.so.1; empty for the loader's choice")
	flags.DurationVar(&o.relist, "relist", time.Minute, "how often to look for other GPUs and MIG devices")
	flags.DurationVar(&o.initRetry, "init-retry", 15*time.Second, "how long to wait before a driver that cannot start is tried again")
	flags.DurationVar(&o.lostRetry, "lost-retry", 15*time.Minute, "how long after a GPU was lost to load the driver anew")
	if err := flags.Parse(os.Args[1:]); err != nil || flags.NArg() > 0 {
		os.Exit(exitUsage)
	}
	if err := run(o, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "pitwall-nvml: "+err.Error())
		os.Exit(exitFailed)
	}
}

// run answers until nobody asks any more.
func run(o options, in io.Reader, out io.Writer) error {
	if err := endWithParent(); err != nil {
		return err
	}
	p := &pipe{out: out}
	if err := p.hello(); err != nil {
		return err
	}
	d := newDriver(o, p)
	var buf []byte
	for {
		kind, payload, grown, err := wire.Read(in, buf)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading a request: %w", err)
		}
		buf = grown
		if kind != wire.KindAsk {
			return fmt.Errorf("unexpected frame of kind %d", kind)
		}
		ask, err := wire.ParseAsk(payload)
		if err != nil {
			return fmt.Errorf("reading a request: %w", err)
		}
		if err := d.answer(ask); err != nil {
			return err
		}
	}
}
