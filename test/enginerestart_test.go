package test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pitwall-otel/pitwall/test/fleet"
)

// TestEnginesThatRestartAreCountedOnce kills engines in mid-run. They come back on other ports, the router lists them
// there, and the receiver follows. What was counted over all lives is in the table once.
func TestEnginesThatRestartAreCountedOnce(t *testing.T) {
	load := fleet.Load{RequestsPerSecond: 5, OutputTokens: 64, Streaming: true}
	f := startFleet(t, fleet.Options{Seed: 2, Router: fleet.RouterSGL02, Engines: []fleet.Spec{
		{Name: "sglang", Version: fleet.SGLang0515, Load: load},
		{Name: "vllm", Version: fleet.VLLM026, Load: load},
		{Name: "steady", Version: fleet.SGLang0515, Load: load},
	}})
	w := watch(t, f, fmt.Sprintf(`routers: [{endpoint: %q, labels: {run: "7"}, refresh_interval: 300ms}]`, f.Router().URL()))
	w.scraped(addresses(f)...)
	for range 3 {
		w.drive(10)
		until := f.Now() + 15*time.Second
		require.Eventually(t, func() bool { return f.Now() > until }, scrapedWithin, 10*time.Millisecond)
		w.freeze(addresses(f)...)
		// Killed while they work; what they did since the last scrape nobody will know, and the ledger does not have it.
		// (An answer that is cut off by the kill would be in the ledger, so there should be none on its way.)
		f.Advance(100 * time.Millisecond)
		f.Engine("sglang").Kill()
		f.Engine("vllm").Kill()
		require.NoError(t, f.Engine("sglang").Restart())
		require.NoError(t, f.Engine("vllm").Restart())
		w.scraped(addresses(f)...)
	}
	w.drive(10)
	until := f.Now() + 15*time.Second
	require.Eventually(t, func() bool { return f.Now() > until }, scrapedWithin, 10*time.Millisecond)
	w.freeze(addresses(f)...)

	var output, requests, latencies float64
	lives := f.Lives()
	require.Len(t, lives, 3+2*3)
	for _, life := range lives {
		require.Greater(t, life.Serves, 1, "%s, life %d", life.Engine, life.Number)
		output += outputOf(&life)
		requests += float64(life.Last.Finished - life.First.Finished)
		latencies += float64(life.Last.EndToEnd.Count - life.First.EndToEnd.Count)
	}
	assert.InDelta(t, output, w.grown("7", "inference.tokens.output", ""), 0)
	assert.InDelta(t, requests, w.grown("7", "inference.requests.finished", ""), 0)
	assert.InDelta(t, latencies, w.observed("7", "gen_ai.server.request.duration.count", ""), 0)
	assert.InDelta(t, latencies, w.observed("7", "gen_ai.server.request.duration.bucket", ""), 0)
	for _, metric := range []string{"inference.tokens.output", "inference.requests.finished"} {
		assert.Zero(t, w.number(fmt.Sprintf("SELECT countIf(increase < 0) FROM "+increases, metric)), "intervals in which %s fell", metric)
	}
	assert.Zero(t, w.number(`SELECT countIf(value < 0) FROM training_observability.metric_points WHERE run_id = '7'
		AND (metric LIKE '%.count' OR metric LIKE '%.bucket' OR metric LIKE 'inference.tokens.throughput')`))
	// The old addresses are not scraped any more, and stay in the table as they were.
	assert.InDelta(t, float64(len(lives)), w.number(`SELECT uniqExact(JSONExtractString(tags_json, 'service.instance.id'))
		FROM training_observability.metric_points WHERE run_id = '7' AND metric = 'inference.engine.up'`), 0)
	targets, _ := telemetry(w.c, "otelcol_engine_targets", `source="router"`)
	assert.InDelta(t, 3, targets, 0)
	w.requireNoFindings()
}

// TestAWorkerMissingFromTheRoutersPageIsDown kills an engine behind a router that goes on answering 200 without it.
func TestAWorkerMissingFromTheRoutersPageIsDown(t *testing.T) {
	f := startFleet(t, fleet.Options{Seed: 3, Router: fleet.RouterSMG, RouterTimeout: time.Second, Engines: []fleet.Spec{
		{Name: "one", Version: fleet.SGLangMain}, {Name: "two", Version: fleet.SGLangMain},
	}})
	f.Engine("two").Submit(5) // an engine that never worked has no gauges
	f.Advance(time.Second)
	page := address(f.Router().URL()) + "/engine_metrics"
	w := watch(t, f, fmt.Sprintf(`static: [{endpoint: %q, kind: router, labels: {run: "7"}}]`, f.Router().URL()),
		`receivers: {engine: {families: {keep_original: true}}}`)
	w.scraped(page)
	one, two := address(f.Engine("one").URL()), address(f.Engine("two").URL())
	assert.Equal(t, 1.0, w.last("7", "inference.engine.up", one))
	// The engine's own families are kept beside, once, in the engine's spelling.
	const rows = `SELECT count(), uniqExact(event_time) FROM training_observability.metric_points WHERE metric = '%s' AND tags_json LIKE '%%%s%%'`
	for _, metric := range []string{"inference.requests.running", "sglang:num_running_reqs"} {
		counts := w.query(fmt.Sprintf(rows, metric, two))
		assert.NotEqual(t, "0", counts[0][0], metric)
		assert.Equal(t, counts[0][0], counts[0][1], "rows and scrapes with %s", metric)
	}
	f.Engine("one").Kill()
	w.scraped(page)
	require.Eventually(t, func() bool { return w.last("7", "inference.engine.up", one) == 0 }, scrapedWithin, 100*time.Millisecond)
	assert.Equal(t, 1.0, w.last("7", "inference.engine.up", two))
	w.scraped(page)
	assert.Equal(t, 1.0, w.number(`SELECT argMax(value, event_time) FROM training_observability.metric_points
		WHERE metric = 'pitwall.scrape.up' AND run_id = '7'`), "the router itself answers")
	assert.Equal(t, 1.0, w.number(`SELECT max(value) FROM training_observability.metric_points
		WHERE metric = 'collector.engine.error_count' AND run_id = '7'`), "the engines that are missing")
	w.requireNoFindings()
}

func addresses(f *fleet.Fleet) []string {
	var all []string
	for _, e := range f.Engines() {
		all = append(all, address(e.URL()))
	}
	return all
}
