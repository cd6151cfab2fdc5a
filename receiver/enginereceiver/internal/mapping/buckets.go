package mapping

import (
	"cmp"
	"math"
	"slices"

	"github.com/pitwall-otel/pitwall/schema"
)

// buckets collects a histogram's lines, or a summary's, in any order.
type buckets struct {
	// slots are bounds in the order in which they were first seen, sorted their indexes by bound.
	slots  []slot
	sorted []int32
	// present is the number of slots that this scrape has.
	present          int
	sum, count       float64
	hasSum, hasCount bool

	// What close made of the lines. shrunk says that there is less than in the close before, changed that bounds differ.
	bounds          []float64
	counts          []uint64
	total           uint64
	shrunk, changed bool

	oldBounds []float64
	oldCounts []uint64
}

// slot is a bucket, or a quantile.
type slot struct {
	// bound is le or quantile as it stands there, scaled in our unit.
	bound, scaled float64
	present       bool
	value         float64
}

// maxCount is the largest count that a float64 holds exactly.
const maxCount = 1 << 53

// maxSlots bounds one histogram's buckets; engines have up to 40.
const maxSlots = 1024

// slot returns the index of a bound, adding it. It reports false when there are too many.
func (b *buckets) slot(bound, scale float64) (int32, bool) {
	at, found := slices.BinarySearchFunc(b.sorted, bound, func(i int32, bound float64) int {
		return cmp.Compare(b.slots[i].bound, bound)
	})
	if found {
		return b.sorted[at], true
	}
	if len(b.slots) == maxSlots {
		return 0, false
	}
	i := int32(len(b.slots))
	b.slots = append(b.slots, slot{bound: bound, scaled: schema.Rescale(bound, scale)})
	b.sorted = slices.Insert(b.sorted, at, i)
	return i, true
}

// littered says that most bounds are of pages long ago.
func (b *buckets) littered() bool { return len(b.slots) > 2*b.present+maxSlots/16 }

func (b *buckets) clear() {
	if b.present > 0 {
		for i := range b.slots {
			b.slots[i].present = false
		}
	}
	b.present, b.hasSum, b.hasCount = 0, false, false
}

func (b *buckets) set(i int32, v float64) {
	s := &b.slots[i]
	if !s.present {
		s.present = true
		b.present++
	}
	s.value = v
}

// close makes bucket counts of the lines. It reports false for a histogram without its end, which was cut off, and for one
// whose buckets shrink; then nothing is changed. Where count and the last bucket disagree the bucket is believed.
func (b *buckets) close() bool {
	bounds, counts := b.oldBounds[:0], b.oldCounts[:0]
	below, infinite := 0.0, false
	for _, i := range b.sorted {
		s := &b.slots[i]
		if !s.present {
			continue
		}
		if s.value < below || s.value > maxCount {
			return false
		}
		counts = append(counts, uint64(s.value-below+0.5))
		below = s.value
		if math.IsInf(s.bound, 1) {
			infinite = true
			break
		}
		bounds = append(bounds, s.scaled)
	}
	if !infinite {
		if !b.hasCount || b.count < below || b.count > maxCount {
			return false
		}
		counts = append(counts, uint64(b.count-below+0.5))
	}
	b.oldBounds, b.oldCounts = b.bounds, b.counts
	b.bounds, b.counts = bounds, counts
	b.shrunk, b.changed = false, len(b.counts) != len(b.oldCounts) || !slices.Equal(b.bounds, b.oldBounds)
	before := b.total
	b.total = 0
	for i, in := range counts {
		b.total += in
		b.shrunk = b.shrunk || !b.changed && in < b.oldCounts[i]
	}
	b.shrunk = b.shrunk || b.total < before
	return true
}
