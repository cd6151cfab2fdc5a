package attribution

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// proc is a folder laid out like /proc.
type proc struct {
	t    *testing.T
	root string
}

func newProc(t *testing.T) proc { return proc{t, t.TempDir()} }

// process adds or replaces a process that has a GPU open.
func (p proc) process(pid, parent, started int, environment ...string) {
	p.t.Helper()
	folder := filepath.Join(p.root, strconv.Itoa(pid))
	require.NoError(p.t, os.RemoveAll(folder))
	require.NoError(p.t, os.MkdirAll(filepath.Join(folder, "fd"), 0o700))
	line := strings.Replace(strings.Replace(statLine, " 4700 ", fmt.Sprintf(" %d ", parent), 1), "123456", strconv.Itoa(started), 1)
	p.write(pid, "stat", line)
	p.write(pid, "environ", string(environ(environment...)))
	p.write(pid, "cgroup", "0::/user.slice\n")
	p.link(pid, "fd/0", "/dev/null")
	p.link(pid, "fd/7", "/dev/nvidia0")
	p.link(pid, "exe", "/usr/bin/python3.12")
}

func (p proc) write(pid int, file, text string) {
	p.t.Helper()
	require.NoError(p.t, os.WriteFile(filepath.Join(p.root, strconv.Itoa(pid), file), []byte(text), 0o600))
}

func (p proc) link(pid int, file, target string) {
	p.t.Helper()
	require.NoError(p.t, os.Symlink(target, filepath.Join(p.root, strconv.Itoa(pid), file)))
}

func (p proc) remove(pid int, file string) {
	p.t.Helper()
	require.NoError(p.t, os.RemoveAll(filepath.Join(p.root, strconv.Itoa(pid), file)))
}

func TestProcess(t *testing.T) {
	p := newProc(t)
	p.process(100, 1, 5, "RL_RUN_ID=run", "RANK=3")
	r := New(p.root, runKeys(), 10)
	got, ok := r.Process(100)
	require.True(t, ok)
	assert.Equal(t, Process{Identity: Identity{Run: "run", Rank: "3"}, Executable: "python3.12"}, got)
}

func TestProcessIsReadOnce(t *testing.T) {
	p := newProc(t)
	p.process(100, 1, 5, "RL_RUN_ID=run")
	r := New(p.root, runKeys(), 10)
	_, _ = r.Process(100)
	p.write(100, "environ", string(environ("RL_RUN_ID=changed")))
	got, _ := r.Process(100)
	assert.Equal(t, "run", got.Identity[Run])
}

func TestPIDIsReused(t *testing.T) {
	p := newProc(t)
	p.process(100, 1, 5, "RL_RUN_ID=first")
	r := New(p.root, runKeys(), 10)
	_, _ = r.Process(100)
	p.process(100, 1, 6, "RL_RUN_ID=second")
	got, _ := r.Process(100)
	assert.Equal(t, "second", got.Identity[Run])
}

// Ray's workers overwrite their environment with their title; their parent is the raylet, which has the job's.
func TestOverwrittenEnvironment(t *testing.T) {
	p := newProc(t)
	p.process(10, 1, 1, "RL_RUN_ID=run", "RANK=0", "SLURM_JOB_ID=4711", "RL_ROLE=controller")
	p.process(50, 10, 2)
	p.process(100, 50, 5)
	p.write(100, "environ", "ray::WorkerDict.generate\x00\x00\x00")
	got, ok := New(p.root, runKeys(), 10).Process(100)
	require.True(t, ok)
	assert.Equal(t, Identity{Run: "run", SlurmJob: "4711"}, got.Identity, "the run is inherited, rank and role are not")
}

func TestParentsAreNotAskedForEver(t *testing.T) {
	p := newProc(t)
	for pid := 2; pid < 20; pid++ {
		p.process(pid, pid-1, 1)
	}
	p.process(1, 0, 1, "RL_RUN_ID=init")
	p.process(2, 2, 1)
	p.process(3, 2, 1, "RL_RUN_ID=far")
	got, _ := New(p.root, runKeys(), 10).Process(19)
	assert.Empty(t, got.Identity)
}

func TestNoRights(t *testing.T) {
	p := newProc(t)
	p.process(100, 1, 5)
	for _, file := range []string{"environ", "fd", "exe"} {
		p.remove(100, file)
	}
	p.link(100, "fd", "fd") // a loop: cannot be opened, as without rights, also for root
	got, ok := New(p.root, runKeys(), 10).Process(100)
	assert.True(t, ok)
	assert.Equal(t, Process{Executable: "python3"}, got)
}

// In a pid namespace a number that NVML tells can be that of any process here.
func TestAProcessWithoutAGPUIsAnotherOne(t *testing.T) {
	p := newProc(t)
	p.process(100, 1, 5, "RL_RUN_ID=other")
	p.remove(100, "fd/7")
	_, ok := New(p.root, runKeys(), 10).Process(100)
	assert.False(t, ok)
}

func TestProcessThatIsNotThere(t *testing.T) {
	p := newProc(t)
	r := New(p.root, runKeys(), 10)
	_, ok := r.Process(100)
	require.False(t, ok)
	p.process(100, 1, 5, "RL_RUN_ID=late")
	_, ok = r.Process(100)
	assert.False(t, ok, "not looked for again before the next sweep")
	r.Sweep()
	_, ok = r.Process(100)
	assert.True(t, ok)
}

// The collector's container shows the host's /proc, and NVML tells the container's numbers.
func TestNumbersOfOurPIDNamespace(t *testing.T) {
	ours, err := os.Readlink("/proc/self/ns/pid")
	require.NoError(t, err)
	p := newProc(t)
	p.process(41234, 1, 5, "RL_RUN_ID=run")
	p.write(41234, "status", "NSpid:\t41234\t17\n")
	require.NoError(t, os.Mkdir(filepath.Join(p.root, "41234", "ns"), 0o700))
	p.link(41234, "ns/pid", ours)
	p.process(41235, 1, 5, "RL_RUN_ID=other")
	p.write(41235, "status", "NSpid:\t41235\t17\n")
	require.NoError(t, os.Mkdir(filepath.Join(p.root, "41235", "ns"), 0o700))
	p.link(41235, "ns/pid", "pid:[1]")
	got, ok := New(p.root, runKeys(), 10).Process(17)
	require.True(t, ok)
	assert.Equal(t, "run", got.Identity[Run])
}

func TestMemoryIsBounded(t *testing.T) {
	p := newProc(t)
	for pid := 100; pid < 120; pid++ {
		p.process(pid, 1, 5, "RL_RUN_ID=run")
	}
	r := New(p.root, runKeys(), 5)
	for pid := uint32(100); pid < 140; pid++ {
		got, ok := r.Process(pid)
		assert.Equal(t, pid < 120, ok)
		assert.Equal(t, pid < 120, got.Identity[Run] == "run", "found all the same")
	}
	assert.Len(t, r.known, 5)
	assert.Len(t, r.absent, 5)
	r.Sweep()
	r.Sweep()
	assert.Empty(t, r.known)
}

func TestHugeEnvironment(t *testing.T) {
	p := newProc(t)
	p.process(100, 1, 5, "A="+strings.Repeat("x", 2*maxEnviron), "RL_RUN_ID=behind")
	r := New(p.root, runKeys(), 10)
	got, ok := r.Process(100)
	require.True(t, ok)
	assert.Empty(t, got.Identity)
	assert.LessOrEqual(t, len(r.buffer), 2*maxEnviron)
}

func BenchmarkProcessRemembered(b *testing.B) {
	r := New("/proc", runKeys(), 10)
	pid := uint32(os.Getpid())
	r.known[pid] = &remembered{}
	if s, ok := r.stat(pid); ok {
		r.known[pid].started = s.started
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := r.Process(pid); !ok {
			b.Fatal("not remembered")
		}
	}
}
