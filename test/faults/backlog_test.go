package faults

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pitwall-otel/pitwall/internal/wal"
)

// The disk gives back something else than was written. What is damaged is lost and counted, point by point; what is not
// arrives; the file is kept for somebody to look at, and the collector starts as ever.
func TestDamagedLog(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.backlog(50_000)
	segments, err := filepath.Glob(filepath.Join(r.logFolder(), "*.seg"))
	require.NoError(t, err)
	require.Len(t, segments, 1)
	info, err := os.Stat(segments[0])
	require.NoError(t, err)
	overwrite(t, segments[0], info.Size()/3, 100)
	overwrite(t, segments[0], info.Size()/2, 10_000)

	r.collector.Start()
	r.proxy.heal()
	r.drained()
	dropped := int64(r.now()["log_damaged"])
	assert.Positive(t, dropped)
	assert.Less(t, dropped, int64(5000))
	clients := r.send(usual)
	r.acknowledges(2000)
	clients.stop()
	r.finish(dropped)

	r.collector.Stop()
	r.collector.Start()
	kept, err := filepath.Glob(filepath.Join(r.logFolder(), "corrupt", "*.seg"))
	require.NoError(t, err)
	assert.Len(t, kept, 1, "damaged segments set aside")
	t.Logf("%d points dropped as log_damaged, the damaged segment is %s", dropped, filepath.Base(kept[0]))
}

// The log's only segment begins with zeros, as after some crashes of the machine: its header, or a whole page. Which log it
// is, and under which tokens its points were sent before, is told by what follows; what stood in the page is counted.
func TestLogWithoutHeader(t *testing.T) {
	t.Parallel()
	f := func(name string, bytes int, broken fault) {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.collector.Start()
			r.proxy.inject(broken)
			clients := r.send(usual)
			r.acknowledges(10_000)
			r.until(func() bool { return r.proxy.broken.Load() >= 4 }, "INSERTs broken")
			clients.stop()
			r.collector.Kill()
			r.proxy.heal()
			segments, err := filepath.Glob(filepath.Join(r.logFolder(), "*.seg"))
			require.NoError(t, err)
			require.Len(t, segments, 1)
			overwrite(t, segments[0], 0, bytes)

			r.collector.Start()
			r.drained()
			lost := int64(r.now()["log_damaged"])
			clients = r.send(usual)
			r.acknowledges(2000)
			clients.stop()
			r.finish(lost)
			t.Logf("%d bytes destroyed, %d points dropped as log_damaged", bytes, lost)
			assert.Equal(t, bytes > 24, lost > 0)
		})
	}
	f("blocks stored already", 24, loseAnswer)
	f("a page", 4096, cut)
}

// The backlog was written by a collector with another schema version, as after an update: it is stored as it was accepted.
func TestBacklogOfAnotherSchemaVersion(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.backlog(20_000)
	older := filepath.Join(r.collector.Dir, "older")
	rewrite(t, r.logFolder(), older, func(payload []byte) {
		version := payload[2 : 2+int(payload[1])] // behind the format's version: length and text
		require.Equal(t, 2, bytes.Count(version, []byte(".")), "%q is no version", version)
		copy(version, "0")
	})
	require.NoError(t, os.RemoveAll(r.logFolder()))
	require.NoError(t, os.Rename(older, r.logFolder()))
	r.collector.Start()
	r.proxy.heal()
	r.finish(0)
}

// A block is delivered again by hand, many times, also after the engine was restarted: the table's window knows its token.
func TestDuplicateDelivery(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.collector.Start()
	clients := r.send(usual)
	r.acknowledges(20_000)
	clients.stop()
	r.drained()
	before := r.count()
	again := func() {
		last := r.proxy.lastInsert()
		require.NotNil(t, last)
		assert.Contains(t, last.target, "insert_deduplication_token=")
		for range 20 {
			r.post(last)
		}
	}
	again()
	r.engine.Restart()
	again()
	assert.Equal(t, before, r.count())
	r.finish(0)
}

// One request holds a point for every day of 200 months: one INSERT may not touch that many partitions.
func TestBackfill(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.record.stride = -24 * time.Hour
	r.collector.Start()
	clients := r.send(shape{clients: 1, points: 6100, every: time.Hour})
	r.acknowledges(1)
	clients.stop()
	r.finish(0)
	months := r.engine.Query("SELECT uniqExact(toYYYYMM(event_time)) FROM " + table)
	t.Logf("one request, %s months, %d INSERTs", months[0][0], r.proxy.inserts.Load())
	n, err := strconv.Atoi(months[0][0])
	require.NoError(t, err)
	assert.GreaterOrEqual(t, n, 200)
}

// backlog leaves a dead collector with that many acknowledged points in its log.
func (r *rig) backlog(points int64) {
	r.t.Helper()
	r.proxy.inject(cut)
	r.collector.Start()
	clients := r.send(usual)
	r.acknowledges(points)
	clients.stop()
	r.collector.Kill()
}

func (r *rig) logFolder() string { return filepath.Join(r.collector.Dir, "data", "metricpoints-log") }

func (r *rig) count() string {
	r.t.Helper()
	return r.engine.Query("SELECT count() FROM " + table)[0][0]
}

func overwrite(t *testing.T, path string, at int64, bytes int) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = file.WriteAt(make([]byte, bytes), at)
	require.NoError(t, err)
	require.NoError(t, file.Close())
}

// rewrite copies what is in one log into another, with each payload changed in place.
func rewrite(t *testing.T, from, to string, change func(payload []byte)) {
	t.Helper()
	source, err := wal.Open(wal.Options{Dir: from})
	require.NoError(t, err)
	target, err := wal.Open(wal.Options{Dir: to})
	require.NoError(t, err)
	for source.Stats().Rows > 0 {
		ctx, cancel := context.WithTimeout(t.Context(), within)
		r, err := source.Next(ctx)
		require.NoError(t, err)
		damaged, err := source.Read(r, func(payload []byte, rows int) error {
			changed := bytes.Clone(payload)
			change(changed)
			return target.Append(ctx, changed, rows)
		})
		require.NoError(t, err)
		require.Zero(t, damaged)
		source.Done(r)
		cancel()
	}
	require.NoError(t, source.Close())
	require.NoError(t, target.Close())
}

// A log of 128 MiB, 1 GiB in a soak, is read at the start while clients send already.
func TestLargeBacklog(t *testing.T) {
	t.Parallel()
	r := newRig(t, "exporters: {metricpoints: {timeout: 30s, insert: {interval: 1s, rows: 50000}}}")
	r.collector.Start()
	r.proxy.inject(cut)
	clients := r.send(shape{clients: 4, points: 500, every: 10 * time.Millisecond, pad: 400})
	size := 128 << 20
	if soaking() {
		size = 1 << 30
	}
	r.until(func() bool { return r.now()["log_size"] > float64(size) }, "a log of %d MiB", size>>20)
	clients.stop()
	r.collector.Kill()
	r.proxy.heal()

	inserts, began := r.proxy.inserts.Load(), time.Now()
	r.collector.Launch()
	clients = r.send(usual)
	r.acknowledges(1)
	accepted := time.Since(began)
	r.until(func() bool { return r.proxy.inserts.Load() > inserts }, "an INSERT")
	first := time.Since(began)
	clients.stop()
	r.drained()
	t.Logf("filled in %.1f s; after the start with %d MiB: first request acknowledged after %.2f s, first INSERT after %.2f s, drained after %.1f s",
		began.Sub(r.began).Seconds(), size>>20, accepted.Seconds(), first.Seconds(), time.Since(began).Seconds())
	r.finish(0)
}
