package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is a program of ours under measurement.
type process struct {
	cmd  *exec.Cmd
	log  string
	done chan error
}

func startProcess(dir, binary string, env []string, args ...string) (*process, error) {
	log, err := os.Create(filepath.Join(dir, filepath.Base(binary)+".log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p := &process{cmd: exec.Command(binary, args...), log: log.Name(), done: make(chan error, 1)}
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = dir, log, log
	p.cmd.Env = append(os.Environ(), env...)
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() { p.done <- p.cmd.Wait() }()
	return p, nil
}

func (p *process) stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case err := <-p.done:
		return err
	case <-time.After(time.Minute):
		return p.cmd.Process.Kill()
	}
}

// cpu is the user and system time that the process has used, all threads.
func (p *process) cpu() (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	// The second field is the name in parentheses and may hold spaces.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+2:]))
	ticks := 0
	for _, field := range fields[11:13] {
		n, err := strconv.Atoi(field)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond, nil // USER_HZ is 100 on Linux
}

// memory returns a line of /proc/PID/status, such as VmRSS, in MiB.
func (p *process) memory(name string) (float64, error) {
	file, err := os.Open(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), name+":"); ok {
			kib, err := strconv.Atoi(strings.Fields(value)[0])
			return float64(kib) / 1024, err
		}
	}
	return 0, fmt.Errorf("no %s in %s", name, file.Name())
}

// ownCPU is the CPU time of this process.
func ownCPU() (time.Duration, error) {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0, err
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()), nil
}

// engine is an embedded ClickHouse of its own.
type engine struct {
	*process
	address string
}

func startEngine(root, dir string) (*engine, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	p, err := startProcess(dir, filepath.Join(root, "bin", "pitwall-clickhouse"), nil,
		"--data-dir", filepath.Join(dir, "clickhouse"), "--listen", address)
	if err != nil {
		return nil, err
	}
	e := &engine{process: p, address: address}
	return e, waitFor(time.Minute, func() bool {
		response, err := http.Get("http://" + address + "/ping")
		if err != nil {
			return false
		}
		defer response.Body.Close()
		return response.StatusCode == http.StatusOK
	})
}

func (e *engine) query(ctx context.Context, sql string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+e.address, strings.NewReader(sql))
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", sql, body)
	}
	return strings.TrimSpace(string(body)), err
}

// rows waits until the query counts n rows.
func (e *engine) rows(ctx context.Context, sql string, n int) error {
	last := ""
	err := waitFor(5*time.Minute, func() bool {
		last, _ = e.query(ctx, sql)
		return last == strconv.Itoa(n)
	})
	if err != nil {
		return fmt.Errorf("wanted %d rows, found %s: %w", n, last, err)
	}
	return nil
}

func waitFor(limit time.Duration, ok func() bool) error {
	deadline := time.After(limit)
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for !ok() {
		select {
		case <-ticker.C:
		case <-deadline:
			return fmt.Errorf("gave up after %s", limit)
		}
	}
	return nil
}

func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer listener.Close()
	return listener.Addr().String(), nil
}
