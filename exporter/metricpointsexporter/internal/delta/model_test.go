package delta

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

// producer counts what it observed since its start.
type producer struct {
	number, start int
	current       [3]uint64
}

func (p *producer) observe(r *rand.Rand) {
	for range r.IntN(5) {
		p.current[r.IntN(3)]++
	}
}

func (p *producer) request(now int) pmetric.Metrics {
	metrics := request(at{p.start, now, slices.Clone(p.current[:])})
	metrics.ResourceMetrics().At(0).Resource().Attributes().PutInt("n", int64(p.number))
	return metrics
}

// log is what survives a crash: the snapshot of the newest segment and the states behind it.
type log struct {
	snapshot []byte
	states   [][]byte
}

// Producers observe, export, restart; requests are accepted, refused, or accepted with an answer that gets lost, and then
// come again; segments begin, the collector crashes. Every observation that was in an accepted request is counted once.
func TestModel_EveryObservationOnce(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		watch := &clock{}
		c, kept := New(watch.options()), log{}
		kept.snapshot = c.Snapshot()
		producers := make([]producer, 5)
		stored := make([][3]uint64, len(producers)) // by the rows
		acknowledged := make([][3]uint64, len(producers))
		ended := make([][3]uint64, len(producers)) // accepted in former lives
		for i := range producers {
			producers[i] = producer{number: i, start: began + 1}
		}
		for step := range 300 {
			now := began + 10 + step
			i := r.IntN(len(producers))
			p := &producers[i]
			p.observe(r)
			switch r.IntN(12) {
			case 0: // crash of the collector
				c = New(watch.options())
				c.Restore(kept.snapshot)
				for _, states := range kept.states {
					c.Keep("1.0.0", states)
				}
			case 1: // a segment begins
				kept = log{snapshot: c.Snapshot()}
			case 2: // the producer restarts: what it had not sent is lost with it
				ended[i] = acknowledged[i]
				p.start, p.current = now, [3]uint64{}
			case 3: // refused
				c.Convert(p.request(now)).Release()
			default:
				repetitions := 1 + r.IntN(2)
				for range repetitions {
					metrics := p.request(now)
					conversion := c.Convert(metrics)
					for _, dp := range histograms(metrics).All() {
						for b, n := range dp.BucketCounts().All() {
							stored[i][b] += n
						}
					}
					c.Keep("1.0.0", conversion.States)
					kept.states = append(kept.states, conversion.States)
					conversion.Release()
					require.Zero(t, conversion.StartUnknown)
				}
				for b := range p.current {
					acknowledged[i][b] = ended[i][b] + p.current[b]
				}
			}
			require.Equal(t, acknowledged, stored, "seed %d, step %d", seed, step)
		}
	}
}
