package schemaprocessor

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pitwall-otel/pitwall/schema"
)

// point and pointSlice are what the five kinds of points have in common.
type point[P any] interface {
	Attributes() pcommon.Map
	MoveTo(P)
}

type pointSlice[P any] interface {
	Len() int
	At(int) P
	AppendEmpty() P
	RemoveIf(func(P) bool)
}

func gaugePoints(m pmetric.Metric) pmetric.NumberDataPointSlice { return m.Gauge().DataPoints() }

func sumPoints(m pmetric.Metric) pmetric.NumberDataPointSlice { return m.Sum().DataPoints() }

func histogramPoints(m pmetric.Metric) pmetric.HistogramDataPointSlice {
	return m.Histogram().DataPoints()
}

func exponentialPoints(m pmetric.Metric) pmetric.ExponentialHistogramDataPointSlice {
	return m.ExponentialHistogram().DataPoints()
}

func summaryPoints(m pmetric.Metric) pmetric.SummaryDataPointSlice { return m.Summary().DataPoints() }

// settle judges all points of a metric, makes those that stay what the target says, and moves or leaves out the others. It
// reports whether none stay.
func settle[P point[P], S pointSlice[P]](s *metricScope, m pmetric.Metric, t *target, of func(pmetric.Metric) S, rescale func(P, float64)) bool {
	all := of(m)
	n := all.Len()
	// The findings stand in the scope: here they would be on the heap, for the closure of separate.
	f := &s.findings
	*f = findings{}
	var out []verdict // by point; nil as long as all stay
	types := s.policy.fitsTypes()
	for i := range n {
		p := all.At(i)
		on := p.Attributes()
		a, v := s.judge(t, on, f)
		if a >= quarantine {
			if out == nil {
				out = make([]verdict, n)
			}
			out[i] = v
			continue
		}
		if v.change {
			t.apply(on, types, s.room)
		}
		if t.scale != 1 && rescale != nil {
			rescale(p, t.scale)
		}
	}
	s.count(f, m.Name())
	if out != nil {
		separate(s, m, t, of, out)
	}
	s.done(t, all.Len())
	if all.Len() == 0 && n > 0 {
		return true
	}
	s.head(m, t)
	return false
}

// separate takes the points with a bad verdict out of the metric.
func separate[P point[P], S pointSlice[P]](s *metricScope, m pmetric.Metric, t *target, of func(pmetric.Metric) S, out []verdict) {
	apart := map[cause]S{}
	i := -1
	of(m).RemoveIf(func(p P) bool {
		i++
		a := s.policy.decide(out[i].broken, out[i].hopeless)
		if a < quarantine {
			return false
		}
		s.set(a, 1)
		if a == reject {
			return true
		}
		why := s.why(t, out[i], p.Attributes(), &s.findings)
		to, ok := apart[why]
		if !ok {
			metric := s.apart.metrics(s.scope, why).AppendEmpty()
			like(m, metric)
			to = of(metric)
			apart[why] = to
		}
		p.MoveTo(to.AppendEmpty())
		return true
	})
}

// like makes a metric without points of the same name and kind as another.
func like(m, other pmetric.Metric) {
	other.SetName(m.Name())
	other.SetUnit(m.Unit())
	other.SetDescription(m.Description())
	m.Metadata().CopyTo(other.Metadata())
	switch m.Type() {
	case pmetric.MetricTypeGauge:
		other.SetEmptyGauge()
	case pmetric.MetricTypeSum:
		sum := other.SetEmptySum()
		sum.SetIsMonotonic(m.Sum().IsMonotonic())
		sum.SetAggregationTemporality(m.Sum().AggregationTemporality())
	case pmetric.MetricTypeHistogram:
		other.SetEmptyHistogram().SetAggregationTemporality(m.Histogram().AggregationTemporality())
	case pmetric.MetricTypeExponentialHistogram:
		other.SetEmptyExponentialHistogram().SetAggregationTemporality(m.ExponentialHistogram().AggregationTemporality())
	case pmetric.MetricTypeSummary:
		other.SetEmptySummary()
	default:
	}
}

// carve moves the points that a target is for into another metric and reports whether there were any.
func carve(m, into pmetric.Metric, t *target) bool {
	switch m.Type() {
	case pmetric.MetricTypeGauge:
		return carvePoints(gaugePoints(m), gaugePoints(into), t)
	case pmetric.MetricTypeSum:
		return carvePoints(sumPoints(m), sumPoints(into), t)
	case pmetric.MetricTypeHistogram:
		return carvePoints(histogramPoints(m), histogramPoints(into), t)
	case pmetric.MetricTypeExponentialHistogram:
		return carvePoints(exponentialPoints(m), exponentialPoints(into), t)
	case pmetric.MetricTypeSummary:
		return carvePoints(summaryPoints(m), summaryPoints(into), t)
	default:
		return false
	}
}

func carvePoints[P point[P], S pointSlice[P]](from, into S, t *target) bool {
	from.RemoveIf(func(p P) bool {
		if !t.holds(p.Attributes()) {
			return false
		}
		p.MoveTo(into.AppendEmpty())
		return true
	})
	return into.Len() > 0
}

// typeOf is what a metric is on the wire.
func typeOf(m pmetric.Metric) schema.SourceType {
	switch m.Type() {
	case pmetric.MetricTypeGauge:
		return schema.Gauge
	case pmetric.MetricTypeSum:
		if m.Sum().IsMonotonic() {
			return schema.Counter
		}
		return schema.UpDownCounter
	case pmetric.MetricTypeHistogram, pmetric.MetricTypeExponentialHistogram:
		return schema.Histogram
	case pmetric.MetricTypeSummary:
		return schema.Summary
	default:
		return schema.AnyType
	}
}

// pointCount is the number of a metric's points.
func pointCount(m pmetric.Metric) int {
	switch m.Type() {
	case pmetric.MetricTypeGauge:
		return gaugePoints(m).Len()
	case pmetric.MetricTypeSum:
		return sumPoints(m).Len()
	case pmetric.MetricTypeHistogram:
		return histogramPoints(m).Len()
	case pmetric.MetricTypeExponentialHistogram:
		return exponentialPoints(m).Len()
	case pmetric.MetricTypeSummary:
		return summaryPoints(m).Len()
	default:
		return 0
	}
}

// pointsOf is the number of the points of all metrics.
func pointsOf(all pmetric.MetricSlice) int {
	n := 0
	for i := range all.Len() {
		n += pointCount(all.At(i))
	}
	return n
}
