//go:build linux && cgo

package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pitwall-otel/pitwall/internal/nvml"
)

// endWithParent ends this process when the collector ends, also while its input is not read. The kernel sends the signal
// when the thread that started this process ends, which need not be the collector's end, so the parent is looked at.
func endWithParent() error {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1)
	parent := os.Getppid()
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(syscall.SIGUSR1), 0, 0, 0); err != nil {
		return fmt.Errorf("asking for a signal at the collector's end: %w", err)
	}
	// Ends with the process.
	go func() {
		for range signals {
			if os.Getppid() != parent {
				os.Exit(exitFailed)
			}
		}
	}()
	return nil
}

// usage is what this process used since it started.
func usage() nvml.Usage {
	u := nvml.Usage{PID: os.Getpid(), RSS: resident()}
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err == nil {
		u.CPU, u.Wake = cpu(&r), uint64(r.Nvcsw+r.Nivcsw)
	}
	return u
}

// resident returns the bytes of memory in use. Getrusage would tell those of the collector, if it has more: the highest
// number is kept when a process becomes another program.
func resident() uint64 {
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var all, pages uint64
	if _, err := fmt.Sscan(string(statm), &all, &pages); err != nil {
		return 0
	}
	return pages * uint64(os.Getpagesize())
}

// threadCPU is what the calling thread used since it started.
func threadCPU() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(unix.RUSAGE_THREAD, &r); err != nil {
		return 0
	}
	return cpu(&r)
}

func cpu(r *syscall.Rusage) time.Duration {
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
