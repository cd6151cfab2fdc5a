package faults

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// The log's folder is taken away from a running collector, then the collector dies. What is acknowledged must be in the log,
// so from then on nothing is, until the next start.
func TestLogFolderTakenAway(t *testing.T) {
	t.Parallel()
	f := func(name string, takeAway, giveBack func(t *testing.T, folder string)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.collector.Start()
			clients := r.send(usual)
			r.acknowledges(2000)
			clients.stop()
			r.drained()
			r.proxy.inject(cut)
			takeAway(t, r.logFolder())
			clients = r.send(usual)
			r.refuses(2000)
			clients.stop()
			r.collector.Kill()
			giveBack(t, r.logFolder())
			r.proxy.heal()
			r.collector.Start()
			clients = r.send(usual)
			r.acknowledges(2000)
			clients.stop()
			r.finish(0)
		})
	}
	remove := func(t *testing.T, folder string) { require.NoError(t, os.RemoveAll(folder)) }
	nothing := func(*testing.T, string) {}
	f("removed", remove, nothing)
	f("made again", func(t *testing.T, folder string) {
		remove(t, folder)
		require.NoError(t, os.Mkdir(folder, 0o700))
	}, nothing)
	f("renamed",
		func(t *testing.T, folder string) { require.NoError(t, os.Rename(folder, folder+"-away")) },
		func(t *testing.T, folder string) { require.NoError(t, os.Rename(folder+"-away", folder)) })
	f("another disk in its place",
		func(t *testing.T, folder string) { mount(t, folder, "size=24m") },
		func(t *testing.T, folder string) { require.NoError(t, unix.Unmount(folder, unix.MNT_DETACH)) })
}

// No file can be made on the log's disk, though there is room.
func TestNoInodes(t *testing.T) {
	t.Parallel()
	r := newRig(t, onDisk, "exporters: {metricpoints: {log: {max_size_mib: 16}}}")
	disk := mount(t, filepath.Join(r.collector.Dir, "disk"), "size=64m,nr_inodes=30")
	r.collector.Start()
	clients := r.send(heavy)
	r.acknowledges(2000)
	var made []string
	for i := 0; ; i++ {
		name := filepath.Join(disk, "file"+string(rune('a'+i)))
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			require.ErrorIs(t, err, unix.ENOSPC)
			break
		}
		made = append(made, name)
	}
	r.refuses(2000)
	r.collector.Kill()
	r.collector.Start()
	r.refuses(2000)
	require.NotEmpty(t, made)
	for _, name := range made {
		require.NoError(t, os.Remove(name))
	}
	r.acknowledges(2000)
	clients.stop()
	r.finish(0)
}

// Clients take all the file descriptors that the collector may have.
func TestFewDescriptors(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.collector.Wrapper = []string{"prlimit", "--nofile=56"}
	r.collector.Start()
	clients := r.send(usual)
	r.acknowledges(2000)
	crowd := r.send(shape{clients: 64, points: 10, every: 10e6})
	r.acknowledges(20000)
	crowd.stop()
	r.acknowledges(2000)
	clients.stop()
	r.finish(0)
}
