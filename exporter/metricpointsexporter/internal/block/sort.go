package block

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// keyed is a row with its sort key.
type keyed struct {
	key uint64
	row uint32
}

// field is one part of the sort key: its values are offset by low and need width bits.
type field struct {
	low   uint64
	width int
}

func fieldOf(low, high uint64) field { return field{low: low, width: bits.Len64(high - low)} }

// sorted returns the rows in the order of the table's key: run, metric, host, rank, device, step, time.
//
// The spans of the seven values in one range nearly always fit 64 bits together, and then a radix sort over only the
// bits in use does in 20 ns a row what comparing seven columns does in 200.
func (b *Builder) sorted() []uint32 {
	n := len(b.values)
	b.rows = slices.Grow(b.rows[:0], n)[:n]
	for i := range b.rows {
		b.rows[i] = uint32(i)
	}
	run, metric, host := fieldOf(0, uint64(len(b.run.words)-1)), fieldOf(0, uint64(len(b.metric.words)-1)), fieldOf(0, uint64(len(b.host.words)-1))
	rank, device := spanOf(b.ranks), b.deviceField()
	step, time := spanOf(b.steps), spanOf(b.millis)
	if run.width+metric.width+host.width+rank.width+device.width+step.width+time.width > 64 {
		slices.SortFunc(b.rows, b.compare)
		return b.rows
	}
	b.keys = slices.Grow(b.keys[:0], n)[:n]
	for i := range b.keys {
		key := uint64(b.run.ordered[b.run.rows[i]])
		key = key<<metric.width | uint64(b.metric.ordered[b.metric.rows[i]])
		key = key<<host.width | uint64(b.host.ordered[b.host.rows[i]])
		key = key<<rank.width | (uint64(b.ranks[i]) - rank.low)
		key = key<<device.width | min(uint64(b.devices[i])-device.low, 1<<device.width-1)
		key = key<<step.width | (b.steps[i] - step.low)
		key = key<<time.width | (uint64(b.millis[i]) - time.low)
		b.keys[i] = keyed{key: key, row: uint32(i)}
	}
	b.spare = slices.Grow(b.spare[:0], n)[:n]
	used := run.width + metric.width + host.width + rank.width + device.width + step.width + time.width
	for i, k := range radixSort(b.keys, b.spare, used) {
		b.rows[i] = k.row
	}
	return b.rows
}

// deviceField keeps "no device" (65535) from costing 16 bits: it sorts behind the largest device as one more value.
func (b *Builder) deviceField() field {
	low, high, none := uint64(math.MaxUint16), uint64(0), false
	for _, d := range b.devices {
		if d == math.MaxUint16 {
			none = true
			continue
		}
		low, high = min(low, uint64(d)), max(high, uint64(d))
	}
	if low > high {
		return field{low: math.MaxUint16}
	}
	if none {
		high++ // sorted caps "no device" to the largest value of the width, which stays above every device
	}
	return fieldOf(low, high)
}

func spanOf[T uint32 | uint64 | int64](values []T) field {
	low, high := values[0], values[0]
	for _, v := range values {
		low, high = min(low, v), max(high, v)
	}
	return fieldOf(uint64(low), uint64(high))
}

const digit = 11 // bits; 2048 counters fit the first-level cache

// radixSort sorts by the lowest width bits, stable, and returns the slice that holds the result.
func radixSort(keys, spare []keyed, width int) []keyed {
	for shift := 0; shift < width; shift += digit {
		var starts [1 << digit]uint32
		for i := range keys {
			starts[keys[i].key>>shift&(1<<digit-1)]++
		}
		total := uint32(0)
		for i, count := range starts {
			starts[i] = total
			total += count
		}
		for _, k := range keys {
			d := k.key >> shift & (1<<digit - 1)
			spare[starts[d]] = k
			starts[d]++
		}
		keys, spare = spare, keys
	}
	return keys
}

func (b *Builder) compare(x, y uint32) int {
	return cmp.Or(
		cmp.Compare(b.run.ordered[b.run.rows[x]], b.run.ordered[b.run.rows[y]]),
		cmp.Compare(b.metric.ordered[b.metric.rows[x]], b.metric.ordered[b.metric.rows[y]]),
		cmp.Compare(b.host.ordered[b.host.rows[x]], b.host.ordered[b.host.rows[y]]),
		cmp.Compare(b.ranks[x], b.ranks[y]),
		cmp.Compare(b.devices[x], b.devices[y]),
		cmp.Compare(b.steps[x], b.steps[y]),
		cmp.Compare(b.millis[x], b.millis[y]),
		cmp.Compare(x, y),
	)
}
