package faults

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pitwall-otel/pitwall/internal/enginetest"
)

// The engine's own disk becomes full under load, down to the last byte, several times; also while it remembers the tokens of INSERTs.
func TestFullDiskOfTheEngine(t *testing.T) {
	t.Parallel()
	disk := mount(t, t.TempDir(), "size=160m")
	r := newRig(t)
	r.engine.Kill()
	r.engine = enginetest.Start(t, enginetest.WithPassword(canary), enginetest.WithDataDir(filepath.Join(disk, "data")))
	r.proxy.engine = r.engine.Endpoint()
	r.collector.Start()
	clients := r.send(heavy)
	r.acknowledges(2000)
	for round := range 4 { // not more in a soak: then the engine damages parts of its own, see docs/operations.md
		failures, inserts := r.now()["insert_failures"], r.proxy.inserts.Load()
		r.until(func() bool { return r.proxy.inserts.Load() > inserts }, "INSERTs go on")
		fill(t, disk)
		r.until(func() bool { return r.now()["insert_failures"] > failures+2 }, "INSERTs fail")
		if round%2 == 1 {
			r.engine.Kill()
		}
		require.NoError(t, os.Remove(filepath.Join(disk, "filler")))
		if round%2 == 1 {
			r.engine.Restart()
		}
	}
	clients.stop()
	r.finish(0)
}
