package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// refuse runs the program with arguments it must not start with.
func refuse(t *testing.T, args ...string) (code int, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	var out strings.Builder
	cmd.Stderr = &out
	_ = cmd.Run()
	return cmd.ProcessState.ExitCode(), out.String()
}

func TestUsageErrors(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty")
	require.NoError(t, os.WriteFile(empty, []byte("\n"), 0o600))
	tests := map[string]struct {
		args []string
		want string
	}{
		"no directory":      {[]string{}, "--data-dir is required"},
		"open to all":       {[]string{"--data-dir", dir, "--listen", "0.0.0.0:0"}, "--listen 0.0.0.0:0 is not a loopback address: a password is needed there, give --password-file"},
		"any address":       {[]string{"--data-dir", dir, "--listen", ":8123"}, "--listen :8123 is not a loopback address: a password is needed there, give --password-file"},
		"bad address":       {[]string{"--data-dir", dir, "--listen", "8123"}, `--listen "8123": address 8123: missing port in address`},
		"no password file":  {[]string{"--data-dir", dir, "--password-file", dir + "/none"}, "--password-file: open " + dir + "/none: no such file or directory"},
		"empty password":    {[]string{"--data-dir", dir, "--password-file", empty}, "--password-file: " + empty + " is empty"},
		"half a reader":     {[]string{"--data-dir", dir, "--reader-user", "r"}, "--reader-user and --reader-password-file belong together"},
		"half of TLS":       {[]string{"--data-dir", dir, "--tls-key", "k"}, "--tls-cert and --tls-key belong together"},
		"no library":        {[]string{"--data-dir", dir, "--library", dir + "/lib.so"}, "--library: stat " + dir + "/lib.so: no such file or directory"},
		"too little memory": {[]string{"--data-dir", dir, "--max-memory", "1000"}, "--max-memory 1000 is less than 268435456 bytes"},
		"unknown flag":      {[]string{"--dir", dir}, "flag provided but not defined: -dir"},
		"stray argument":    {[]string{"--data-dir", dir, "extra"}, `unexpected argument "extra"`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			code, stderr := refuse(t, tt.args...)
			assert.Equal(t, 2, code)
			assert.Equal(t, "pitwall-clickhouse: "+tt.want+"\n", stderr)
		})
	}
}

func TestDataDirectoryHasOneOwner(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "here")
	h := start(t, dir)
	info, err := os.Stat(dir)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	code, stderr := refuse(t, "--data-dir", dir, "--library", library, "--listen", "127.0.0.1:0")
	assert.Equal(t, 3, code)
	assert.Equal(t, fmt.Sprintf("pitwall-clickhouse: data directory %s is in use by another pitwall-clickhouse (pid %d)\n", dir, h.cmd.Process.Pid), stderr)
	assert.Equal(t, "1", h.query("SELECT 1"))
	h.kill()
	start(t, dir)
}

func TestLibraryOfAnotherKindIsNamed(t *testing.T) {
	libc, err := filepath.Glob("/lib*/*/libm.so.6")
	require.NoError(t, err)
	require.NotEmpty(t, libc)
	code, stderr := refuse(t, "--data-dir", t.TempDir(), "--library", libc[0], "--listen", "127.0.0.1:0")
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "chdb_stream_insert_with_params_n")
	assert.Contains(t, stderr, "chDB 26.7.2 or newer is needed")
}

func TestStopsOnSignalAndOnClosedStdin(t *testing.T) {
	for name, end := range map[string]func(h *helper){
		"SIGTERM": func(h *helper) { require.NoError(t, h.cmd.Process.Signal(syscall.SIGTERM)) },
		"SIGINT":  func(h *helper) { require.NoError(t, h.cmd.Process.Signal(os.Interrupt)) },
		"stdin":   func(h *helper) { require.NoError(t, h.stdin.Close()) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			h := start(t, dir)
			h.query("CREATE TABLE t (a UInt8) ENGINE = MergeTree ORDER BY a")
			h.query("CREATE TEMPORARY TABLE x (a UInt8)", "session_id=kept")
			// A request that is running when the order comes is answered.
			slow := make(chan answer, 1)
			go func() { slow <- h.send("INSERT INTO t SELECT sleepEachRow(1) FROM numbers(2)") }()
			require.Eventually(t, func() bool {
				return h.query("SELECT count() FROM system.processes WHERE query LIKE 'INSERT INTO t SELECT sleep%'") == "1"
			}, 10*time.Second, 10*time.Millisecond)
			end(h)
			a := <-slow
			assert.Equal(t, 200, a.status, a.body)
			h.wait()
			assert.Equal(t, 0, h.cmd.ProcessState.ExitCode(), h.log())
			h = start(t, dir)
			assert.Equal(t, "2", h.query("SELECT count() FROM t"))
		})
	}
}

// A client that neither sends nor goes does not keep the program from stopping.
func TestStopsUnderStalledAndEndlessRequests(t *testing.T) {
	t.Parallel() // it is a matter of waiting
	h := start(t, t.TempDir())
	h.query(createRows)
	stalled, err := net.Dial("tcp", strings.TrimPrefix(h.url, "http://"))
	require.NoError(t, err)
	defer stalled.Close()
	_, err = fmt.Fprint(stalled, "POST /?query=INSERT+INTO+rows+FORMAT+CSV HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n1,2026-01-01\n")
	require.NoError(t, err)
	endless := make(chan answer, 1)
	go func() { endless <- h.send("SELECT count() FROM numbers(1000000000000) WHERE rand() = 1") }()
	require.Eventually(t, func() bool { return h.query("SELECT count() FROM system.processes") == "3" }, 10*time.Second, 20*time.Millisecond)
	began := time.Now()
	require.NoError(t, h.cmd.Process.Signal(syscall.SIGTERM))
	a := <-endless
	assert.Equal(t, "394", a.header.Get("X-ClickHouse-Exception-Code"), "its statement is ended: %s", a.body)
	h.wait()
	assert.Equal(t, 0, h.cmd.ProcessState.ExitCode(), h.log())
	assert.Less(t, time.Since(began), 17*time.Second)
}

func TestAcknowledgedRowsSurviveKill(t *testing.T) {
	dir := t.TempDir()
	h := start(t, dir)
	h.query(createRows)
	const rows = 5000
	var acknowledged, sent atomic.Int64
	for round := range 4 {
		if round > 0 {
			h = start(t, dir)
		}
		ctx, cancel := context.WithCancel(context.Background())
		var writers sync.WaitGroup
		for range 3 {
			writers.Go(func() {
				for ctx.Err() == nil {
					first := int(sent.Add(rows)) - rows
					body := nativeBlock(t, first, rows, 1)
					r, err := http.NewRequest(http.MethodPost, h.url+"/?query=INSERT+INTO+rows+FORMAT+Native", strings.NewReader(string(body)))
					if err != nil {
						return
					}
					resp, err := http.DefaultClient.Do(r)
					if err != nil {
						return
					}
					resp.Body.Close()
					if resp.StatusCode == http.StatusOK {
						acknowledged.Add(rows)
					}
				}
			})
		}
		before := acknowledged.Load()
		require.Eventually(t, func() bool { return acknowledged.Load() > before+10*rows }, 20*time.Second, 5*time.Millisecond)
		h.kill()
		cancel()
		writers.Wait()
	}
	h = start(t, dir)
	var count, distinct int64
	_, err := fmt.Sscan(h.query("SELECT count(), uniqExact(a) FROM rows"), &count, &distinct)
	require.NoError(t, err)
	assert.Equal(t, count, distinct, "no row twice")
	assert.GreaterOrEqual(t, count, acknowledged.Load(), "an acknowledged row is lost")
	assert.Zero(t, count%rows, "part of a block is kept")
	assert.Equal(t, "1", h.query("CHECK TABLE rows SETTINGS check_query_single_value_result = 1"))
}
