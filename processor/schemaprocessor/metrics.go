package schemaprocessor

import (
	"context"

	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/processor/processorhelper"

	"github.com/pitwall-otel/pitwall/schema"
	"github.com/pitwall-otel/pitwall/schema/names"
)

// What a metric's metadata says about it. Points do not carry it: it would make another series of them.
const (
	sourceKey   = names.AttributePitwallSourceName
	flagKey     = "pitwall.schema"
	flagUnknown = "unknown"
)

// metricScope is a scope of metrics.
type metricScope struct {
	*scope
	// metrics are the scope's; split has those that were made of a part of one.
	metrics, split pmetric.MetricSlice
	apart          apartMetrics
	findings       findings
}

func (p *schemaProcessor) processMetrics(_ context.Context, md pmetric.Metrics) (pmetric.Metrics, error) {
	var r request
	came := md.ResourceMetrics().Len()
	apart := pmetric.NewMetrics()
	md.ResourceMetrics().RemoveIf(func(rm pmetric.ResourceMetrics) bool {
		if _, set := rm.Resource().Attributes().Get(reasonKey); set {
			return false
		}
		return p.processResourceMetrics(&r, rm, apart)
	})
	apart.ResourceMetrics().MoveAndAppendTo(md.ResourceMetrics())
	p.offenders.add(r.offences)
	if came > 0 && md.ResourceMetrics().Len() == 0 {
		return md, processorhelper.ErrSkipProcessingData
	}
	return md, nil
}

// processResourceMetrics reports whether nothing is left of the resource.
func (p *schemaProcessor) processResourceMetrics(r *request, rm pmetric.ResourceMetrics, apart pmetric.Metrics) bool {
	came, identified := rm.ScopeMetrics().Len(), uint64(0)
	rm.ScopeMetrics().RemoveIf(func(sm pmetric.ScopeMetrics) bool {
		of, named := p.newScope(r, sm.Scope(), sm.SchemaUrl(), rm.SchemaUrl(), rm.Resource().Attributes())
		s := &metricScope{scope: of, metrics: sm.Metrics(), split: pmetric.NewMetricSlice()}
		s.apart = apartMetrics{to: apart, resource: rm, scope: sm}
		if !named {
			s.recognise()
		}
		defer s.close()
		if a := s.version(pointsOf(sm.Metrics())); a != observe {
			if a == quarantine {
				sm.Metrics().MoveAndAppendTo(s.apart.metrics(s.scope, cause{unknownVersion, clip(sm.SchemaUrl())}))
			}
			return true
		}
		s.identify(&identified)
		return s.process(sm)
	})
	rm.SetSchemaUrl(p.schemaURL(rm.SchemaUrl()))
	return came > 0 && rm.ScopeMetrics().Len() == 0
}

// recognise finds out from the names whose they are.
func (s *metricScope) recognise() {
	var v vote
	for i := range min(s.metrics.Len(), sample) {
		m := s.metrics.At(i)
		v.add(s.plan(0, s.origin.lineage, typeOf(m), m.Name(), m.Unit()))
	}
	if winner := v.winner(); winner != 0 {
		s.from(winner)
	}
}

// process reports whether nothing is left of the scope.
func (s *metricScope) process(sm pmetric.ScopeMetrics) bool {
	came := s.metrics.Len()
	s.metrics.RemoveIf(s.metric)
	s.split.MoveAndAppendTo(s.metrics)
	sm.SetSchemaUrl(s.registry.SchemaURL())
	s.mark()
	return came > 0 && s.metrics.Len() == 0
}

// metric reports whether nothing is left of the metric under its name.
func (s *metricScope) metric(m pmetric.Metric) bool {
	kind := typeOf(m)
	if kind == schema.AnyType {
		return false
	}
	plan := s.plan(s.producer, s.origin.lineage, kind, m.Name(), m.Unit())
	last := len(plan.targets) - 1
	for _, t := range plan.targets[:last] {
		part := pmetric.NewMetric()
		like(m, part)
		if carve(m, part, t) && !s.become(part, t) {
			part.MoveTo(s.split.AppendEmpty())
		}
	}
	if last > 0 && pointCount(m) == 0 {
		return true
	}
	return s.become(m, plan.targets[last])
}

// become makes a metric what the target says and reports whether nothing is left of it.
func (s *metricScope) become(m pmetric.Metric, t *target) bool {
	switch m.Type() {
	case pmetric.MetricTypeGauge:
		return settle(s, m, t, gaugePoints, rescaleNumber)
	case pmetric.MetricTypeSum:
		return settle(s, m, t, sumPoints, rescaleNumber)
	case pmetric.MetricTypeHistogram:
		return settle(s, m, t, histogramPoints, rescaleHistogram)
	case pmetric.MetricTypeExponentialHistogram:
		gone := settle(s, m, t, exponentialPoints, nil)
		if !gone && t.scale != 1 {
			rescaleExponential(m, t.scale)
		}
		return gone
	case pmetric.MetricTypeSummary:
		return settle(s, m, t, summaryPoints, rescaleSummary)
	default:
		return false
	}
}

// head gives a metric its canonical name and unit, and says in its metadata what it was.
func (s *metricScope) head(m pmetric.Metric, t *target) {
	if t.unknown {
		m.Metadata().PutStr(flagKey, flagUnknown)
		return
	}
	if m.Name() != t.name {
		m.Metadata().PutStr(sourceKey, m.Name())
		m.SetName(t.name)
	}
	if m.Unit() != t.unit {
		m.SetUnit(t.unit)
	}
}
