package metricpointsexporter

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/client"

	"github.com/pitwall-otel/pitwall/internal/enginetest"
)

// identified is the context that the OTLP receiver makes of a request with these headers.
func identified(ids ...string) context.Context {
	return client.NewContext(context.Background(), client.Info{Metadata: client.NewMetadata(map[string][]string{"Pitwall-Batch-Id": ids})})
}

func TestBatchID_StoredOnce(t *testing.T) {
	engine := enginetest.Start(t)
	c := config(t, engine.Endpoint())
	r := start(t, c)
	send := func(run string, ids ...string) {
		t.Helper()
		require.NoError(t, r.exporter.ConsumeMetrics(identified(ids...), requestOf(run, 1, 2)))
	}
	for range 3 {
		send("again", "one")
		send("longest", strings.Repeat("x", 256))
	}
	send("another", "two")
	for range 2 { // each of these is no id
		send("none")
		send("empty", "")
		send("long", strings.Repeat("y", 257))
		send("several", "three", "four")
	}
	eventuallyBalance(t, r, 30, 22, 8)
	assert.EqualValues(t, 8, droppedFor(r, "duplicate"))
	const counts = "SELECT run_id, count(), uniqExact(step) FROM training_observability.metric_points WHERE run_id != '' GROUP BY ALL ORDER BY run_id"
	want := [][]string{
		{"again", "2", "2"}, {"another", "2", "2"}, {"empty", "4", "2"}, {"long", "4", "2"}, {"longest", "2", "2"}, {"none", "4", "2"}, {"several", "4", "2"},
	}
	eventuallyRows(t, engine, counts, want)
	assert.Equal(t, 1, r.logs.FilterMessageSnippet("batch id that cannot be used").Len(), "one line a minute")
	r.stop(t)

	r = start(t, c)
	send("again", "one")
	send("another", "two")
	send("later", "five")
	eventuallyBalance(t, r, 6, 2, 4)
	eventuallyRows(t, engine, counts, slices.Insert(want, 3, []string{"later", "2", "2"}))
}

// A crash leaves the log as it is and the last ids in no file: they are read from the log.
func TestBatchID_KnownAfterACrash(t *testing.T) {
	c := config(t, "http://127.0.0.1:1")
	first := start(t, c)
	for _, id := range []string{"one", "two"} {
		require.NoError(t, first.exporter.ConsumeMetrics(identified(id), requestOf(id, 1)))
	}
	crashed := t.TempDir()
	require.NoError(t, os.CopyFS(crashed, os.DirFS(c.Log.Directory)))
	files, err := filepath.Glob(filepath.Join(crashed, "batch-ids", "*"))
	require.NoError(t, err)
	require.Empty(t, files, "nothing but the log")

	second := start(t, config(t, "http://127.0.0.1:1", func(c *Config) { c.Log.Directory = crashed }))
	for _, id := range []string{"one", "two", "three"} {
		require.NoError(t, second.exporter.ConsumeMetrics(identified(id), requestOf(id, 1)))
	}
	assert.EqualValues(t, 2, droppedFor(second, "duplicate"))
	assert.EqualValues(t, 3, observed(t, second, "otelcol_metricpoints_points_queued"))
	files, err = filepath.Glob(filepath.Join(crashed, "batch-ids", "*"))
	require.NoError(t, err)
	assert.Len(t, files, 1, "in a file before the log began another segment")
}

// What was refused was not accepted: its repetition is a first time.
func TestBatchID_RefusedIsNotKnown(t *testing.T) {
	c := config(t, "http://127.0.0.1:1")
	c.Log.MinFreeMiB = 1 << 40
	full := start(t, c)
	require.Error(t, full.exporter.ConsumeMetrics(identified("one"), requestOf("r", 1)))
	require.Error(t, full.exporter.ConsumeMetrics(identified("one"), requestOf("r", 1)), "nor is it waited for")
	assert.EqualValues(t, 2, observed(t, full, "otelcol_metricpoints_points_refused"))
	full.stop(t)

	c.Log.MinFreeMiB = 0
	r := start(t, c)
	require.NoError(t, r.exporter.ConsumeMetrics(identified("one"), requestOf("r", 1)))
	assert.EqualValues(t, 1, observed(t, r, "otelcol_metricpoints_points_queued"))
	assert.Zero(t, allDropped(r))
}

func TestBatchID_TurnedOff(t *testing.T) {
	c := config(t, "http://127.0.0.1:1", func(c *Config) { c.BatchIDs.MaxEntries = 0 })
	r := start(t, c)
	for range 2 {
		require.NoError(t, r.exporter.ConsumeMetrics(identified("one"), requestOf("r", 1)))
	}
	assert.EqualValues(t, 2, observed(t, r, "otelcol_metricpoints_points_queued"))
	r.stop(t)
	assert.NoDirExists(t, filepath.Join(c.Log.Directory, "batch-ids"))
}

// Many at once with one id: one of them is stored.
func TestBatchID_AtOnce(t *testing.T) {
	r := start(t, config(t, "http://127.0.0.1:1"))
	answers := make(chan error)
	for range 32 {
		go func() { answers <- r.exporter.ConsumeMetrics(identified("one"), requestOf("r", 1)) }()
	}
	for range 32 {
		require.NoError(t, <-answers)
	}
	assert.EqualValues(t, 1, observed(t, r, "otelcol_metricpoints_points_queued"))
	assert.EqualValues(t, 31, droppedFor(r, "duplicate"))
}

func BenchmarkConsume(b *testing.B) {
	request := requestOf("r", make([]float64, 50)...)
	for name, header := range map[string]bool{"without id": false, "with id": true} {
		b.Run(name, func(b *testing.B) {
			c := createDefaultConfig().(*Config)
			c.ClientConfig.Endpoint, c.Log.Directory, c.Log.MinFreeMiB = "http://127.0.0.1:1", b.TempDir(), 0
			e, err := newMetricPoints(nopSettings(), c)
			require.NoError(b, err)
			require.NoError(b, e.start(context.Background(), &statusHost{}))
			b.ReportAllocs()
			b.ResetTimer()
			for n := range b.N {
				ctx := context.Background()
				if header {
					ctx = identified(time.Unix(int64(n), 0).UTC().Format(http.TimeFormat))
				}
				if err := e.consume(ctx, request); err != nil {
					b.Fatal(err)
				}
			}
			b.StopTimer()
			require.NoError(b, e.shutdown(context.Background()))
		})
	}
}
