package faults

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/pitwall-otel/pitwall/internal/enginetest"
)

// The engine's own disk becomes full under load, several times, and then to the last byte; also while it remembers the tokens of
// INSERTs. It keeps some room to itself, a tenth here, and whatever it has begun ends in that.
func TestFullDiskOfTheEngine(t *testing.T) {
	t.Parallel()
	size := "size=160m"
	if soaking() {
		size = "size=1g" // or its own rows fill it
	}
	disk := mount(t, t.TempDir(), size)
	r := newRig(t)
	r.engine.Kill()
	r.engine = enginetest.Start(t, enginetest.WithPassword(canary), enginetest.WithDataDir(filepath.Join(disk, "data")))
	r.proxy.engine = r.engine.Endpoint()
	r.collector.Start()
	clients := r.send(heavy)
	r.acknowledges(2000)
	fails := func() {
		failures := r.now()["insert_failures"]
		r.until(func() bool { return r.now()["insert_failures"] > failures+2 }, "INSERTs fail")
	}
	for round := range rounds(4) {
		r.insertsGoOn()
		almostFill(t, disk)
		fails()
		fill(t, disk)
		fails()
		if round%2 == 1 {
			r.engine.Kill()
		}
		require.NoError(t, os.Remove(filepath.Join(disk, "most")))
		require.NoError(t, os.Remove(filepath.Join(disk, "filler")))
		if round%2 == 1 {
			r.engine.Restart()
		}
	}
	r.insertsGoOn()
	clients.stop()
	r.finish(0)
}

// insertsGoOn waits for some. As a supervisor does, it starts an engine again that ended because a write failed.
func (r *rig) insertsGoOn() {
	r.t.Helper()
	deadline := time.After(within)
	for inserts := r.proxy.inserts.Load(); r.proxy.inserts.Load() <= inserts+2; {
		select {
		case <-r.engine.Exited():
			r.engine.Restart()
		case <-deadline:
			r.t.Fatalf("no INSERT within %s", within)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// almostFill leaves about 8 MiB of the disk.
func almostFill(t *testing.T, disk string) {
	t.Helper()
	file, err := os.Create(filepath.Join(disk, "most"))
	require.NoError(t, err)
	for available := int64(math.MaxInt64); available > 8<<20; {
		_, err := file.Write(make([]byte, 1<<20))
		require.NoError(t, err)
		var s unix.Statfs_t
		require.NoError(t, unix.Statfs(disk, &s))
		available = int64(s.Bavail) * s.Bsize
	}
	require.NoError(t, file.Close())
}

// The engine's own disk is full from one moment to the next, in the middle of INSERTs and merges: all the room that it keeps to itself
// is gone. The library goes on as if its writes had not failed; so the program ends, its supervisor starts it again, also while the
// disk is still full, and it sets aside the parts that were cut short.
func TestFullDiskOfTheEngine_AtAStroke(t *testing.T) {
	t.Parallel()
	disk := mount(t, t.TempDir(), "size=2g")
	r := newRig(t)
	r.engine.Kill()
	r.engine = enginetest.Start(t, enginetest.WithPassword(canary), enginetest.WithDataDir(filepath.Join(disk, "data")))
	r.proxy.engine = r.engine.Endpoint()
	r.collector.Start()
	clients := r.send(heavy)
	r.acknowledges(2000)
	ended, round := 0, 0
	for ; ended < rounds(3); round++ {
		r.insertsGoOn()
		failures := r.now()["insert_failures"]
		shrink(t, disk)
		r.until(func() bool { return r.now()["insert_failures"] > failures }, "INSERTs fail")
		if round%2 == 1 {
			require.NoError(t, unix.Mount("", disk, "", unix.MS_REMOUNT, "size=2g"))
		}
		select {
		case <-r.engine.Exited():
			ended++
			r.engine.Restart()
		case <-time.After(4 * time.Second): // none of its writes met the full disk
		}
		if round%2 == 0 {
			require.NoError(t, unix.Mount("", disk, "", unix.MS_REMOUNT, "size=2g"))
		}
	}
	clients.stop()
	t.Logf("%d of %d full disks met a write", ended, round)
	r.finish(0)
}

// shrink makes a disk as small as what is on it.
func shrink(t *testing.T, disk string) {
	t.Helper()
	require.Eventually(t, func() bool { // what is written meanwhile may make it too small
		var s unix.Statfs_t
		require.NoError(t, unix.Statfs(disk, &s))
		used := (int64(s.Blocks) - int64(s.Bfree)) * s.Bsize
		return unix.Mount("", disk, "", unix.MS_REMOUNT, fmt.Sprintf("size=%d", used+64<<10)) == nil
	}, 10*time.Second, time.Nanosecond)
}
