package schemaprocessor

import (
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// apartMetrics collects the metrics of one scope that are set apart: a resource of their own for each reason.
type apartMetrics struct {
	to       pmetric.Metrics
	resource pmetric.ResourceMetrics
	scope    pmetric.ScopeMetrics
	reasons  map[cause]pmetric.MetricSlice
}

func (a *apartMetrics) metrics(s *scope, why cause) pmetric.MetricSlice {
	if into, ok := a.reasons[why]; ok {
		return into
	}
	rm := a.to.ResourceMetrics().AppendEmpty()
	a.resource.Resource().CopyTo(rm.Resource())
	rm.SetSchemaUrl(a.resource.SchemaUrl())
	why.mark(rm.Resource().Attributes())
	sm := rm.ScopeMetrics().AppendEmpty()
	a.scope.Scope().CopyTo(sm.Scope())
	sm.SetSchemaUrl(a.scope.SchemaUrl())
	if a.reasons == nil {
		a.reasons = map[cause]pmetric.MetricSlice{}
	}
	a.reasons[why] = sm.Metrics()
	s.reasons++
	return sm.Metrics()
}

// apartSpans is apartMetrics for spans.
type apartSpans struct {
	to       ptrace.Traces
	resource ptrace.ResourceSpans
	scope    ptrace.ScopeSpans
	reasons  map[cause]ptrace.SpanSlice
}

func (a *apartSpans) spans(s *scope, why cause) ptrace.SpanSlice {
	if into, ok := a.reasons[why]; ok {
		return into
	}
	rs := a.to.ResourceSpans().AppendEmpty()
	a.resource.Resource().CopyTo(rs.Resource())
	rs.SetSchemaUrl(a.resource.SchemaUrl())
	why.mark(rs.Resource().Attributes())
	ss := rs.ScopeSpans().AppendEmpty()
	a.scope.Scope().CopyTo(ss.Scope())
	ss.SetSchemaUrl(a.scope.SchemaUrl())
	if a.reasons == nil {
		a.reasons = map[cause]ptrace.SpanSlice{}
	}
	a.reasons[why] = ss.Spans()
	s.reasons++
	return ss.Spans()
}

// apartLogs is apartMetrics for log records.
type apartLogs struct {
	to       plog.Logs
	resource plog.ResourceLogs
	scope    plog.ScopeLogs
	reasons  map[cause]plog.LogRecordSlice
}

func (a *apartLogs) records(s *scope, why cause) plog.LogRecordSlice {
	if into, ok := a.reasons[why]; ok {
		return into
	}
	rl := a.to.ResourceLogs().AppendEmpty()
	a.resource.Resource().CopyTo(rl.Resource())
	rl.SetSchemaUrl(a.resource.SchemaUrl())
	why.mark(rl.Resource().Attributes())
	sl := rl.ScopeLogs().AppendEmpty()
	a.scope.Scope().CopyTo(sl.Scope())
	sl.SetSchemaUrl(a.scope.SchemaUrl())
	if a.reasons == nil {
		a.reasons = map[cause]plog.LogRecordSlice{}
	}
	a.reasons[why] = sl.LogRecords()
	s.reasons++
	return sl.LogRecords()
}
