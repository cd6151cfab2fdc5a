package schemaprocessor

import (
	"context"

	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor/processorhelper"

	"github.com/pitwall-otel/pitwall/schema"
)

func (p *schemaProcessor) processTraces(_ context.Context, td ptrace.Traces) (ptrace.Traces, error) {
	var r request
	came := td.ResourceSpans().Len()
	apart := ptrace.NewTraces()
	td.ResourceSpans().RemoveIf(func(rs ptrace.ResourceSpans) bool {
		if _, set := rs.Resource().Attributes().Get(reasonKey); set {
			return false
		}
		return p.processResourceSpans(&r, rs, apart)
	})
	apart.ResourceSpans().MoveAndAppendTo(td.ResourceSpans())
	p.offenders.add(r.offences)
	if came > 0 && td.ResourceSpans().Len() == 0 {
		return td, processorhelper.ErrSkipProcessingData
	}
	return td, nil
}

// processResourceSpans reports whether nothing is left of the resource. Spans' names are too common to say whose they are:
// "train" is anybody's. Someone has to name the producer.
func (p *schemaProcessor) processResourceSpans(r *request, rs ptrace.ResourceSpans, apart ptrace.Traces) bool {
	came, identified := rs.ScopeSpans().Len(), uint64(0)
	rs.ScopeSpans().RemoveIf(func(ss ptrace.ScopeSpans) bool {
		s, _ := p.newScope(r, ss.Scope(), ss.SchemaUrl(), rs.SchemaUrl(), rs.Resource().Attributes())
		into := apartSpans{to: apart, resource: rs, scope: ss}
		defer s.close()
		if a := s.version(ss.Spans().Len()); a != observe {
			if a == quarantine {
				ss.Spans().MoveAndAppendTo(into.spans(s, cause{unknownVersion, clip(ss.SchemaUrl())}))
			}
			return true
		}
		s.identify(&identified)
		n := ss.Spans().Len()
		ss.Spans().RemoveIf(func(span ptrace.Span) bool { return s.span(span, &into) })
		ss.SetSchemaUrl(p.registry.SchemaURL())
		s.mark()
		return n > 0 && ss.Spans().Len() == 0
	})
	rs.SetSchemaUrl(p.schemaURL(rs.SchemaUrl()))
	return came > 0 && rs.ScopeSpans().Len() == 0
}

// span reports whether the span does not go on.
func (s *scope) span(span ptrace.Span, into *apartSpans) bool {
	on := span.Attributes()
	t := s.plan(s.producer, s.origin.lineage, schema.AnyType, span.Name(), "").target(on)
	var f findings
	a, v := s.judge(t, on, &f)
	s.count(&f, span.Name())
	s.set(a, 1)
	switch a {
	case quarantine:
		span.MoveTo(into.spans(s, s.why(t, v, on, &f)).AppendEmpty())
		return true
	case reject:
		return true
	default:
	}
	if v.change {
		t.apply(on, s.policy.fitsTypes(), s.room)
	}
	if !t.unknown && span.Name() != t.name {
		on.PutStr(sourceKey, span.Name())
		span.SetName(t.name)
	}
	s.done(t, 1)
	return false
}
