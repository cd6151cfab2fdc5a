package mapping

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pitwall-otel/pitwall/schema/names"
)

// noon is when tests scrape first.
func noon() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// render writes metrics as text, one line per point, sorted. What all points have is left out: provider and operation.
// Start times are seconds from noon.
func render(md pmetric.Metrics) string {
	var lines []string
	for _, rm := range md.ResourceMetrics().All() {
		id, _ := rm.Resource().Attributes().Get(names.AttributeServiceInstanceID)
		scope, _ := rm.Resource().Attributes().Get(names.AttributeInferenceScope)
		where := id.AsString()
		if scope.AsString() == "router" {
			where += "(router)"
		}
		for _, sm := range rm.ScopeMetrics().All() {
			for _, m := range sm.Metrics().All() {
				what := m.Name()
				if strings.HasSuffix(sm.Scope().Name(), OriginalScope) {
					what = "ORIGINAL " + what
				}
				for _, p := range renderPoints(m) {
					lines = append(lines, where+" "+what+p)
				}
			}
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n") + "\n"
}

func renderPoints(m pmetric.Metric) (lines []string) {
	unit := " " + m.Unit()
	switch m.Type() {
	case pmetric.MetricTypeGauge:
		for _, d := range m.Gauge().DataPoints().All() {
			lines = append(lines, fmt.Sprintf("%s gauge%s = %v", renderAttributes(d.Attributes()), unit, d.DoubleValue()))
		}
	case pmetric.MetricTypeSum:
		for _, d := range m.Sum().DataPoints().All() {
			lines = append(lines, fmt.Sprintf("%s sum%s = %v since %v", renderAttributes(d.Attributes()), unit, d.DoubleValue(), since(d.StartTimestamp())))
		}
	case pmetric.MetricTypeHistogram:
		for _, d := range m.Histogram().DataPoints().All() {
			sum := "none"
			if d.HasSum() {
				sum = fmt.Sprint(d.Sum())
			}
			lines = append(lines, fmt.Sprintf("%s histogram%s = count %d sum %s [%s] since %v", renderAttributes(d.Attributes()), unit,
				d.Count(), sum, renderBuckets(d), since(d.StartTimestamp())))
		}
	case pmetric.MetricTypeSummary:
		for _, d := range m.Summary().DataPoints().All() {
			line := fmt.Sprintf("%s summary%s = count %d sum %v", renderAttributes(d.Attributes()), unit, d.Count(), d.Sum())
			for _, q := range d.QuantileValues().All() {
				line += fmt.Sprintf(" q%v:%v", q.Quantile(), q.Value())
			}
			lines = append(lines, fmt.Sprintf("%s since %v", line, since(d.StartTimestamp())))
		}
	default:
	}
	return lines
}

// renderBuckets leaves empty ones out, and says how many there are.
func renderBuckets(d pmetric.HistogramDataPoint) string {
	bounds, counts := d.ExplicitBounds(), d.BucketCounts()
	parts := []string{fmt.Sprintf("%d buckets", counts.Len())}
	for i := range counts.Len() {
		bound := math.Inf(1)
		if i < bounds.Len() {
			bound = bounds.At(i)
		}
		if counts.At(i) > 0 {
			parts = append(parts, fmt.Sprintf("%v:%d", bound, counts.At(i)))
		}
	}
	return strings.Join(parts, " ")
}

func renderAttributes(m pcommon.Map) string {
	var parts []string
	for k, v := range m.All() {
		if k == names.AttributeGenAIProviderName || k == names.AttributeGenAIOperationName {
			continue
		}
		parts = append(parts, fmt.Sprintf("%s=%s", k, v.AsString()))
	}
	slices.SortFunc(parts, cmp.Compare[string])
	return "{" + strings.Join(parts, " ") + "}"
}

func since(start pcommon.Timestamp) float64 { return start.AsTime().Sub(noon()).Seconds() }
