package faults

import (
	"bytes"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// onDisk puts the log on a file system of its own.
const onDisk = "exporters: {metricpoints: {log: {directory: disk/log}}}"

// heavy fills a small disk in a second or two.
var heavy = shape{clients: 4, points: 50, every: 10 * time.Millisecond, pad: 200}

// The disk under the log is full to the last byte: clients are told to come again, and are accepted soon after there is
// room. With kill, the collector dies on the full disk and starts on it.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	for _, kill := range []bool{false, true} {
		name := "alone"
		if kill {
			name = "with a kill"
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, onDisk)
			disk := smallDisk(t, filepath.Join(r.collector.Dir, "disk"))
			other := filepath.Join(disk, "other")
			require.NoError(t, os.WriteFile(other, make([]byte, 12<<20), 0o600))
			r.collector.Start()
			r.proxy.inject(cut)
			clients := r.send(heavy)
			r.refuses(1)
			fill(t, disk)
			r.refuses(2000)
			requireDelay(t, r)
			if kill {
				r.collector.Kill()
				r.collector.Start()
				r.refuses(2000)
			}

			require.NoError(t, os.Remove(other))
			began := time.Now()
			r.acknowledges(1)
			t.Logf("accepted again %.2f s after there was room", time.Since(began).Seconds())
			r.proxy.heal()
			r.acknowledges(2000)
			clients.stop()
			r.finish(0)
		})
	}
}

// Nobody makes room, but the engine comes back: the room that the log keeps free, 1 MiB here, is enough to drain.
func TestFullDiskDrains(t *testing.T) {
	t.Parallel()
	r := newRig(t, onDisk)
	smallDisk(t, filepath.Join(r.collector.Dir, "disk"))
	r.collector.Start()
	r.proxy.inject(cut)
	clients := r.send(heavy)
	r.refuses(2000)
	r.collector.Kill()
	r.collector.Start()
	r.proxy.heal()
	began := time.Now()
	r.acknowledges(2000)
	t.Logf("accepted again %.2f s after the engine was back", time.Since(began).Seconds())
	clients.stop()
	r.finish(0)
}

func (r *rig) refuses(points int64) {
	r.t.Helper()
	goal := r.record.points(refused) + points
	r.until(func() bool { return r.record.points(refused) >= goal }, "%d more points refused", points)
}

// requireDelay posts a request and requires the answer that clients retry.
func requireDelay(t *testing.T, r *rig) {
	t.Helper()
	r.producers++
	q := request{producer: r.producers, points: 1000, outcome: refused}
	body, err := r.record.export(q, heavy.pad).MarshalProto()
	require.NoError(t, err)
	response, err := http.Post("http://"+r.collector.HTTP+"/v1/metrics", "application/x-protobuf", bytes.NewReader(body))
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusServiceUnavailable, response.StatusCode)
	require.Equal(t, "5", response.Header.Get("Retry-After"))
	r.record.add(q, nil)
}

// smallDisk mounts a file system of 24 MiB.
func smallDisk(t *testing.T, path string) string {
	t.Helper()
	return mount(t, path, "size=24m")
}

// mount makes a file system in memory, until the end of the test.
func mount(t *testing.T, path, options string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(path, 0o700))
	if err := unix.Mount("tmpfs", path, "tmpfs", 0, options); err != nil {
		t.Skipf("a file system to fill needs root: mount: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(path, unix.MNT_DETACH); !errors.Is(err, unix.EINVAL) { // the test may have done it
			require.NoError(t, err)
		}
	})
	return path
}

// fill takes all that is left of a disk.
func fill(t *testing.T, disk string) {
	t.Helper()
	file, err := os.Create(filepath.Join(disk, "filler"))
	require.NoError(t, err)
	for size := 1 << 20; size > 0; {
		if _, err := file.Write(make([]byte, size)); err != nil {
			require.ErrorIs(t, err, unix.ENOSPC)
			size /= 2
		}
	}
	require.NoError(t, file.Close())
}
