package faults

import (
	"math"
	"os"
	"path/filepath"
	"testing"

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
		inserts := r.proxy.inserts.Load()
		r.until(func() bool { return r.proxy.inserts.Load() > inserts }, "INSERTs go on")
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
	clients.stop()
	r.finish(0)
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
