//go:build pitwall_nvml_stub && !(linux && cgo)

package main

import (
	"os"
	"time"

	"github.com/pitwall-otel/pitwall/internal/nvml"
	"github.com/pitwall-otel/pitwall/internal/nvml/wire"
)

const withCgo = false

// driver answers that there is none: without cgo the library cannot be loaded.
type driver struct {
	pipe  *pipe
	since time.Time
}

func newDriver(_ options, p *pipe) *driver {
	return &driver{pipe: p, since: time.Now()}
}

func (d *driver) answer(ask wire.Ask) error {
	return d.pipe.header(&wire.Header{
		ID: ask.ID, Status: nvml.StatusNoCgo, StatusSince: d.since, StatusError: "built without cgo",
		Usage: nvml.Usage{PID: os.Getpid()},
	})
}

// endWithParent has nothing to do: the end of standard input ends a process that never hangs.
func endWithParent() error { return nil }
