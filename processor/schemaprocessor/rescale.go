package schemaprocessor

import (
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pitwall-otel/pitwall/schema"
)

// rescaleNumber keeps an integer an integer where the scale is one and nothing overflows: a counter of bytes must not lose
// its last digits.
func rescaleNumber(p pmetric.NumberDataPoint, scale float64) {
	rescaleExemplars(p.Exemplars(), scale)
	switch p.ValueType() {
	case pmetric.NumberDataPointValueTypeInt:
		if product, ok := whole(p.IntValue(), scale); ok {
			p.SetIntValue(product)
		} else {
			p.SetDoubleValue(schema.Rescale(float64(p.IntValue()), scale))
		}
	case pmetric.NumberDataPointValueTypeDouble:
		p.SetDoubleValue(schema.Rescale(p.DoubleValue(), scale))
	default:
	}
}

// rescaleHistogram moves the bounds and leaves the counts: each value is in the bucket it was in.
func rescaleHistogram(p pmetric.HistogramDataPoint, scale float64) {
	rescaleExemplars(p.Exemplars(), scale)
	bounds := p.ExplicitBounds()
	for i := range bounds.Len() {
		bounds.SetAt(i, schema.Rescale(bounds.At(i), scale))
	}
	if p.HasSum() {
		p.SetSum(schema.Rescale(p.Sum(), scale))
	}
	if p.HasMin() {
		p.SetMin(schema.Rescale(p.Min(), scale))
	}
	if p.HasMax() {
		p.SetMax(schema.Rescale(p.Max(), scale))
	}
}

func rescaleSummary(p pmetric.SummaryDataPoint, scale float64) {
	p.SetSum(schema.Rescale(p.Sum(), scale))
	for i := range p.QuantileValues().Len() {
		q := p.QuantileValues().At(i)
		q.SetValue(schema.Rescale(q.Value(), scale))
	}
}

func rescaleExemplars(all pmetric.ExemplarSlice, scale float64) {
	for i := range all.Len() {
		switch e := all.At(i); e.ValueType() {
		case pmetric.ExemplarValueTypeInt:
			e.SetDoubleValue(schema.Rescale(float64(e.IntValue()), scale))
		case pmetric.ExemplarValueTypeDouble:
			e.SetDoubleValue(schema.Rescale(e.DoubleValue(), scale))
		default:
		}
	}
}
