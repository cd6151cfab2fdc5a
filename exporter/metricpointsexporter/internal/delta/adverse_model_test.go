package delta

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

// skewed is a producer whose clock is wrong, and is set back now and then.
type skewed struct {
	producer
	ahead, last  int       // seconds
	ended        [3]uint64 // observed in former lives, as far as it was acknowledged
	acknowledged [3]uint64
	late         []telling // accepted, and on its way once more
	stored       [3]uint64 // by the rows
	counted      [3]uint64 // what had been observed when the latest row was made: none may count from before
	missing      [3]uint64 // acknowledged and not in a row
}

// telling is a request and what its producer has observed in all lives.
type telling struct {
	metrics pmetric.Metrics
	total   [3]uint64
}

func (p telling) copy() telling {
	again := telling{pmetric.NewMetrics(), p.total}
	p.metrics.CopyTo(again.metrics)
	return again
}

func (p *skewed) total() (sum [3]uint64) {
	for b := range sum {
		sum[b] = p.ended[b] + p.current[b]
	}
	return sum
}

// Whatever is forgotten (for want of room, by staleness, damage or another schema), however wrong clocks are and however late
// requests come: nothing is counted twice, and what is not counted at all was dropped as start_unknown.
func TestModel_NeverTwiceAndNothingMissesUncounted(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 2))
		watch := &clock{}
		options := watch.options()
		options.MaxBytes = 700 // four or five series
		options.MaxStaleness = 100 * time.Second
		c, kept := New(options), log{}
		kept.snapshot = c.Snapshot()
		producers := make([]skewed, 8)
		for i := range producers {
			if seed%2 == 0 {
				producers[i].ahead = r.IntN(600) - 300
			}
			producers[i].producer = producer{number: i, start: began + producers[i].ahead}
		}
		for step := range 400 {
			watch.elapsed += time.Second
			actual := began + 1 + step
			i := r.IntN(len(producers))
			p := &producers[i]
			now := actual + p.ahead
			p.observe(r)
			switch r.IntN(20) {
			case 0: // crash
				c = New(options)
				c.Restore(kept.snapshot)
				for _, states := range kept.states {
					c.Keep(options.Schema, states)
				}
			case 1:
				kept = log{snapshot: c.Snapshot()}
			case 2:
				if now <= p.last+1 {
					continue
				}
				p.ended = p.acknowledged // what it had not sent is lost with it
				p.start, p.current, p.late = now, [3]uint64{}, nil
			case 3, 4:
				c.Convert(p.request(now)).Release()
			case 5: // damage, found at a start
				if seed%2 == 1 { // right clocks: it need not be known what was forgotten
					c = New(options)
					c.Restore(kept.snapshot)
				}
				c.Forget()
				kept = log{snapshot: c.Snapshot()}
			case 6: // an update to another schema
				written := options.Schema
				options.Schema += "+"
				c = New(options)
				c.Restore(kept.snapshot)
				for _, states := range kept.states {
					c.Keep(written, states)
				}
				require.Empty(t, c.series)
				kept = log{snapshot: c.Snapshot()}
			case 7:
				if p.last > p.start { // of a new life it would be compared with the old one, until it catches up
					p.ahead -= r.IntN(30)
				}
			default:
				told, late := telling{p.request(now), p.total()}, false
				if len(p.late) > 0 && r.IntN(3) == 0 {
					n := r.IntN(len(p.late))
					told, late = p.late[n], true
					p.late = slices.Delete(p.late, n, n+1)
				} else {
					p.late = append(p.late, told.copy())
					p.last = max(p.last, now)
					p.acknowledged = told.total
				}
				conversion := c.Convert(told.metrics)
				c.Keep(options.Schema, conversion.States)
				kept.states = append(kept.states, conversion.States)
				conversion.Release()
				for _, dp := range histograms(told.metrics).All() {
					for b, n := range dp.BucketCounts().All() {
						require.LessOrEqual(t, n+p.counted[b], told.total[b], "twice: seed %d, step %d", seed, step)
						p.counted[b] = told.total[b]
						p.stored[b] += n
					}
				}
				for b := range p.missing {
					missing := p.acknowledged[b] - p.stored[b]
					if conversion.StartUnknown == 0 {
						require.LessOrEqual(t, missing, p.missing[b], "late %v, seed %d, step %d", late, seed, step)
					}
					p.missing[b] = missing
				}
				require.LessOrEqual(t, c.bytes, options.MaxBytes)
			}
		}
	}
}
