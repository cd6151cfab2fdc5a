package faults

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pitwall-otel/pitwall/internal/collectortest"
	"github.com/pitwall-otel/pitwall/internal/enginetest"
)

// canary is the password of every rig: no log may hold it.
const canary = "canary-2f9c51d7"

const (
	table = "training_observability.metric_points"
	// within is for one step of anything, which should take milliseconds or seconds, on a machine busy with other tests.
	within = 5 * time.Minute
)

// shortened leaves nothing in the table but what the tests send, and shortens the clock: blocks are small and frequent,
// so that faults meet many of them.
const shortened = `
receivers:
  host_metrics: {collection_interval: 1h, initial_delay: 1h}
  host_metrics/filesystems: {collection_interval: 1h, initial_delay: 1h}
exporters:
  metricpoints:
    create_schema: true
    ledger_interval: 0s
    timeout: 5s
    log: {min_free_mib: 0}
    insert: {interval: 100ms, rows: 2000}
    retry: {initial_interval: 50ms, max_interval: 300ms}
  metricpoints/quarantine: {create_schema: true, log: {min_free_mib: 0}}
`

// rig is a collector, an engine and a proxy between them, with what was sent so far.
type rig struct {
	t         *testing.T
	collector *collectortest.Collector
	engine    *enginetest.Engine
	proxy     *proxy
	record    *record
	sampler   *sampler
	producers int
	began     time.Time
}

// newRig prepares an agent that writes through the proxy. It runs after collector.Start.
func newRig(t *testing.T, overrides ...string) *rig {
	t.Helper()
	engine := enginetest.Start(t, enginetest.WithPassword(canary))
	p := newProxy(t, engine.Endpoint())
	c := collectortest.New(t, "config/agent.yaml", append([]string{shortened}, overrides...)...)
	c.Env = []string{
		"PITWALL_CLICKHOUSE_ENDPOINT=" + p.server.URL, "PITWALL_CLICKHOUSE_PASSWORD=" + canary,
		"PITWALL_CLICKHOUSE_USER=default", "PITWALL_OTLP_ENDPOINT=http://127.0.0.1:1",
	}
	return &rig{
		t: t, collector: c, engine: engine, proxy: p, record: newRecord(),
		sampler: startSampler(c.Telemetry), began: time.Now(),
	}
}

// rounds is n, or ten times n in a soak.
func rounds(n int) int {
	if soaking() {
		return 10 * n
	}
	return n
}

func soaking() bool { return os.Getenv("PITWALL_SOAK") != "" }

// until waits for a condition.
func (r *rig) until(condition func() bool, what string, args ...any) {
	r.t.Helper()
	require.Eventuallyf(r.t, condition, within, 5*time.Millisecond, what, args...)
}

// acknowledges waits until that many more points are acknowledged, as long as some are.
func (r *rig) acknowledges(points int64) {
	r.t.Helper()
	at := r.record.points(acknowledged)
	for goal := at + points; at < goal; at = r.record.points(acknowledged) {
		r.until(func() bool { return r.record.points(acknowledged) > at }, "more than %d of %d points acknowledged", at, goal)
	}
}

// moment waits for a random time up to d: a moment that nothing in the collector agrees with.
func moment(d time.Duration) { <-time.After(rand.N(d)) }

// now is the exporter's counters at this moment.
func (r *rig) now() map[string]float64 {
	s, _ := scrape(http.DefaultClient, r.collector.Telemetry)
	return s.exporters["metricpoints"]
}

// drained waits until nothing is left in the log, as long as it becomes less.
func (r *rig) drained() {
	r.t.Helper()
	for left := math.Inf(1); left > 0; {
		r.until(func() bool {
			queued, found := r.now()["points_queued"]
			less := found && queued < left
			if less {
				left = queued
			}
			return less
		}, "less than %.0f points left in the log", left)
	}
}

// catchesUp waits until as much is stored as is accepted now, as long as it becomes more, also while somebody sends.
func (r *rig) catchesUp() {
	r.t.Helper()
	goal, settled := math.Inf(1), math.Inf(-1)
	for settled < goal {
		r.until(func() bool {
			now := r.now()
			accepted, found := now["points_accepted"]
			if !found {
				return false
			}
			if accepted < goal { // the first look, or another collector, which counts anew
				goal, settled = accepted, math.Inf(-1)
			}
			before := settled
			settled = max(settled, now["points_stored"]+now["points_dropped"])
			return settled > before
		}, "more than %.0f of %.0f points stored", settled, goal)
	}
}

// result is what the reconciler found, in points.
type result struct {
	acknowledged, refused, unknown                int64 // sent
	stored, lost, doubled, wrong                  int64
	refusedStored, unknownStored, storedNeverSent int64
}

func (r *result) add(other result) {
	r.acknowledged += other.acknowledged
	r.refused += other.refused
	r.unknown += other.unknown
	r.stored += other.stored
	r.lost += other.lost
	r.doubled += other.doubled
	r.wrong += other.wrong
	r.refusedStored += other.refusedStored
	r.unknownStored += other.unknownStored
	r.storedNeverSent += other.storedNeverSent
}

// finish waits for the log to drain, reconciles and requires that the promise held. lost is how many acknowledged points
// may be missing because a drop counter says so.
func (r *rig) finish(lost int64) result {
	r.t.Helper()
	r.drained()
	samples := r.sampler.stop()
	got := r.reconcile()
	r.t.Logf("%s in %.1f s: %d acknowledged, %d refused, %d unknown; %d stored, %d lost, %d doubled, %d wrong; "+
		"%d unknown stored; %d faults met; ledger added up in %d samples; peaks: %.0f points queued, log %.1f MiB, rss %.0f MiB",
		r.t.Name(), time.Since(r.began).Seconds(), got.acknowledged, got.refused, got.unknown, got.stored, got.lost, got.doubled, got.wrong,
		got.unknownStored, r.proxy.broken.Load(), samples-len(r.sampler.unbalanced),
		r.sampler.peak["queued"], r.sampler.peak["log"]/(1<<20), r.sampler.peak["rss"]/(1<<20))

	if r.record.unclear != nil {
		r.t.Logf("the first unknown outcome: %v", r.record.unclear)
	}
	assert.Positive(r.t, got.acknowledged)
	assert.Equal(r.t, lost, got.lost, "acknowledged points that are not stored")
	assert.Zero(r.t, got.doubled, "points stored twice")
	assert.Zero(r.t, got.wrong, "points stored with another value, time, rank or step")
	assert.Zero(r.t, got.refusedStored, "refused points that are stored")
	assert.Zero(r.t, got.storedNeverSent, "stored points that nobody sent")
	assert.Positive(r.t, samples, "samples of the ledger")
	assert.Empty(r.t, r.sampler.unbalanced, "accepted = stored + dropped + queued")
	r.secret()
	return got
}

// sliceOf is how many points are reconciled at once: the engine's queries have 1.5 GiB.
const sliceOf = 5_000_000

// reconcile joins the record with the table by producer and sequence.
func (r *rig) reconcile() (all result) {
	r.t.Helper()
	for _, statement := range []string{
		"CREATE DATABASE IF NOT EXISTS faults",
		"CREATE OR REPLACE TABLE faults.sent (producer UInt64, first UInt64, points UInt32, outcome String) ENGINE = MergeTree ORDER BY producer",
	} {
		_, err := r.engine.Exec(statement)
		require.NoError(r.t, err)
	}
	var lines strings.Builder
	for _, q := range r.record.requests {
		lines.WriteString(q.String())
	}
	_, err := r.engine.Exec("INSERT INTO faults.sent FORMAT TabSeparated\n" + lines.String())
	require.NoError(r.t, err)

	slices := 1 + (r.record.points(acknowledged)+r.record.points(unknown)+r.record.points(refused))/sliceOf
	for n := range slices {
		all.add(r.reconcileSlice(n, slices))
	}
	return all
}

// reconcileSlice reconciles the producers whose number leaves that rest.
func (r *rig) reconcileSlice(rest, slices int64) result {
	r.t.Helper()
	rows := r.engine.Query(fmt.Sprintf(`
		SELECT countIf(outcome = 'acknowledged'), countIf(outcome = 'refused'), countIf(outcome = 'unknown'),
			sum(copies), countIf(outcome = 'acknowledged' AND copies = 0), sumIf(copies - 1, copies > 1), countIf(wrong > 0),
			countIf(outcome = 'refused' AND copies > 0), countIf(outcome = 'unknown' AND copies > 0), countIf(outcome = '')
		FROM (
			SELECT producer, arrayJoin(range(first, first + points)) AS sequence, outcome FROM faults.sent WHERE producer %% %[4]d = %[5]d
		) AS sent FULL OUTER JOIN (
			SELECT toUInt64(JSONExtractUInt(tags_json, 'producer')) AS producer, toUInt64(JSONExtractUInt(tags_json, 'sequence')) AS sequence,
				count() AS copies, countIf(value != sequence + producer / 1024 OR rank != producer OR step != sequence
					OR metric != 'stamp' OR run_id != 'faults'
					OR toUnixTimestamp64Milli(event_time) != %[1]d + toInt64(sequence) * %[2]d) AS wrong
			FROM %[3]s WHERE run_id != 'observed' AND producer %% %[4]d = %[5]d GROUP BY producer, sequence
		) AS stored USING (producer, sequence)`,
		r.record.base.UnixMilli(), r.record.stride.Milliseconds(), table, slices, rest))
	require.Len(r.t, rows, 1)
	var n [10]int64
	require.Len(r.t, rows[0], len(n))
	for i, text := range rows[0] {
		var err error
		n[i], err = strconv.ParseInt(text, 10, 64)
		require.NoError(r.t, err)
	}
	return result{
		acknowledged: n[0], refused: n[1], unknown: n[2], stored: n[3], lost: n[4], doubled: n[5], wrong: n[6],
		refusedStored: n[7], unknownStored: n[8], storedNeverSent: n[9],
	}
}

// secret looks for the password in everything that was written down: the logs of both programs, the write-ahead log, its
// dead letters, the queues.
func (r *rig) secret() {
	r.t.Helper()
	assert.NotContains(r.t, r.engine.Output(), canary, "in the engine's output")
	err := filepath.WalkDir(r.collector.Dir, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || err == nil && !entry.Type().IsRegular() {
			return nil
		}
		content, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a segment that was deleted meanwhile
		}
		assert.False(r.t, bytes.Contains(content, []byte(canary)), "the password is in %s", path)
		return err
	})
	require.NoError(r.t, err)
}
