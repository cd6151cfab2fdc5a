//go:build linux && cgo

package main

import (
	"fmt"
	"os"

	"github.com/pitwall-otel/pitwall/internal/nvml"
	"github.com/pitwall-otel/pitwall/internal/nvml/wire"
)

// devices and event are sent from threads that have nobody to tell an error: without a reader the helper is of no use.

func (p *pipe) devices(a *wire.Answer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.must(wire.AppendAnswer(p.buf, a))
}

func (p *pipe) event(e *nvml.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.must(wire.AppendEvent(p.buf, e))
}

func (p *pipe) must(frame []byte) {
	if err := p.write(frame); err != nil {
		fmt.Fprintln(os.Stderr, "pitwall-nvml: "+err.Error())
		os.Exit(exitFailed)
	}
}
