package delta

import (
	"fmt"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

// A producer's request: 20 histograms of 15 buckets, each value newer than the one before.
func BenchmarkConvert(b *testing.B) {
	template := pmetric.NewMetrics()
	rm := template.ResourceMetrics().AppendEmpty()
	rm.Resource().Attributes().PutStr("service.instance.id", "a")
	sm := rm.ScopeMetrics().AppendEmpty()
	for i := range 20 {
		m := sm.Metrics().AppendEmpty()
		m.SetName(fmt.Sprintf("histogram.%d", i))
		h := m.SetEmptyHistogram()
		h.SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
		dp := h.DataPoints().AppendEmpty()
		dp.SetStartTimestamp(second(began + 1))
		dp.BucketCounts().FromRaw(make([]uint64, 15))
		dp.ExplicitBounds().FromRaw([]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14})
	}
	c := New((&clock{}).options())
	metrics := pmetric.NewMetrics()
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		b.StopTimer()
		template.CopyTo(metrics)
		for _, m := range metrics.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().All() {
			m.Histogram().DataPoints().At(0).SetTimestamp(second(began+2) + pcommon.Timestamp(n)*pcommon.Timestamp(time.Second))
		}
		b.StartTimer()
		conversion := c.Convert(metrics)
		c.Keep("1.0.0", conversion.States)
		conversion.Release()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*20), "ns/histogram")
}

// A request of gauges pays for the look.
func BenchmarkConvertNothing(b *testing.B) {
	metrics := pmetric.NewMetrics()
	sm := metrics.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty()
	for range 100 {
		sm.Metrics().AppendEmpty().SetEmptyGauge().DataPoints().AppendEmpty()
	}
	c := New((&clock{}).options())
	b.ReportAllocs()
	for b.Loop() {
		c.Convert(metrics).Release()
	}
}
