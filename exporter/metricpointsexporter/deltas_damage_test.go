package metricpointsexporter

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pitwall-otel/pitwall/internal/enginetest"
)

// Wherever the log is damaged: no observation is counted twice, and if some are missing, a drop counter says so.
func TestCumulativeHistograms_Damage(t *testing.T) {
	engine := enginetest.Start(t)
	for round := range 30 {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(round), 3))
			c := config(t, "http://127.0.0.1:1", func(c *Config) { c.Log.MaxSizeMiB = 16 })
			run := fmt.Sprintf("damaged %d", round)
			var began time.Time
			total := uint64(0)
			send := func(e *running) {
				total += 1 + r.Uint64N(5)
				require.NoError(t, e.exporter.ConsumeMetrics(context.Background(), waits(run, began, time.Now(), total, 0)))
			}
			for range 1 + r.IntN(3) {
				e := start(t, c)
				if began.IsZero() {
					began = time.Now()
				}
				for range 4 {
					send(e)
				}
				e.stop(t)
			}
			// Rows that are in no range yet cannot be counted when their header is lost: see docs/operations.md.
			counted := round%2 == 0
			if counted {
				start(t, c).stop(t)
			}

			segments, err := filepath.Glob(filepath.Join(c.Log.Directory, "*.seg"))
			require.NoError(t, err)
			path := segments[r.IntN(len(segments))]
			content, err := os.ReadFile(path)
			require.NoError(t, err)
			first := r.IntN(len(content))
			for n := range min(1<<r.IntN(10), len(content)-first) {
				content[first+n] ^= byte(1 + n%255)
			}
			require.NoError(t, os.WriteFile(path, content, 0o600))

			c.ClientConfig.Endpoint = engine.Endpoint()
			e := start(t, c)
			for range 3 {
				send(e)
			}
			eventuallyQueued(t, e, 0)
			var stored uint64
			answer, err := engine.Exec(fmt.Sprintf(`SELECT toUInt64(sum(value)) FROM training_observability.metric_points
				WHERE run_id = '%s' AND metric = 'waits.count' FORMAT TSV`, run))
			require.NoError(t, err)
			_, err = fmt.Sscan(answer, &stored)
			require.NoError(t, err)
			assert.LessOrEqual(t, stored, total, "counted twice")
			if counted && stored < total {
				assert.Positive(t, droppedFor(e, "start_unknown")+droppedFor(e, "log_damaged"), "%d of %d missing", total-stored, total)
			}
			t.Logf("%d of %d, start_unknown %v, log_damaged %v", stored, total, droppedFor(e, "start_unknown"), droppedFor(e, "log_damaged"))
		})
	}
}
