package delta

import (
	"encoding/binary"
	"hash/fnv"
	"math"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

func ofExplicit(dp pmetric.HistogramDataPoint) value {
	hash := fnv.New64a()
	var bits [8]byte
	for _, bound := range dp.ExplicitBounds().All() {
		binary.LittleEndian.PutUint64(bits[:], math.Float64bits(bound))
		_, _ = hash.Write(bits[:]) // never fails
	}
	return value{
		start: uint64(dp.StartTimestamp()), at: uint64(dp.Timestamp()),
		count: dp.Count(), sum: dp.Sum(), hasSum: dp.HasSum(),
		layout:   hash.Sum64(),
		positive: buckets{counts: dp.BucketCounts().AsRaw()},
	}
}

func (v *value) toExplicit(dp pmetric.HistogramDataPoint) {
	dp.SetStartTimestamp(pcommon.Timestamp(v.start))
	dp.SetCount(v.count)
	if v.hasSum {
		dp.SetSum(v.sum)
	} else {
		dp.RemoveSum()
	}
	// Of all time since the start, not of this interval.
	dp.RemoveMin()
	dp.RemoveMax()
	dp.BucketCounts().FromRaw(v.positive.counts)
}

func ofExponential(dp pmetric.ExponentialHistogramDataPoint) value {
	return value{
		start: uint64(dp.StartTimestamp()), at: uint64(dp.Timestamp()),
		count: dp.Count(), sum: dp.Sum(), hasSum: dp.HasSum(),
		layout:   math.Float64bits(dp.ZeroThreshold()),
		scale:    dp.Scale(),
		zero:     dp.ZeroCount(),
		positive: buckets{offset: int64(dp.Positive().Offset()), counts: dp.Positive().BucketCounts().AsRaw()},
		negative: buckets{offset: int64(dp.Negative().Offset()), counts: dp.Negative().BucketCounts().AsRaw()},
	}
}

func (v *value) toExponential(dp pmetric.ExponentialHistogramDataPoint) {
	dp.SetStartTimestamp(pcommon.Timestamp(v.start))
	dp.SetCount(v.count)
	if v.hasSum {
		dp.SetSum(v.sum)
	} else {
		dp.RemoveSum()
	}
	dp.RemoveMin()
	dp.RemoveMax()
	dp.SetZeroCount(v.zero)
	dp.Positive().BucketCounts().FromRaw(v.positive.counts)
	dp.Negative().BucketCounts().FromRaw(v.negative.counts)
}
