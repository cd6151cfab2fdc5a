package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	"golang.org/x/net/netutil"

	"github.com/pitwall-otel/pitwall/cmd/pitwall-clickhouse/internal/engine"
	"github.com/pitwall-otel/pitwall/cmd/pitwall-clickhouse/internal/httpserver"
)

const (
	// grace is how long requests may go on after the order to stop.
	grace = 10 * time.Second
	// lastGrace is what each further step of stopping gets.
	lastGrace      = 2 * time.Second
	headerTimeout  = 10 * time.Second
	idleTimeout    = 2 * time.Minute
	maxHeader      = 1 << 20 // bytes; statements and parameters may stand in the URL
	maxConnections = 1024
)

// serve runs until ctx ends.
func serve(ctx context.Context, o options) error {
	e, err := engine.Open(engine.Config{Dir: o.DataDir, Library: o.Library, MaxMemory: o.MaxMemory})
	if err != nil {
		return err
	}
	handler, err := httpserver.New(e, o.Users, httpserver.DefaultLimits())
	if err != nil {
		return errors.Join(err, e.Close())
	}
	err = listenAndWatch(ctx, o, handler, e)
	if errors.Is(err, engine.ErrWriteFailed) {
		return err // at once: nothing more is to be built on a damaged part
	}
	if !handler.Close(lastGrace) {
		// The engine cannot be closed under them. What is acknowledged is on disk.
		return errors.Join(err, errors.New("statements that cannot be ended are still running"))
	}
	return errors.Join(err, e.Close())
}

// listenAndWatch does so until ctx ends, or the engine has to.
func listenAndWatch(ctx context.Context, o options, handler *httpserver.Server, e *engine.Engine) error {
	watching, stop := context.WithCancel(ctx)
	watched, listened := make(chan error, 1), make(chan error, 1)
	go func() { watched <- e.Watch(watching) }()
	go func() { listened <- listen(ctx, o, handler, e.Version()) }()
	select {
	case err := <-watched:
		stop()
		if err != nil {
			return err
		}
		return <-listened
	case err := <-listened:
		stop()
		return errors.Join(err, <-watched)
	}
}

// listen answers requests until ctx ends and those that run then have had their time.
func listen(ctx context.Context, o options, handler *httpserver.Server, version string) error {
	listener, err := net.Listen("tcp", o.Listen)
	if err != nil {
		return fmt.Errorf("--listen %s: %w", o.Listen, err)
	}
	requests, endRequests := context.WithCancel(context.WithoutCancel(ctx))
	defer endRequests()
	server := &http.Server{
		Handler:           handler.Protect(o.Users[0].Password == ""),
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          log.New(quiet{os.Stderr}, "pitwall-clickhouse: ", 0),
		BaseContext:       func(net.Listener) context.Context { return requests },
	}
	scheme := "http"
	if o.CertFile != "" {
		pair := &certificate{certFile: o.CertFile, keyFile: o.KeyFile}
		if _, err := pair.get(nil); err != nil {
			listener.Close()
			return fmt.Errorf("--tls-cert, --tls-key: %w", err)
		}
		server.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: pair.get}
		scheme = "https"
	}
	fmt.Fprintf(os.Stderr, "pitwall-clickhouse: listening on %s://%s (chDB %s, data in %s)\n", scheme, listener.Addr(), version, o.DataDir)
	served := make(chan error, 1)
	go func() { served <- accept(server, netutil.LimitListener(listener, maxConnections)) }()
	select {
	case err := <-served:
		return fmt.Errorf("serve %s: %w", o.Listen, err)
	case <-ctx.Done():
	}
	drain(server, endRequests)
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve %s: %w", o.Listen, err)
	}
	return nil
}

func accept(server *http.Server, listener net.Listener) error {
	if server.TLSConfig != nil {
		return server.ServeTLS(listener, "", "")
	}
	return server.Serve(listener)
}

// drain lets running requests finish, then ends their statements, then cuts their connections.
func drain(server *http.Server, endRequests func()) {
	patience, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	if server.Shutdown(patience) == nil {
		return
	}
	endRequests()
	last, cancelLast := context.WithTimeout(context.Background(), lastGrace)
	defer cancelLast()
	if server.Shutdown(last) != nil {
		_ = server.Close()
	}
}

// quiet drops what any stranger can make net/http write, once per connection.
type quiet struct{ w io.Writer }

func (q quiet) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("TLS handshake error")) {
		return len(line), nil
	}
	return q.w.Write(line)
}
