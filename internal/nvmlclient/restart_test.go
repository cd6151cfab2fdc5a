package nvmlclient

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"

	"github.com/pitwall-otel/pitwall/internal/nvml"
	"github.com/pitwall-otel/pitwall/internal/nvml/wire"
	"github.com/pitwall-otel/pitwall/internal/nvmltest"
)

func TestHelperIsKilled(t *testing.T) {
	nvmltest.Script(t, two)
	c := started(t, newClient(t))
	s := states(t, c, nvml.DeviceOK, nvml.DeviceOK)
	require.NoError(t, syscall.Kill(s.Helper.PID, syscall.SIGKILL))
	again := eventually(t, c, func(s nvml.Snapshot) bool { return s.Restarts == 1 && s.Status == nvml.StatusOK })
	require.NotEqual(t, s.Helper.PID, again.Helper.PID)
	require.Equal(t, "pitwall-nvml ended: signal: killed", nextEvent(t, c, nvml.EventHelperStarted).Text)
	require.Empty(t, c.Events(), "its GPUs were not lost")
}

func TestHelperThatDoesNotAnswerIsStartedAnew(t *testing.T) {
	nvmltest.Script(t, two)
	c := started(t, newClient(t))
	s := states(t, c, nvml.DeviceOK, nvml.DeviceOK)
	require.NoError(t, syscall.Kill(s.Helper.PID, syscall.SIGSTOP))
	require.Eventually(t, func() bool {
		s := c.Collect(context.Background(), nvml.Request{Classes: nvml.ClassPower, Deadline: 50 * time.Millisecond})
		return s.Restarts > 0
	}, soon, often)
	states(t, c, nvml.DeviceOK, nvml.DeviceOK)
	require.Contains(t, nextEvent(t, c, nvml.EventHelperStarted).Text, "3 requests in a row were not answered")
}

func TestProgramsThatAreNotTheHelper(t *testing.T) {
	script := func(text string) string {
		path := filepath.Join(t.TempDir(), "pitwall-nvml")
		require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o700))
		return path
	}
	for name, tt := range map[string]struct{ path, why string }{
		"missing":         {"/nowhere/pitwall-nvml", "no program pitwall-nvml"},
		"says garbage":    {script("yes"), "frame is too long"},
		"another version": {script(`printf '\002\000\000\000\001\143\001'; exec sleep 60`), "it is of another version than the collector: speaks 99"},
		"malformed":       {script(`printf '\001\000\000\000\001\002'; exec sleep 60`), "malformed frame"},
		"unknown frame":   {script(`printf '\000\000\000\000\011'; exec sleep 60`), "malformed frame: of kind 9"},
		"fails": {
			script("echo 'symbol lookup error: undefined symbol: nvmlX' >&2; exit 127"),
			"pitwall-nvml ended: exit status 127: symbol lookup error: undefined symbol: nvmlX",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := New(Options{HelperPath: tt.path, Logger: zap.NewNop()})
			c.pace.firstRetry, c.pace.longestRetry = 10*time.Millisecond, 20*time.Millisecond
			started(t, c)
			s := eventually(t, c, func(s nvml.Snapshot) bool { return s.Restarts > 1 && s.Status == nvml.StatusNoHelper })
			require.Contains(t, s.StatusError, tt.why)
		})
	}
}

func TestHelperBesideTheExecutable(t *testing.T) {
	_, err := findHelper("")
	require.ErrorContains(t, err, "no program pitwall-nvml")
	path, err := findHelper(nvmltest.Helper(t))
	require.NoError(t, err)
	require.True(t, filepath.IsAbs(path))
}

// TestHelperEndsWithTheCollector kills a process that runs a client, so that it cannot end its helper.
func TestHelperEndsWithTheCollector(t *testing.T) {
	if os.Getenv("PITWALL_TEST_COLLECTOR") != "" {
		c := New(Options{
			HelperPath: os.Getenv("PITWALL_TEST_COLLECTOR"), LibraryPath: os.Getenv("PITWALL_TEST_LIBRARY"), Logger: zap.NewNop(),
		})
		c.Start()
		s := eventually(t, c, status(nvml.StatusOK))
		require.NoError(t, os.WriteFile(os.Getenv("PITWALL_TEST_PID"), []byte(strconv.Itoa(s.Helper.PID)), 0o600))
		select {}
	}
	nvmltest.Script(t, two, "gpu.1.hang=0.2") // a thread that never comes back does not hold it up
	pidFile := filepath.Join(t.TempDir(), "pid")
	collector := exec.Command(os.Args[0], "-test.run=^TestHelperEndsWithTheCollector$")
	collector.Env = append(os.Environ(), "PITWALL_TEST_COLLECTOR="+nvmltest.Helper(t),
		"PITWALL_TEST_LIBRARY="+nvmltest.Library(t), "PITWALL_TEST_PID="+pidFile)
	require.NoError(t, collector.Start())
	var pid int
	require.Eventually(t, func() bool {
		text, err := os.ReadFile(pidFile)
		if err == nil {
			pid, err = strconv.Atoi(strings.TrimSpace(string(text)))
		}
		return err == nil
	}, soon, often)
	require.NoError(t, syscall.Kill(pid, 0))
	require.NoError(t, collector.Process.Kill())
	_ = collector.Wait()
	require.Eventually(t, func() bool { return ended(pid) }, soon, often)
}

// TestHelperEndsWithItsParent leaves the helper's input open, so that only the kernel can tell it.
func TestHelperEndsWithItsParent(t *testing.T) {
	nvmltest.Script(t, two)
	in, held, err := os.Pipe()
	require.NoError(t, err)
	defer held.Close()
	defer in.Close()
	parent := exec.Command("sh", "-c", `"$0" <&3 & echo $!; read forever`, nvmltest.Helper(t))
	parent.ExtraFiles = []*os.File{in}
	stdin, err := parent.StdinPipe()
	require.NoError(t, err)
	defer stdin.Close()
	stdout, err := parent.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, parent.Start())

	hello := wire.AppendHello(nil, wire.Hello{Version: wire.Version, Cgo: true})
	said := make([]byte, len("1234567\n")+len(hello)) // the shell's line and the helper's frame, in any order
	n, err := io.ReadAtLeast(stdout, said, len(hello)+len("1\n"))
	require.NoError(t, err)
	for !bytes.Contains(said[:n], hello) || !bytes.Contains(bytes.Replace(said[:n], hello, nil, 1), []byte("\n")) {
		more, err := stdout.Read(said[n:])
		require.NoError(t, err)
		n += more
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(bytes.Replace(said[:n], hello, nil, 1))))
	require.NoError(t, err)

	require.NoError(t, syscall.Kill(pid, syscall.SIGUSR1), "it lives on: its parent does")
	require.False(t, ended(pid))
	require.NoError(t, parent.Process.Kill())
	_ = parent.Wait()
	require.Eventually(t, func() bool { return ended(pid) }, soon, often)
}

// ended says whether a process is gone, or only waits for its parent to notice.
func ended(pid int) bool {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	return err != nil || strings.Contains(string(stat), ") Z ")
}

func TestStopsAndStartsAgain(t *testing.T) {
	nvmltest.Script(t, two)
	for range 3 {
		c := newClient(t)
		c.Start()
		states(t, c, nvml.DeviceOK, nvml.DeviceOK)
		require.NoError(t, c.Shutdown(context.Background()))
		_, open := <-drained(c.Events())
		require.False(t, open)
	}
	require.NoError(t, New(Options{Logger: zaptest.NewLogger(t)}).Shutdown(context.Background()), "never started")
}

func TestTwoCollectionsAtATime(t *testing.T) {
	nvmltest.Script(t, two)
	c := started(t, newClient(t))
	states(t, c, nvml.DeviceOK, nvml.DeviceOK)
	results := make(chan nvml.Snapshot)
	for range 4 {
		go func() { results <- ask(c) }()
	}
	for range 4 {
		require.Len(t, (<-results).Devices, 2)
	}
}
