//go:build (linux && cgo) || pitwall_nvml_stub

package main

import (
	"fmt"
	"io"
	"sync"

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

func (p *pipe) write(frame []byte) error {
	p.buf = frame
	if _, err := p.out.Write(frame); err != nil {
		return fmt.Errorf("answering: %w", err)
	}
	return nil
}
