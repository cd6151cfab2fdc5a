package test

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const sampleEvery = 50 * time.Millisecond

// sample is one look at the kernel's counters. CPU times are in ticks, the rest in bytes, counts and milliseconds.
type sample struct {
	at       time.Time
	counters map[string]float64
}

// history is what the kernel said over time, for comparing at the moments the collector looked.
type history struct{ samples []sample }

// watchKernel reads the kernel's counters until the returned function is called.
func watchKernel(t *testing.T, mounts []string, more func(map[string]float64)) (stop func() history) {
	t.Helper()
	quit, done := make(chan struct{}), make(chan history)
	go func() {
		var h history
		ticker := time.NewTicker(sampleEvery)
		defer ticker.Stop()
		for {
			h.samples = append(h.samples, readKernel(mounts, more))
			select {
			case <-quit:
				done <- h
				return
			case <-ticker.C:
			}
		}
	}()
	return func() history {
		close(quit)
		return <-done
	}
}

func readKernel(mounts []string, more func(map[string]float64)) sample {
	s := sample{at: time.Now(), counters: map[string]float64{}}
	s.readCPU()
	s.readMemory()
	s.readNetwork()
	s.readDisks()
	s.readLoad()
	for _, mount := range mounts {
		var fs syscall.Statfs_t
		if syscall.Statfs(mount, &fs) == nil {
			used := float64(fs.Blocks-fs.Bfree) * float64(fs.Bsize)
			s.counters["fs."+mount+".used_bytes"] = used
			s.counters["fs."+mount+".percent"] = 100 * used / (used + float64(fs.Bavail)*float64(fs.Bsize))
			s.counters["fs."+mount+".used_inodes"] = float64(fs.Files - fs.Ffree)
		}
	}
	more(s.counters)
	return s
}

// fields calls f with the fields of each line of a file below /proc. A file that cannot be read has no lines: the
// counters are missing then, and the test that needs them says so.
func fields(name string, f func(line []string)) {
	file, err := os.Open(filepath.Join("/proc", name))
	if err != nil {
		return
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if line := strings.Fields(strings.Replace(lines.Text(), ":", " ", 1)); len(line) > 1 {
			f(line)
		}
	}
}

func (s *sample) add(key, text string, factor float64) {
	if value, err := strconv.ParseFloat(text, 64); err == nil {
		s.counters[key] = value * factor
	}
}

func (s *sample) readCPU() {
	modes := []string{"user", "nice", "system", "idle", "iowait", "interrupt", "softirq", "steal"}
	fields("stat", func(line []string) {
		switch line[0] {
		case "cpu":
			for i, mode := range modes {
				s.add("cpu."+mode, line[1+i], 1)
				s.counters["cpu.total"] += s.counters["cpu."+mode]
			}
			s.counters["cpu.busy"] = s.counters["cpu.total"] - s.counters["cpu.idle"] - s.counters["cpu.iowait"]
		case "processes":
			s.add("processes.created", line[1], 1)
		}
	})
	fields("vmstat", func(line []string) {
		switch line[0] {
		case "pgfault", "pgmajfault", "pswpin", "pswpout":
			s.add("vm."+line[0], line[1], 1)
		}
	})
}

func (s *sample) readMemory() {
	fields("meminfo", func(line []string) { s.add("mem."+line[0], line[1], 1024) })
	s.counters["mem.used"] = s.counters["mem.MemTotal"] - s.counters["mem.MemAvailable"]
	s.counters["mem.percent"] = 100 * s.counters["mem.used"] / s.counters["mem.MemTotal"]
}

// The columns are those of proc(5), net/dev: eight for receiving, eight for sending.
func (s *sample) readNetwork() {
	names := []string{"bytes", "packets", "errors", "drops"}
	fields("net/dev", func(line []string) {
		if len(line) < 17 || line[0] == "face" {
			return
		}
		for i, name := range names {
			s.add("net."+line[0]+".recv_"+name, line[1+i], 1)
			s.add("net."+line[0]+".sent_"+name, line[9+i], 1)
		}
	})
}

// The columns are those of the kernel's admin-guide/iostats; a sector is 512 bytes whatever the device.
func (s *sample) readDisks() {
	fields("diskstats", func(line []string) {
		if len(line) < 14 {
			return
		}
		key := "disk." + line[2] + "."
		s.add(key+"read_ops", line[3], 1)
		s.add(key+"read_bytes", line[5], 512)
		s.add(key+"write_ops", line[7], 1)
		s.add(key+"write_bytes", line[9], 512)
		s.add(key+"busy_ms", line[12], 1)
	})
}

func (s *sample) readLoad() {
	fields("loadavg", func(line []string) {
		s.add("load.1m", line[0], 1)
		s.add("load.5m", line[1], 1)
		s.add("load.15m", line[2], 1)
	})
	fields("uptime", func(line []string) { s.add("uptime", line[0], 1) })
}

// at returns a counter at a moment between two samples, as if it had grown evenly between them.
func (h history) at(t *testing.T, key string, when time.Time) float64 {
	t.Helper()
	i, _ := slices.BinarySearchFunc(h.samples, when, func(s sample, at time.Time) int { return s.at.Compare(at) })
	require.True(t, i > 0 && i < len(h.samples), "%s: no samples around %s", key, when)
	before, after := h.samples[i-1], h.samples[i]
	require.Contains(t, before.counters, key)
	share := when.Sub(before.at).Seconds() / after.at.Sub(before.at).Seconds()
	return before.counters[key] + share*(after.counters[key]-before.counters[key])
}

// around returns the least and the greatest value of a gauge within half a second of a moment.
func (h history) around(t *testing.T, key string, when time.Time) (least, greatest float64) {
	t.Helper()
	var values []float64
	for _, s := range h.samples {
		if value, found := s.counters[key]; found && s.at.Sub(when).Abs() < 500*time.Millisecond {
			values = append(values, value)
		}
	}
	require.NotEmpty(t, values, "%s: no samples around %s", key, when)
	return slices.Min(values), slices.Max(values)
}
