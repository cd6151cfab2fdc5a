package mapping

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

// emit makes the points of the scrape.
func (t *Target) emit() pmetric.Metrics {
	out := pmetric.NewMetrics()
	for _, i := range t.ordered {
		if i.scrape == t.scrape {
			t.settle(i)
			t.date(i)
			t.derive(i)
		} else if !t.vanish(i) {
			continue
		}
		e := emitter{Target: t, rm: out.ResourceMetrics().AppendEmpty()}
		i.resource.CopyTo(e.rm.Resource().Attributes())
		for _, m := range i.metrics {
			e.metric(m)
		}
	}
	return out
}

// emitter writes one instance's points.
type emitter struct {
	*Target
	rm pmetric.ResourceMetrics
	// scopes are that of canonical names and that of the engine's own, where they are needed.
	scopes [2]pmetric.ScopeMetrics
	has    [2]bool
}

func (e *emitter) scope(original bool) pmetric.ScopeMetrics {
	at, suffix := 0, ""
	if original {
		at, suffix = 1, OriginalScope
	}
	if !e.has[at] {
		o := &e.mapper.options
		s := e.rm.ScopeMetrics().AppendEmpty()
		s.Scope().SetName(o.ScopeName + suffix)
		s.Scope().SetVersion(o.ScopeVersion)
		if !original {
			s.SetSchemaUrl(e.mapper.registry.SchemaURL())
		}
		e.scopes[at], e.has[at] = s, true
	}
	return e.scopes[at]
}

func (e *emitter) metric(m *metric) {
	n := 0
	for _, p := range m.points {
		if p.scrape == e.Target.scrape {
			n++
		}
	}
	if n == 0 {
		return
	}
	to := e.scope(m.original).Metrics().AppendEmpty()
	to.SetName(m.name)
	to.SetUnit(m.unit)
	if m.unknown {
		to.Metadata().PutStr("pitwall.schema", "unknown")
	}
	var numbers pmetric.NumberDataPointSlice
	var histograms pmetric.HistogramDataPointSlice
	var summaries pmetric.SummaryDataPointSlice
	switch m.kind {
	case gauge:
		numbers = to.SetEmptyGauge().DataPoints()
		numbers.EnsureCapacity(n)
	case counter:
		s := to.SetEmptySum()
		s.SetIsMonotonic(true)
		s.SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
		numbers = s.DataPoints()
		numbers.EnsureCapacity(n)
	case histogram:
		h := to.SetEmptyHistogram()
		h.SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
		histograms = h.DataPoints()
		histograms.EnsureCapacity(n)
	case summary:
		summaries = to.SetEmptySummary().DataPoints()
	}
	at := pcommon.NewTimestampFromTime(e.at)
	for _, p := range m.points {
		if p.scrape != e.Target.scrape {
			continue
		}
		var start pcommon.Timestamp
		if p.cumulative() {
			start = pcommon.NewTimestampFromTime(p.start)
		}
		e.report.Points++
		switch m.kind {
		case gauge, counter:
			d := numbers.AppendEmpty()
			d.SetStartTimestamp(start)
			d.SetTimestamp(at)
			d.SetDoubleValue(p.value)
			p.attributes.CopyTo(d.Attributes())
		case histogram:
			d := histograms.AppendEmpty()
			d.SetStartTimestamp(start)
			d.SetTimestamp(at)
			p.attributes.CopyTo(d.Attributes())
			p.hist.histogram(d)
		case summary:
			d := summaries.AppendEmpty()
			d.SetStartTimestamp(start)
			d.SetTimestamp(at)
			p.attributes.CopyTo(d.Attributes())
			p.hist.summary(d)
		}
	}
}

func (b *buckets) histogram(d pmetric.HistogramDataPoint) {
	d.SetCount(b.total)
	if b.hasSum {
		d.SetSum(b.sum)
	}
	if b.present > 0 {
		d.ExplicitBounds().FromRaw(b.bounds)
		d.BucketCounts().FromRaw(b.counts)
	}
}

func (b *buckets) summary(d pmetric.SummaryDataPoint) {
	d.SetCount(uint64(b.count + 0.5))
	d.SetSum(b.sum)
	for _, i := range b.sorted {
		if s := &b.slots[i]; s.present {
			q := d.QuantileValues().AppendEmpty()
			q.SetQuantile(s.bound)
			q.SetValue(s.value)
		}
	}
}
