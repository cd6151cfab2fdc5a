package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/pitwall-otel/pitwall/cmd/pitwall-clickhouse/internal/sandbox"
)

// confinedEnv names the descriptor from which the confined program reads its
// options. It cannot read the password files itself any more, and so neither can SQL.
const confinedEnv = "PITWALL_CLICKHOUSE_OPTIONS_FD"

// confine replaces this process with a confined one that runs with the same
// options. It returns only when that was not possible. The caller has the thread to itself.
func confine(o options) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	if err := os.MkdirAll(o.DataDir, 0o700); err != nil {
		return fmt.Errorf("--data-dir: %w", err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("pass the options on: %w", err)
	}
	defer r.Close()
	err = json.NewEncoder(w).Encode(o) // far less than a pipe holds
	w.Close()
	if err != nil {
		return fmt.Errorf("pass the options on: %w", err)
	}
	if err := sandbox.Confine(confinedPaths(o, self)); err != nil {
		return err
	}
	fd, err := unix.Dup(int(r.Fd())) // without close-on-exec
	if err != nil {
		return fmt.Errorf("pass the options on: %w", err)
	}
	env := append(os.Environ(), confinedEnv+"="+strconv.Itoa(fd))
	return fmt.Errorf("start confined: %w", unix.Exec(self, os.Args, env))
}

// confinedPaths are the data, the program with what the system's loader and the
// engine read, and the certificate's directories, since it may be replaced.
func confinedPaths(o options, self string) sandbox.Paths {
	p := sandbox.Paths{
		Write: []string{o.DataDir},
		Read: []string{
			self, o.Library, "/lib", "/lib64", "/usr", "/sys", "/etc/ld.so.cache", "/etc/localtime", "/etc/timezone",
			"/etc/hosts", "/etc/host.conf", "/etc/nsswitch.conf", "/etc/resolv.conf",
			"/proc/meminfo", "/proc/cpuinfo", "/proc/stat", "/proc/sys/vm/overcommit_memory", "/proc/sys/net/core/somaxconn",
			"/proc/self/stat", "/proc/self/statm", "/proc/self/status", "/proc/self/cgroup", "/proc/self/mountinfo",
			"/dev/null", "/dev/urandom",
		},
	}
	p.Read = append(p.Read, loaderDirs()...)
	if o.CertFile != "" {
		p.Read = append(p.Read, filepath.Dir(o.CertFile), filepath.Dir(o.KeyFile))
	}
	return p
}

// loaderDirs are where this process has its shared libraries from, which is not
// the same everywhere.
func loaderDirs() []string {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return nil // most systems have them below /lib or /usr
	}
	var dirs []string
	for line := range strings.SplitSeq(string(maps), "\n") {
		if i := strings.IndexByte(line, '/'); i >= 0 && strings.Contains(line[i:], ".so") {
			dirs = append(dirs, filepath.Dir(line[i:]))
		}
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// confinedOptions are the options that confine passed on, if it did.
func confinedOptions() (o options, confined bool, err error) {
	text := os.Getenv(confinedEnv)
	if text == "" {
		return options{}, false, nil
	}
	fd, err := strconv.Atoi(text)
	if err != nil {
		return options{}, false, fmt.Errorf("%s: %w", confinedEnv, err)
	}
	f := os.NewFile(uintptr(fd), "options")
	defer f.Close()
	if err := json.NewDecoder(io.LimitReader(f, 1<<16)).Decode(&o); err != nil {
		return options{}, false, fmt.Errorf("%s: %w", confinedEnv, err)
	}
	return o, true, os.Unsetenv(confinedEnv)
}
