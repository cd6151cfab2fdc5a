package enginetest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	startDeadline = 60 * time.Second // a cold page cache under a busy machine
	stopDeadline  = 30 * time.Second
)

// Engine is one running server with its data directory.
type Engine struct {
	t        testing.TB
	binary   string
	args     []string
	address  string
	password string
	http     *http.Client
	process  *exec.Cmd // nil when stopped
	stdin    io.Closer
	exited   chan struct{}
	output   output
}

type options struct {
	dataDir, password string
	args              []string
}

// Option changes how an engine is started.
type Option func(*options)

// WithDataDir keeps the data in dir instead of a folder that goes with the test.
func WithDataDir(dir string) Option { return func(o *options) { o.dataDir = dir } }

// WithPassword makes the server ask user "default" for password.
func WithPassword(password string) Option { return func(o *options) { o.password = password } }

// WithArgs adds arguments of cmd/pitwall-clickhouse.
func WithArgs(args ...string) Option { return func(o *options) { o.args = append(o.args, args...) } }

// Start runs a server on a free port of the loopback address until the test ends.
func Start(t testing.TB, opts ...Option) *Engine {
	t.Helper()
	binary, library := Binary(t)
	var o options
	for _, opt := range opts {
		opt(&o)
	}
	if o.dataDir == "" {
		o.dataDir = t.TempDir()
	}
	e := &Engine{t: t, binary: binary, address: FreeAddress(t), password: o.password}
	// A kept connection would look like a leaked goroutine to the tests of others.
	e.http = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	e.args = append([]string{
		"--data-dir", o.dataDir, "--listen", e.address, "--library", library, "--stop-on-stdin-close",
	}, o.args...)
	if o.password != "" {
		file := filepath.Join(t.TempDir(), "password")
		if err := os.WriteFile(file, []byte(o.password), 0o600); err != nil {
			t.Fatal(err)
		}
		e.args = append(e.args, "--password-file", file)
	}
	t.Cleanup(e.Kill)
	e.Restart()
	return e
}

// Endpoint returns the server's address as a URL, without credentials.
func (e *Engine) Endpoint() string { return "http://" + e.address }

// Address returns the server's host:port.
func (e *Engine) Address() string { return e.address }

// Restart starts a stopped server again with the same port and data, and waits until it answers. A running one is
// stopped first.
func (e *Engine) Restart() {
	e.t.Helper()
	e.Stop()
	cmd := exec.Command(e.binary, e.args...)
	cmd.Stdout, cmd.Stderr = &e.output, &e.output
	stdin, err := cmd.StdinPipe()
	if err != nil {
		e.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		e.t.Fatal(err)
	}
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		_ = cmd.Wait() // how it ended is in its output
	}()
	e.process, e.stdin, e.exited = cmd, stdin, exited

	deadline := time.After(startDeadline)
	for !e.answers() {
		select {
		case <-exited:
			e.t.Fatalf("the engine ended at its start:\n%s", e.output.String())
		case <-deadline:
			e.t.Fatalf("the engine does not answer %s/ping after %s:\n%s", e.Endpoint(), startDeadline, e.output.String())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (e *Engine) answers() bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, e.Endpoint()+"/ping", nil)
	if err != nil {
		return false
	}
	resp, err := e.http.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 100))
	return err == nil && resp.StatusCode == http.StatusOK && strings.HasPrefix(string(body), "Ok.")
}

// Stop ends the server as its parent's end would, and waits for it. It does nothing to a stopped one.
func (e *Engine) Stop() {
	e.t.Helper()
	if e.process == nil {
		return
	}
	_ = e.stdin.Close()
	select {
	case <-e.exited:
		e.process = nil
	case <-time.After(stopDeadline):
		e.Kill()
		e.t.Fatalf("the engine did not stop within %s:\n%s", stopDeadline, e.output.String())
	}
}

// Kill ends the server with SIGKILL and waits for it. It does nothing to a stopped one.
func (e *Engine) Kill() {
	if e.process == nil {
		return
	}
	_ = e.process.Process.Kill()
	<-e.exited
	_ = e.stdin.Close()
	e.process = nil
}

// Exited is closed when the running server has ended, by itself or otherwise.
func (e *Engine) Exited() <-chan struct{} { return e.exited }

// PID is the running server's process id.
func (e *Engine) PID() int { return e.process.Process.Pid }

// Output is the last part of what the server wrote to its standard output and error.
func (e *Engine) Output() string { return e.output.String() }

// Exec sends a statement and returns the answer's body, or an error with the server's text.
func (e *Engine) Exec(statement string) (string, error) {
	req, err := http.NewRequest(http.MethodPost, e.Endpoint()+"/?wait_end_of_query=1", strings.NewReader(statement))
	if err != nil {
		return "", err
	}
	if e.password != "" {
		req.Header.Set("X-ClickHouse-User", "default")
		req.Header.Set("X-ClickHouse-Key", e.password)
	}
	resp, err := e.http.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d: %s", resp.StatusCode, body)
	}
	return string(body), err
}

// Query sends a statement and returns its rows, tab-separated values split into columns with their escapes kept.
// An error ends the test.
func (e *Engine) Query(statement string) [][]string {
	e.t.Helper()
	body, err := e.Exec(statement)
	if err != nil {
		e.t.Fatalf("%s: %v", statement, err)
	}
	var rows [][]string
	for line := range strings.Lines(body) {
		rows = append(rows, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
	}
	return rows
}

// output keeps the last 64 KiB written to it.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.buf.Write(p)
	if over := o.buf.Len() - 64<<10; over > 0 {
		o.buf.Next(over)
	}
	return len(p), nil
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}
