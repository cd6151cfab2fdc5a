package attribution

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

const (
	// maxEnviron bounds what is read of an environment. The kernel allows more, programs do not use it.
	maxEnviron = 1 << 20
	maxText    = 64 << 10
	// ancestors is how far up the run is looked for: a worker, its pool, the launcher and a shell or two.
	ancestors = 6
	// maxFiles and maxScan bound the search for a device file and for a process in another pid namespace.
	maxFiles = 4096
	maxScan  = 4096
)

// Process is what is known of a process on a GPU.
type Process struct {
	Identity
	// Executable is the name of its program, or of its main thread where that may not be read.
	Executable string
}

// Resolver finds processes under a folder that is laid out like /proc. It remembers what it found by pid and start time, so
// that an environment is read once in a process's life. It may be used concurrently.
type Resolver struct {
	root    string
	allowed []variable
	limit   int

	mu      sync.Mutex
	buffer  []byte
	known   map[uint32]*remembered
	absent  map[uint32]bool // not to be found, until the next Sweep
	foreign map[uint32]uint32
}

type remembered struct {
	process Process
	started uint64
	asked   bool // since the last Sweep
}

// New makes a resolver. runKeys are the environment variables that name the run, the first one that is set counts. It
// remembers limit processes at most.
func New(root string, runKeys []string, limit int) *Resolver {
	return &Resolver{
		root: root, allowed: variables(runKeys), limit: limit,
		known: map[uint32]*remembered{}, absent: map[uint32]bool{}, foreign: map[uint32]uint32{},
	}
}

// Process returns what is known of the process that NVML calls pid. False means that no process with an open GPU has that
// number here: it ended, or it is in another pid namespace, and a process that happens to have the same number is not it.
func (r *Resolver) Process(pid uint32) (Process, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.absent[pid] {
		return Process{}, false
	}
	here := pid
	if found, ok := r.foreign[pid]; ok {
		here = found
	}
	s, ok := r.stat(here)
	if ok {
		if k := r.known[here]; k != nil && k.started == s.started {
			k.asked = true
			return k.process, true
		}
	}
	if !ok || !r.mayUseGPU(here) {
		if here, ok = r.inOurNamespace(pid); ok {
			s, ok = r.stat(here)
		}
		if !ok {
			if len(r.absent) < r.limit {
				r.absent[pid] = true
			}
			return Process{}, false
		}
		r.foreign[pid] = here
	}
	p := Process{Identity: r.identify(here, s), Executable: r.executable(here, s)}
	if len(r.known) < r.limit {
		r.known[here] = &remembered{process: p, started: s.started, asked: true}
	}
	return p, true
}

// Sweep forgets the processes that nobody asked for since the last Sweep, and looks again for those that were not found.
func (r *Resolver) Sweep() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for pid, k := range r.known {
		if !k.asked {
			delete(r.known, pid)
		}
		k.asked = false
	}
	clear(r.absent)
	for pid, here := range r.foreign {
		if r.known[here] == nil {
			delete(r.foreign, pid)
		}
	}
}

// identify reads environment and control group; where the environment names no run, those of the process's ancestors say
// what is inherited.
func (r *Resolver) identify(pid uint32, s stat) Identity {
	id := r.environment(pid)
	parent := s.parent
	for range ancestors {
		if id[Run] != "" || parent <= 1 {
			break
		}
		s, ok := r.stat(parent)
		if !ok {
			break
		}
		inherited := r.environment(parent)
		for f := range fieldCount {
			if id[f] == "" && f.inherited() {
				id[f] = inherited[f]
			}
		}
		parent = s.parent
	}
	if text, err := r.read(pid, "cgroup", maxText); err == nil {
		for f, value := range controlGroup(string(text)) {
			if id[f] == "" {
				id[f] = value
			}
		}
	}
	return id
}

// environment does not keep the text it reads: it is overwritten before anything else happens.
func (r *Resolver) environment(pid uint32) Identity {
	text, err := r.read(pid, "environ", maxEnviron)
	if err != nil {
		return Identity{}
	}
	defer clear(r.buffer)
	return environment(text, r.allowed)
}

func (r *Resolver) stat(pid uint32) (stat, bool) {
	text, err := r.read(pid, "stat", maxText)
	if err != nil {
		return stat{}, false
	}
	return parseStat(string(text))
}

func (r *Resolver) executable(pid uint32, s stat) string {
	if target, err := os.Readlink(r.path(pid, "exe")); err == nil {
		return filepath.Base(strings.TrimSuffix(target, " (deleted)"))
	}
	return s.name
}

// mayUseGPU is false for a process that shows its open files and has no GPU's among them.
func (r *Resolver) mayUseGPU(pid uint32) bool {
	folder, err := os.Open(r.path(pid, "fd"))
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	defer folder.Close()
	files, err := folder.Readdirnames(maxFiles)
	if err != nil {
		return !errors.Is(err, io.EOF)
	}
	for _, file := range files {
		target, err := os.Readlink(filepath.Join(folder.Name(), file))
		if err == nil && (strings.HasPrefix(target, "/dev/nvidia") || target == "/dev/dxg") {
			return true
		}
	}
	return len(files) == maxFiles
}

// inOurNamespace finds the process whose number is pid in the pid namespace of this program, where the resolver's root shows
// an outer namespace: then NVML and /proc number processes differently.
func (r *Resolver) inOurNamespace(pid uint32) (uint32, bool) {
	if r.root == "/proc" {
		return 0, false
	}
	ours, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return 0, false
	}
	folder, err := os.Open(r.root)
	if err != nil {
		return 0, false
	}
	defer folder.Close()
	entries, _ := folder.Readdirnames(maxScan)
	for _, entry := range entries {
		candidate, err := strconv.ParseUint(entry, 10, 32)
		if err != nil {
			continue
		}
		text, err := r.read(uint32(candidate), "status", maxText)
		if err != nil {
			continue
		}
		pids := namespacePIDs(string(text))
		if len(pids) < 2 || pids[len(pids)-1] != pid {
			continue
		}
		if theirs, err := os.Readlink(r.path(uint32(candidate), "ns/pid")); err == nil && theirs == ours && r.mayUseGPU(uint32(candidate)) {
			return uint32(candidate), true
		}
	}
	return 0, false
}

// read returns up to limit bytes of a file of the process, in the buffer that the next read overwrites.
func (r *Resolver) read(pid uint32, file string, limit int) ([]byte, error) {
	f, err := os.Open(r.path(pid, file))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for n := 0; ; {
		if n == len(r.buffer) {
			larger := make([]byte, max(4<<10, 2*len(r.buffer)))
			copy(larger, r.buffer)
			clear(r.buffer)
			r.buffer = larger
		}
		got, err := f.Read(r.buffer[n:min(len(r.buffer), limit)])
		n += got
		switch {
		case errors.Is(err, io.EOF) || n >= limit:
			return r.buffer[:n], nil
		case err != nil:
			clear(r.buffer[:n])
			return nil, err
		}
	}
}

func (r *Resolver) path(pid uint32, file string) string {
	return filepath.Join(r.root, strconv.FormatUint(uint64(pid), 10), file)
}
