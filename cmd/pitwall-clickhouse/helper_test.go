package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// binary and library are what every test runs: the real program on the real engine.
var binary, library string

func TestMain(m *testing.M) { os.Exit(build(m)) }

func build(m *testing.M) int {
	root := "."
	for {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		root = filepath.Join(root, "..")
	}
	library, _ = filepath.Abs(filepath.Join(root, "node_modules/@chdb/lib-linux-"+npmArch()+"-gnu/libchdb.so"))
	if _, err := os.Stat(library); err != nil {
		fmt.Fprintln(os.Stderr, "the embedded engine is missing, run `make deps`:", err)
		return 1
	}
	dir, err := os.MkdirTemp("", "pitwall-clickhouse")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "pitwall-clickhouse")
	flags, cgo := buildFlags()
	cmd := exec.Command("go", append(append([]string{"build"}, flags...), "-o", binary, ".")...)
	cmd.Env = append(os.Environ(), cgo)
	if out, err := cmd.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

func npmArch() string {
	if runtime.GOARCH == "amd64" {
		return "x64"
	}
	return runtime.GOARCH
}

// helper is a running pitwall-clickhouse.
type helper struct {
	t      testing.TB
	url    string
	dir    string
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	exited chan struct{}

	mu     sync.Mutex
	stderr bytes.Buffer
}

var listening = regexp.MustCompile(`listening on (https?)://(\S+)`)

// start runs the program on dir and waits until it listens. It is stopped, and
// must stop well, at the end of the test.
func start(t testing.TB, dir string, args ...string) *helper {
	t.Helper()
	h := &helper{t: t, dir: dir, exited: make(chan struct{})}
	h.cmd = exec.Command(binary, append([]string{"--data-dir", dir, "--library", library, "--listen", "127.0.0.1:0", "--stop-on-stdin-close"}, args...)...)
	var err error
	h.stdin, err = h.cmd.StdinPipe()
	require.NoError(t, err)
	out, err := h.cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, h.cmd.Start())
	up := make(chan string, 1)
	go func() {
		defer close(h.exited)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if m := listening.FindStringSubmatch(lines.Text()); m != nil {
				up <- m[1] + "://" + m[2]
			}
			h.mu.Lock()
			h.stderr.WriteString(lines.Text() + "\n")
			h.mu.Unlock()
		}
		_ = h.cmd.Wait()
	}()
	t.Cleanup(h.stop)
	select {
	case h.url = <-up:
	case <-h.exited:
		t.Fatalf("did not start: %s", h.log())
	case <-time.After(30 * time.Second):
		t.Fatalf("does not listen: %s", h.log())
	}
	return h
}

func (h *helper) log() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.stderr.String()
}

// stop asks the program to end by closing its standard input.
func (h *helper) stop() {
	h.stdin.Close()
	h.wait()
	if !h.cmd.ProcessState.Success() && h.cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		assert.Failf(h.t, "helper failed", "%s: %s", h.cmd.ProcessState, h.log())
	}
}

func (h *helper) wait() {
	h.t.Helper()
	select {
	case <-h.exited:
	case <-time.After(40 * time.Second):
		_ = h.cmd.Process.Kill()
		<-h.exited
		assert.Failf(h.t, "helper does not stop", "%s", h.log())
	}
}

// kill is what a crash or the kernel's memory killer does.
func (h *helper) kill() {
	h.t.Helper()
	require.NoError(h.t, h.cmd.Process.Kill())
	h.wait()
}

// answer is a response, read whole.
type answer struct {
	status int
	header http.Header
	body   string
}

// send posts a statement with URL parameters given as "name=value".
func (h *helper) send(sql string, params ...string) answer {
	h.t.Helper()
	return h.request(http.MethodPost, strings.NewReader(sql), nil, params...)
}

func (h *helper) request(method string, body io.Reader, header map[string]string, params ...string) answer {
	h.t.Helper()
	values := url.Values{}
	for _, p := range params {
		if p == "" {
			continue
		}
		name, value, _ := strings.Cut(p, "=")
		values.Add(name, value)
	}
	r, err := http.NewRequest(method, h.url+"/?"+values.Encode(), body)
	require.NoError(h.t, err)
	for name, value := range header {
		r.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(r)
	require.NoError(h.t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(h.t, err)
	return answer{resp.StatusCode, resp.Header, string(text)}
}

// query returns the result of a statement that must succeed, without the last line end.
func (h *helper) query(sql string, params ...string) string {
	h.t.Helper()
	a := h.send(sql, params...)
	require.Equal(h.t, http.StatusOK, a.status, "%s: %s", sql, a.body)
	return strings.TrimSuffix(a.body, "\n")
}

// refused asserts a statement's error by status and code.
func (h *helper) refused(status, code int, sql string, params ...string) answer {
	h.t.Helper()
	a := h.send(sql, params...)
	assert.Equal(h.t, status, a.status, "%s: %s", sql, a.body)
	assert.Equal(h.t, fmt.Sprint(code), a.header.Get("X-ClickHouse-Exception-Code"), "%s: %s", sql, a.body)
	assert.Contains(h.t, a.body, fmt.Sprintf("Code: %d. DB::Exception: ", code), sql)
	return a
}
