package schemaprocessor

import (
	"math"

	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pitwall-otel/pitwall/schema"
)

// rescaleExponential scales all points of a metric. Where the scale is a power of every point's base, the buckets are shifted;
// where it is not, no exponential buckets say the same, so the points get explicit ones.
func rescaleExponential(m pmetric.Metric, scale float64) {
	all := exponentialPoints(m)
	for i := range all.Len() {
		if _, ok := shift(all.At(i), scale); !ok {
			toExplicit(m)
			explicit := histogramPoints(m)
			for j := range explicit.Len() {
				rescaleHistogram(explicit.At(j), scale)
			}
			return
		}
	}
	for i := range all.Len() {
		p := all.At(i)
		by, _ := shift(p, scale)
		p.Positive().SetOffset(p.Positive().Offset() + by)
		p.Negative().SetOffset(p.Negative().Offset() + by)
		p.SetZeroThreshold(schema.Rescale(p.ZeroThreshold(), scale))
		if p.HasSum() {
			p.SetSum(schema.Rescale(p.Sum(), scale))
		}
		if p.HasMin() {
			p.SetMin(schema.Rescale(p.Min(), scale))
		}
		if p.HasMax() {
			p.SetMax(schema.Rescale(p.Max(), scale))
		}
		rescaleExemplars(p.Exemplars(), scale)
	}
}

// shift is by how many buckets a scale moves a point: the base to that power is the scale, exactly.
func shift(p pmetric.ExponentialHistogramDataPoint, scale float64) (int32, bool) {
	fraction, exponent := math.Frexp(scale)
	if fraction != 0.5 || p.Scale() > 20 || p.Scale() < -10 {
		return 0, false
	}
	// scale is 2 to the power of this, and the base is 2 to the power of 2^-Scale.
	power := math.Ldexp(float64(exponent-1), int(p.Scale()))
	if power != math.Trunc(power) {
		return 0, false
	}
	for _, b := range [...]pmetric.ExponentialHistogramDataPointBuckets{p.Positive(), p.Negative()} {
		if end := float64(b.Offset()) + power; math.Abs(end)+float64(b.BucketCounts().Len()) > math.MaxInt32 {
			return 0, false
		}
	}
	return int32(power), true
}

// toExplicit makes an exponential histogram one with explicit bounds: those of its buckets.
func toExplicit(m pmetric.Metric) {
	from := pmetric.NewExponentialHistogramDataPointSlice()
	exponentialPoints(m).MoveAndAppendTo(from)
	temporality := m.ExponentialHistogram().AggregationTemporality()
	to := m.SetEmptyHistogram()
	to.SetAggregationTemporality(temporality)
	to.DataPoints().EnsureCapacity(from.Len())
	for i := range from.Len() {
		explicit(from.At(i), to.DataPoints().AppendEmpty())
	}
}

func explicit(from pmetric.ExponentialHistogramDataPoint, to pmetric.HistogramDataPoint) {
	from.Attributes().MoveTo(to.Attributes())
	from.Exemplars().MoveAndAppendTo(to.Exemplars())
	to.SetStartTimestamp(from.StartTimestamp())
	to.SetTimestamp(from.Timestamp())
	to.SetFlags(from.Flags())
	to.SetCount(from.Count())
	if from.HasSum() {
		to.SetSum(from.Sum())
	}
	if from.HasMin() {
		to.SetMin(from.Min())
	}
	if from.HasMax() {
		to.SetMax(from.Max())
	}
	var b bucketing
	negative := from.Negative().BucketCounts()
	for i := negative.Len() - 1; i >= 0; i-- {
		b.until(-lowerBound(from.Scale(), from.Negative().Offset(), i), negative.At(i), -lowerBound(from.Scale(), from.Negative().Offset(), i+1))
	}
	// 0 minus a threshold of 0 is 0, while its negative would be -0.
	b.until(from.ZeroThreshold(), from.ZeroCount(), 0-from.ZeroThreshold())
	positive := from.Positive().BucketCounts()
	for i := range positive.Len() {
		b.until(lowerBound(from.Scale(), from.Positive().Offset(), i+1), positive.At(i), lowerBound(from.Scale(), from.Positive().Offset(), i))
	}
	b.counts = append(b.counts, b.open)
	to.ExplicitBounds().FromRaw(b.bounds)
	to.BucketCounts().FromRaw(b.counts)
}

// lowerBound is the lower bound of the i-th bucket behind an offset: base^(offset+i). It is 0 or infinite where a float64
// cannot hold it.
func lowerBound(scale, offset int32, i int) float64 {
	return math.Exp2(math.Ldexp(float64(offset)+float64(i), -int(scale)))
}

// bucketing collects adjoining buckets. A bound that does not rise, or is infinite, is no bound: its bucket is part of the next.
type bucketing struct {
	bounds []float64
	counts []uint64
	open   uint64
}

// until adds a bucket from low to high. What lies between it and the last one is empty.
func (b *bucketing) until(high float64, count uint64, low float64) {
	if count == 0 {
		return
	}
	if low < high && b.rises(low) {
		b.bounds = append(b.bounds, low)
		b.counts = append(b.counts, b.open)
		b.open = 0
	}
	b.open += count
	if b.rises(high) {
		b.bounds = append(b.bounds, high)
		b.counts = append(b.counts, b.open)
		b.open = 0
	}
}

func (b *bucketing) rises(bound float64) bool {
	if math.IsInf(bound, 0) || math.IsNaN(bound) {
		return false
	}
	return len(b.bounds) == 0 || bound > b.bounds[len(b.bounds)-1]
}
