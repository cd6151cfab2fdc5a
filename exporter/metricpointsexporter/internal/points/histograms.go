package points

import (
	"math"
	"strconv"

	"go.opentelemetry.io/collector/pdata/pmetric"
)

// unitCount is the unit of rows that count observations.
const unitCount = "1"

func (e *Encoder) histogram(dp pmetric.HistogramDataPoint, p *point) {
	if dp.HasMin() {
		e.suffixedRow(p, ".min", p.unitName, dp.Min()*p.scale)
	}
	if dp.HasMax() {
		e.suffixedRow(p, ".max", p.unitName, dp.Max()*p.scale)
	}
	if dp.HasSum() {
		e.suffixedRow(p, ".sum", p.unitName, dp.Sum()*p.scale)
	}
	e.suffixedRow(p, ".count", e.symbol(unitCount), float64(dp.Count()))
	bounds, counts := dp.ExplicitBounds(), dp.BucketCounts()
	for i := range counts.Len() {
		upper := math.Inf(1)
		if i < bounds.Len() {
			upper = bounds.At(i)
		}
		e.bucket(p, upper, counts.At(i))
	}
}

func (e *Encoder) exponentialHistogram(dp pmetric.ExponentialHistogramDataPoint, p *point) {
	if dp.HasMin() {
		e.suffixedRow(p, ".min", p.unitName, dp.Min()*p.scale)
	}
	if dp.HasMax() {
		e.suffixedRow(p, ".max", p.unitName, dp.Max()*p.scale)
	}
	if dp.HasSum() {
		e.suffixedRow(p, ".sum", p.unitName, dp.Sum()*p.scale)
	}
	e.suffixedRow(p, ".count", e.symbol(unitCount), float64(dp.Count()))
	negative, positive := dp.Negative(), dp.Positive()
	for i := negative.BucketCounts().Len() - 1; i >= 0; i-- {
		// The bucket holds [-base^(index+1), -base^index): its upper bound is the one nearer to zero.
		e.bucket(p, -exponentialBound(dp.Scale(), int(negative.Offset())+i), negative.BucketCounts().At(i))
	}
	e.bucket(p, dp.ZeroThreshold(), dp.ZeroCount())
	for i := range positive.BucketCounts().Len() {
		e.bucket(p, exponentialBound(dp.Scale(), int(positive.Offset())+i+1), positive.BucketCounts().At(i))
	}
}

// exponentialBound is base^index with base = 2^(2^-scale).
func exponentialBound(scale int32, index int) float64 {
	return math.Exp2(math.Ldexp(float64(index), -int(scale)))
}

func (e *Encoder) summary(dp pmetric.SummaryDataPoint, p *point) {
	e.suffixedRow(p, ".sum", p.unitName, dp.Sum()*p.scale)
	e.suffixedRow(p, ".count", e.symbol(unitCount), float64(dp.Count()))
	for _, q := range dp.QuantileValues().All() {
		tags := e.tags(extraTag{key: "quantile", text: e.bound(q.Quantile())})
		e.row(p, e.suffixed(p.name, ".quantile"), p.unitName, q.Value()*p.scale, tags)
	}
}

func (e *Encoder) suffixedRow(p *point, suffix string, unit *symbol, value float64) {
	e.row(p, e.suffixed(p.name, suffix), unit, value, e.tags(extraTag{}))
}

// bucket makes the row of a bucket that is not empty; it holds the bucket's own count.
func (e *Encoder) bucket(p *point, upper float64, count uint64) {
	if count == 0 {
		return
	}
	tags := e.tags(extraTag{key: "le", text: e.bound(upper * p.scale)})
	e.row(p, e.suffixed(p.name, ".bucket"), e.symbol(unitCount), float64(count), tags)
}

// bound writes a bucket's bound or a quantile as Prometheus does; the text is valid until the next call.
func (e *Encoder) bound(f float64) []byte {
	if math.IsInf(f, 1) {
		return append(e.number[:0], "+Inf"...)
	}
	e.number = strconv.AppendFloat(e.number[:0], f, 'g', -1, 64)
	return e.number
}
