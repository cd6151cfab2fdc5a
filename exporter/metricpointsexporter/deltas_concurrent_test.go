package metricpointsexporter

import (
	"context"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pitwall-otel/pitwall/internal/enginetest"
)

// program is a producer that exports without waiting for the answers to what it exported before.
type program struct {
	mu         sync.Mutex
	run        string
	began      time.Time
	exports    int
	fast, slow uint64
}

// export is a request with a histogram and a gauge, and the request's id.
func (p *program) export() (pmetric.Metrics, string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.exports++
	p.fast += rand.N(uint64(5))
	p.slow += rand.N(uint64(3))
	metrics := waits(p.run, p.began, p.began.Add(time.Duration(p.exports)*time.Millisecond), p.fast, p.slow)
	requestOf(p.run, 1).ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).
		MoveTo(metrics.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().AppendEmpty())
	return metrics, p.run + "-" + strconv.Itoa(p.exports)
}

// Programs send several requests at once, some twice at the same time under one id, and some clients hang up; in whatever
// order they come to the log, every observation is in the table once, and none waits for another for ever.
func TestCumulativeHistograms_Concurrent(t *testing.T) {
	engine := enginetest.Start(t)
	r := start(t, config(t, engine.Endpoint()))
	programs := make([]program, 6)
	var senders sync.WaitGroup
	for i := range programs {
		p := &programs[i]
		p.run, p.began = strconv.Itoa(i), time.Now()
		for range 5 {
			senders.Go(func() {
				for range 40 {
					metrics, id := p.export()
					ctx, cancel := context.WithCancel(identified(id))
					var twins sync.WaitGroup
					for range 1 + rand.N(2) {
						mine := pmetric.NewMetrics()
						metrics.CopyTo(mine)
						twins.Go(func() {
							if err := r.exporter.ConsumeMetrics(ctx, mine); err != nil {
								assert.ErrorIs(t, err, context.Canceled)
							}
						})
					}
					if rand.N(10) == 0 {
						cancel()
					}
					twins.Wait()
					cancel()
					assert.NoError(t, r.exporter.ConsumeMetrics(identified(id), metrics)) // the client did not hear
				}
			})
		}
	}
	senders.Wait()
	var want [][]string
	for i := range programs {
		p := &programs[i]
		metrics, id := p.export()
		require.NoError(t, r.exporter.ConsumeMetrics(identified(id), metrics))
		fast, slow := strconv.FormatUint(p.fast, 10), strconv.FormatUint(p.slow, 10)
		want = append(want, []string{p.run, fast, slow, strconv.FormatUint(p.fast+p.slow, 10), strconv.Itoa(p.exports)})
	}
	eventuallyQueued(t, r, 0)
	eventuallyRows(t, engine, `SELECT run_id, toString(sumIf(value, JSONExtractString(tags_json, 'le') = '5')),
		toString(sumIf(value, JSONExtractString(tags_json, 'le') = '+Inf')), toString(sumIf(value, metric = 'waits.count')),
		toString(countIf(metric = 'loss')) FROM training_observability.metric_points WHERE run_id != '' GROUP BY run_id ORDER BY run_id`, want)
}
