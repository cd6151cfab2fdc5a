package main

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pitwall-otel/pitwall/internal/collectortest"
)

// TestLive lets a run go on for some steps. Its own facts come by OTLP; its engines are scraped by the engine receiver, at
// which they registered themselves, and the counters in the table are those that the engines served last.
func TestLive(t *testing.T) {
	c := collectortest.New(t, "config/single-node.yaml", "receivers: {engine: {collection_interval: 1s, initial_delay: 0s}}")
	c.Start()
	d, err := newDemo(options{otlp: "http://" + c.HTTP, registration: "http://" + c.Engines, live: true, step: 3 * time.Second, seed: 1}, time.Now())
	require.NoError(t, err)
	defer d.close()
	require.Len(t, d.players, 1, "without a past there is no older run")
	p := d.players[0]
	require.NoError(t, d.backfill(t.Context()))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- d.live(ctx) }()

	ask := func(what string) string {
		answer, err := c.Query("SELECT " + strings.NewReplacer("FROM metric_points", "FROM training_observability.metric_points", "FROM otel_logs", "FROM training_observability.otel_logs").Replace(what))
		require.NoError(t, err)
		return answer
	}
	where := " FROM metric_points WHERE run_id = '" + p.spec.ID + "' AND "
	require.Eventually(t, func() bool {
		return ask("max(step) >= 3"+where+"metric = 'loss'") == "1" &&
			ask("uniqExact(JSONExtractInt(tags_json, 'rl.replica.id')) = 4"+where+"metric = 'inference.tokens.prompt' AND value > 0") == "1"
	}, 2*time.Minute, 500*time.Millisecond)
	assert.Equal(t, "1", ask("countIf(NOT ended) > 0 "+fmt.Sprintf(eachState, "")), "states that are under way are open")
	stop()
	require.NoError(t, <-ended)

	for _, life := range p.engines.Fleet().Lives() {
		require.Positive(t, life.Serves, life.Engine)
		if life.Last.DecodedTokens == 0 {
			continue // a prefill engine
		}
		last := fmt.Sprintf("toInt64(argMax(value, event_time))"+where+"metric = 'inference.tokens.output' AND "+
			"JSONExtractString(tags_json, 'service.instance.id') = '%s'", life.Address)
		assert.Eventually(t, func() bool { return ask(last) == fmt.Sprint(life.Last.DecodedTokens) }, 10*time.Second, 200*time.Millisecond,
			"%s served %d tokens at last", life.Engine, life.Last.DecodedTokens)
	}
}
