package test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pitwall-otel/pitwall/test/fleet"
)

// TestEnginesAgreeWithTheirOwnLedger scrapes a fleet in three ways at once, from the workers that its router lists, from
// the router's page that repeats them, and from the router's page about itself, and compares the table with what the
// engines counted. Everything is asked of the table, most of it after the engines are gone.
func TestEnginesAgreeWithTheirOwnLedger(t *testing.T) {
	load := fleet.Load{RequestsPerSecond: 3, Streaming: true}
	f := startFleet(t, fleet.Options{Seed: 1, Tick: 10 * time.Millisecond, Router: fleet.RouterSlime, Engines: []fleet.Spec{
		{Name: "prefill", Version: fleet.SGLangMain, Role: fleet.Prefill, Peer: "decode", Load: load, Capacity: fleet.Capacity{TransferPerSec: 100e6}},
		{Name: "decode", Version: fleet.SGLangMain, Role: fleet.Decode, Capacity: fleet.Capacity{KVTokens: 9000}},
		{Name: "vllm", Version: fleet.VLLM026, Load: load},
	}})
	page := address(f.Router().URL()) + "/engine_metrics"
	w := watch(t, f, fmt.Sprintf(`
    routers: [{endpoint: %q, labels: {run: workers}, refresh_interval: 500ms}],
    static: [{endpoint: %q, kind: router, labels: {run: page}}, {endpoint: %q, kind: gateway, labels: {run: gateway}}]`,
		f.Router().URL(), f.Router().URL(), f.Router().MetricsURL()))
	all := append(addresses(f), page, address(f.Router().MetricsURL()))
	w.scraped(all...)
	w.drive(10)
	require.Eventually(t, func() bool { return f.Now() > 40*time.Second }, scrapedWithin, 10*time.Millisecond)
	w.stop()
	// A rollout begins. Requests are in some of the queues for milliseconds, of which scrapes see little, so time stops
	// when all queues have some.
	for range 2000 {
		f.Engine("prefill").Submit(1)
		f.Advance(10 * time.Millisecond)
		p, d := f.Engine("prefill").Totals(), f.Engine("decode").Totals()
		if p.Waiting*p.Bootstrap*p.Inflight*d.Running*d.Prealloc*d.Transferring > 0 {
			break
		}
	}
	w.scraped(all...)
	w.drive(10)
	require.Eventually(t, func() bool { return f.Now() > 80*time.Second }, scrapedWithin, 10*time.Millisecond)
	w.freeze(all...)
	lives := f.Lives()
	routed := f.Router().Routed()
	f.Close()

	for _, run := range []string{"workers", "page"} {
		for _, life := range lives {
			t.Run(life.Engine+" by "+run, func(t *testing.T) {
				w := *w
				w.t = t
				w.requireLedger(run, &life)
			})
		}
	}
	t.Run("columns", func(t *testing.T) {
		rows := w.query(`SELECT DISTINCT run_id, host, rank, device, step FROM training_observability.metric_points
			WHERE metric LIKE 'inference.%' OR metric LIKE 'gen_ai.%' ORDER BY run_id`)
		host := hostName(t)
		assert.Equal(t, [][]string{{"gateway", host, "0", "65535", "0"}, {"page", host, "0", "65535", "0"}, {"workers", host, "0", "65535", "0"}}, rows)
	})
	t.Run("router", func(t *testing.T) {
		assert.InDelta(t, float64(routed.Finished+routed.Lost),
			w.number(`SELECT max(value) FROM training_observability.metric_points WHERE run_id = 'gateway' AND metric = 'inference.router.requests'`), 0)
	})
	t.Run("rates", func(t *testing.T) {
		// A chart of tokens per second over both kinds of engines, and the tokens under it.
		rows := w.query(fmt.Sprintf(`SELECT min(rate), sum(rate * 5) FROM (
			SELECT toStartOfInterval(event_time, INTERVAL 5 SECOND) AS t, sum(increase) / 5 AS rate FROM `+increases+`
			WHERE run_id = 'workers' GROUP BY t)`, "inference.tokens.output"))
		var want float64
		for _, life := range lives {
			want += outputOf(&life)
		}
		least, err := strconv.ParseFloat(rows[0][0], 64)
		require.NoError(t, err)
		tokens, err := strconv.ParseFloat(rows[0][1], 64)
		require.NoError(t, err)
		assert.GreaterOrEqual(t, least, 0.0)
		assert.InDelta(t, want, tokens, 1e-6*want)
	})
	t.Run("seed", w.requireSeedFamilies)
	w.requireNoFindings()
}

// outputOf is what inference.tokens.output counts: SGLang counts tokens of decode passes as they are made. A prefill engine
// makes the first token of each answer and has no decode passes, so that its tokens are counted when it is done with the
// request.
func outputOf(life *fleet.Life) float64 {
	if life.Engine == "vllm" || life.Engine == "prefill" {
		return float64(life.Last.Output - life.First.Output)
	}
	return float64(life.Last.DecodedTokens - life.First.DecodedTokens)
}

// requireLedger compares what one engine counted between the first and the last answer with what the table says.
func (w *watched) requireLedger(run string, life *fleet.Life) {
	w.t.Helper()
	first, last := &life.First, &life.Last
	at := life.Address
	counter := func(want float64, metric string, tags ...string) {
		w.t.Helper()
		assert.InDelta(w.t, want, w.grown(run, metric, at, tags...), 0, metric)
	}
	distribution := func(count int64, sum, slack float64, metric string) {
		w.t.Helper()
		assert.InDelta(w.t, float64(count), w.observed(run, metric+".count", at), 0, metric)
		assert.InDelta(w.t, float64(count), w.observed(run, metric+".bucket", at), 0, "buckets of "+metric)
		assert.InDelta(w.t, sum, w.observed(run, metric+".sum", at), slack*sum, "sum of "+metric)
	}
	counter(outputOf(life), "inference.tokens.output")
	counter(float64(last.Finished-first.Finished+last.Aborted-first.Aborted), "inference.requests.finished")
	distribution(last.EndToEnd.Count-first.EndToEnd.Count, (last.EndToEnd.Sum - first.EndToEnd.Sum).Seconds(), 1e-6, "gen_ai.server.request.duration")
	distribution(last.FirstToken.Count-first.FirstToken.Count, (last.FirstToken.Sum - first.FirstToken.Sum).Seconds(), 1e-6, "gen_ai.server.time_to_first_token")
	distribution(last.BetweenTokens.Count-first.BetweenTokens.Count, (last.BetweenTokens.Sum - first.BetweenTokens.Sum).Seconds(), 1e-6, "inference.inter_token_latency")
	distribution(last.QueueTime.Count-first.QueueTime.Count, (last.QueueTime.Sum - first.QueueTime.Sum).Seconds(), 1e-6, "inference.request.queue.duration")
	counter(float64(last.ComputedTokens-first.ComputedTokens), "inference.tokens.prompt", "inference.cache.tier=none")
	assert.InDelta(w.t, float64(last.Running), w.last(run, "inference.requests.running", at), 0, "running requests")
	assert.InDelta(w.t, float64(last.Waiting), w.last(run, "inference.requests.waiting", at), 0, "waiting requests")
	if life.Engine == "prefill" {
		distribution(last.Transfers.Count-first.Transfers.Count, (last.Transfers.Sum - first.Transfers.Sum).Seconds(), 1e-6, "inference.pd.kv_transfer.duration")
		distribution(last.TransferredBytes.Count-first.TransferredBytes.Count, float64(last.TransferredBytes.Sum-first.TransferredBytes.Sum), 1e-6, "inference.pd.kv_transfer.size")
	}
}

// requireSeedFamilies draws the nine families that the seed calls useful: each as a line over time, from the table alone.
func (w *watched) requireSeedFamilies(t *testing.T) {
	chart := func(family, metric, tags, value string) {
		t.Helper()
		rows := w.query(fmt.Sprintf(`SELECT toStartOfInterval(event_time, INTERVAL 1 SECOND) AS t, %s AS v FROM training_observability.metric_points
			WHERE run_id = 'workers' AND metric = '%s'%s GROUP BY t HAVING isFinite(v) ORDER BY t`, value, metric, tags))
		assert.GreaterOrEqual(t, len(rows), 3, "points of %s over time", family)
		highest := w.number(fmt.Sprintf("SELECT max(value) FROM training_observability.metric_points WHERE run_id = 'workers' AND metric = '%s'%s", metric, tags))
		assert.Positive(t, highest, "%s was above 0 at some time", family)
	}
	gauge := func(family, metric, tags string) { t.Helper(); chart(family, metric, tags, "sum(value)") }
	gauge("sglang:num_running_reqs", "inference.requests.running", " AND tags_json LIKE '%sglang%'")
	gauge("sglang:num_queue_reqs", "inference.requests.waiting", " AND tags_json LIKE '%sglang%'")
	for family, queue := range map[string]string{
		"sglang:num_prefill_bootstrap_queue_reqs": "prefill_bootstrap", "sglang:num_prefill_inflight_queue_reqs": "prefill_inflight",
		"sglang:num_decode_prealloc_queue_reqs": "decode_prealloc", "sglang:num_decode_transfer_queue_reqs": "decode_transfer",
	} {
		gauge(family, "inference.pd.queue.requests", " AND JSONExtractString(tags_json, 'inference.pd.queue') = '"+queue+"'")
	}
	const median = `quantileExactWeighted(0.5)(toFloat64OrNull(JSONExtractString(tags_json, 'le')), toUInt64(value))`
	chart("sglang:kv_transfer_latency_ms_bucket", "inference.pd.kv_transfer.duration.bucket", "", median)
	chart("sglang:kv_transfer_speed_gb_s_bucket", "inference.pd.kv_transfer.throughput.bucket", "", median)
	chart("sglang:kv_transfer_total_mb_bucket", "inference.pd.kv_transfer.size.bucket", "", median)
}
