package delta

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

// crashed is the converter of the next process when the last header was that snapshot and these states stood behind it.
func crashed(c *Converter, snapshot []byte, states ...[]byte) *Converter {
	next := New(c.opts)
	next.Restore(snapshot)
	for _, s := range states {
		next.Keep("1.0.0", s)
	}
	return next
}

// A first value that was refused and comes again is the first one still, and is on disk once it is accepted.
func TestConvert_RefusedFirstComesAgain(t *testing.T) {
	for _, start := range []int{0, 900, 1020} { // absent, before us, unknown
		c := New((&clock{}).options())
		header := c.Snapshot()
		refuse(c, request(at{start, 1020, []uint64{90, 0, 0}}))
		again := accept(t, c, request(at{start, 1020, []uint64{90, 0, 0}}))
		assert.Equal(t, 1, again.StartUnknown)
		assert.Zero(t, again.Repeated)
		assert.Equal(t, 1, accept(t, c, request(at{start, 1020, []uint64{90, 0, 0}})).Repeated)

		c = crashed(c, header, again.States)
		next := request(at{start, 1030, []uint64{91, 0, 0}})
		accept(t, c, next)
		requireBuckets(t, [][]uint64{{1, 0, 0}}, histograms(next))
	}
}

// What a refused first value held is in no row, and that must show once a later one is accepted.
func TestConvert_RefusedFirstIsCounted(t *testing.T) {
	c := New((&clock{}).options())
	refuse(c, request(at{900, 1020, []uint64{90, 0, 0}}))
	refuse(c, request(at{900, 1030, []uint64{91, 0, 0}}))
	next := request(at{900, 1040, []uint64{92, 0, 0}})
	assert.Equal(t, 1, accept(t, c, next).StartUnknown)
	requireBuckets(t, [][]uint64{{2, 0, 0}}, histograms(next))
	assert.Zero(t, accept(t, c, request(at{900, 1050, []uint64{93, 0, 0}})).StartUnknown)
}

// Of a refused request nothing is taken that stands behind growth: that would be lost.
func TestConvert_RefusedWithGrowthBeforeTheUnknown(t *testing.T) {
	c := New((&clock{}).options())
	accept(t, c, request(at{1001, 1010, []uint64{1, 0, 0}}))
	both := func() pmetric.Metrics {
		metrics := request(at{1001, 1020, []uint64{5, 0, 0}}, at{1001, 1030, []uint64{6, 0, 0}})
		histograms(metrics).At(1).ExplicitBounds().FromRaw([]float64{1, 3})
		return metrics
	}
	refuse(c, both())
	again := both()
	assert.Equal(t, 1, accept(t, c, again).StartUnknown)
	requireBuckets(t, [][]uint64{{4, 0, 0}}, histograms(again))
}

// The counts of one life only grow, so they tell what is newer when the producer's clock was set back.
func TestConvert_ClockSetBack(t *testing.T) {
	f := func(what string, want [][]uint64, repeated int, points ...at) {
		t.Helper()
		metrics := request(points...)
		conversion := accept(t, New((&clock{}).options()), metrics)
		requireBuckets(t, want, histograms(metrics))
		assert.Equal(t, repeated, conversion.Repeated, what)
		assert.Zero(t, conversion.StartUnknown, what)
	}
	first := at{1001, 1100, []uint64{3, 0, 0}}
	f("it goes on", [][]uint64{{3, 0, 0}, {1, 0, 0}, {1, 1, 0}}, 0,
		first, at{1001, 1040, []uint64{4, 0, 0}}, at{1001, 1050, []uint64{5, 1, 0}})
	f("to before its own start", [][]uint64{{3, 0, 0}, {1, 0, 0}}, 0, first, at{1001, 900, []uint64{4, 0, 0}})
	f("an older point comes late", [][]uint64{{3, 0, 0}, {1, 0, 0}}, 2,
		first, at{1001, 1040, []uint64{4, 0, 0}}, at{1001, 1090, []uint64{2, 0, 0}}, first)
	f("it goes on and catches up", [][]uint64{{3, 0, 0}, {1, 0, 0}, {2, 0, 0}}, 0,
		first, at{1001, 1040, []uint64{4, 0, 0}}, at{1001, 1110, []uint64{6, 0, 0}})
	f("nothing new", [][]uint64{{3, 0, 0}}, 1, first, at{1001, 1040, []uint64{3, 0, 0}})
}

// Without a time of its own a value that comes late looks new, but its counts went down.
func TestConvert_NoTime(t *testing.T) {
	watch := &clock{}
	c := New(watch.options())
	send := func(want [][]uint64, repeated int, n uint64) {
		t.Helper()
		watch.elapsed += time.Second
		metrics := request(at{0, 0, []uint64{n, 0, 0}})
		assert.Equal(t, repeated, accept(t, c, metrics).Repeated)
		requireBuckets(t, want, histograms(metrics))
	}
	send(nil, 0, 5)
	send([][]uint64{{3, 0, 0}}, 0, 8)
	send(nil, 1, 5)
	send([][]uint64{{1, 0, 0}}, 0, 9)
}

// A start behind the point's own time, as a clock that was set back gives, says nothing.
func TestConvert_StartBehindItsTime(t *testing.T) {
	c := New((&clock{}).options())
	metrics := request(at{5000, 1010, []uint64{7, 0, 0}}, at{5000, 1020, []uint64{9, 0, 0}})
	assert.Equal(t, 1, accept(t, c, metrics).StartUnknown)
	requireBuckets(t, [][]uint64{{2, 0, 0}}, histograms(metrics))
}

// Whatever is forgotten and how: it is not counted whole again, by any clock.
func TestKept_ForgottenIsNotCountedAgain(t *testing.T) {
	f := func(what string, forget func(*clock, *Converter)) {
		t.Run(what, func(t *testing.T) {
			watch := &clock{}
			c := New(watch.options())
			ahead := request(at{1200, 1300, []uint64{7, 0, 0}}) // its clock is five minutes ahead
			accept(t, c, ahead)
			requireBuckets(t, [][]uint64{{7, 0, 0}}, histograms(ahead))
			watch.elapsed += time.Second
			forget(watch, c)
			require.Empty(t, c.series)
			for _, c := range []*Converter{c, restarted(c)} {
				next := request(at{1200, 1310, []uint64{9, 0, 0}})
				assert.Equal(t, 1, accept(t, c, next).StartUnknown)
				requireBuckets(t, nil, histograms(next))
			}
		})
	}
	f("damage", func(_ *clock, c *Converter) { c.Forget() })
	f("staleness", func(w *clock, c *Converter) { w.elapsed += 2 * time.Hour; c.Snapshot() })
	f("want of room", func(_ *clock, c *Converter) { c.opts.MaxBytes = 1; c.mu.Lock(); c.evict(); c.mu.Unlock() })
	f("damage after the clock was set back", func(_ *clock, c *Converter) {
		c.opts.Now = func() time.Time { return time.Unix(began-500, 0) }
		c.Forget()
	})
}

// One absurd clock does not take the beginnings of all others.
func TestKept_AbsurdClock(t *testing.T) {
	for _, far := range []pcommon.Timestamp{math.MaxUint64, math.MaxUint64 - 1, second(1_000_000)} {
		watch := &clock{}
		c := New(watch.options())
		absurd := request(at{1001, 1010, []uint64{1, 0, 0}})
		histograms(absurd).At(0).SetTimestamp(far)
		histograms(absurd).At(0).SetStartTimestamp(far - 1)
		assert.Equal(t, 1, accept(t, c, absurd).StartUnknown, "a time far ahead is no proof of a beginning")
		c.Forget()
		watch.elapsed = 3 * time.Hour
		later := began + 2*3600
		good := numbered(1, later+10, 5, 0, 0)
		histograms(good).At(0).SetStartTimestamp(second(later))
		accept(t, c, good)
		requireBuckets(t, [][]uint64{{5, 0, 0}}, histograms(good))
	}
}

// One series of a size that nobody needs takes no room from the others.
func TestKept_HugeSeries(t *testing.T) {
	c := New((&clock{}).options())
	for n := range 100 {
		accept(t, c, numbered(n, 1010, 1, 0, 0))
	}
	huge := slices.Repeat([]uint64{math.MaxUint64 / 200_000}, 100_000)
	for n := range 3 {
		assert.Equal(t, 1, accept(t, c, numbered(1000, 1010+n, huge...)).StartUnknown)
	}
	assert.Len(t, c.series, 100)
	next := numbered(50, 1020, 3, 0, 0)
	accept(t, c, next)
	requireBuckets(t, [][]uint64{{2, 0, 0}}, histograms(next))
}

// An update to another schema forgets what series were called, not when: what a sender kept back meanwhile is lost up to
// its first value only, and what begins meanwhile is new.
func TestKept_SchemaUpdateKeepsTime(t *testing.T) {
	watch := &clock{}
	c := New(watch.options())
	accept(t, c, numbered(1, 1010, 1, 0, 0))
	header := c.Snapshot()
	behind := accept(t, c, numbered(1, 1020, 2, 0, 0)).States
	watch.elapsed = 10 * time.Minute
	options := watch.options()
	options.Schema = "1.1.0"
	next := New(options)
	next.Restore(header)
	next.Keep("1.0.0", behind)
	var got [][]uint64
	unknown := 0
	for n, at := range []int{1015, 1020, 1030, 1040, 1050} {
		metrics := numbered(1, at, uint64(n+1), 0, 0)
		conversion := next.Convert(metrics)
		next.Keep("1.1.0", conversion.States)
		conversion.Release()
		unknown += conversion.StartUnknown
		for _, dp := range histograms(metrics).All() {
			got = append(got, dp.BucketCounts().AsRaw())
		}
	}
	assert.Equal(t, [][]uint64{{1, 0, 0}, {1, 0, 0}}, got)
	assert.Equal(t, 3, unknown, "the two that were counted, and the first one after them")
	meanwhile := request(at{1100, 1110, []uint64{5, 0, 0}})
	next.Convert(meanwhile).Release()
	requireBuckets(t, [][]uint64{{5, 0, 0}}, histograms(meanwhile))
}

// Two producers that share what identifies them look like one that restarts with every value: nothing of it is counted,
// rather than too much.
func TestConvert_TwoProducersOfOneIdentity(t *testing.T) {
	c := New((&clock{}).options())
	counted, unknown := uint64(0), 0
	one, other := uint64(100), uint64(50)
	for n := range 10 {
		one++
		other++
		metrics := request(at{1001, 1010 + 10*n, []uint64{one, 0, 0}}, at{1005, 1015 + 10*n, []uint64{other, 0, 0}})
		unknown += accept(t, c, metrics).StartUnknown
		for _, dp := range histograms(metrics).All() {
			counted += dp.Count()
		}
	}
	assert.EqualValues(t, 101, counted, "the very first")
	assert.Equal(t, 19, unknown)
}

// As a launcher starts them, within a second: the one that is ahead is counted.
func TestConvert_TwoProducersStartedAtOnce(t *testing.T) {
	c := New((&clock{}).options())
	counted, unknown := uint64(0), 0
	for n := range uint64(10) {
		metrics := request(at{1001, 1010 + 10*int(n), []uint64{100 + n, 0, 0}}, at{1002, 1015 + 10*int(n), []uint64{50 + n, 0, 0}})
		unknown += accept(t, c, metrics).StartUnknown
		for _, dp := range histograms(metrics).All() {
			counted += dp.Count()
		}
	}
	assert.EqualValues(t, 109, counted)
	assert.Equal(t, 10, unknown)
}

// A process's start as some compute it, from the time since boot, wavers by a second.
func TestConvert_StartWavers(t *testing.T) {
	metrics := request(at{1002, 1010, []uint64{1, 0, 0}}, at{1001, 1020, []uint64{2, 0, 0}}, at{1002, 1030, []uint64{4, 0, 0}})
	assert.Zero(t, accept(t, New((&clock{}).options()), metrics).StartUnknown)
	requireBuckets(t, [][]uint64{{1, 0, 0}, {1, 0, 0}, {2, 0, 0}}, histograms(metrics))
}
