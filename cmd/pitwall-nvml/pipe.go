package main

import (
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/pitwall-otel/pitwall/internal/nvml"
	"github.com/pitwall-otel/pitwall/internal/nvml/wire"
)

// pipe writes frames; one buffer and one write for each, whoever sends it.
type pipe struct {
	mu  sync.Mutex
	out io.Writer
	buf []byte
}

func (p *pipe) hello() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.write(wire.AppendHello(p.buf, wire.Hello{Version: wire.Version, Cgo: withCgo}))
}

func (p *pipe) header(h *wire.Header) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.write(wire.AppendHeader(p.buf, h))
}

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

func (p *pipe) write(frame []byte) error {
	p.buf = frame
	if _, err := p.out.Write(frame); err != nil {
		return fmt.Errorf("answering: %w", err)
	}
	return nil
}
