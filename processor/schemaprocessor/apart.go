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
	reasons  map[string]pmetric.MetricSlice
}

func (a *apartMetrics) metrics(s *scope, reason string) pmetric.MetricSlice {
	if into, ok := a.reasons[reason]; ok {
		return into
	}
	rm := a.to.ResourceMetrics().AppendEmpty()
	a.resource.Resource().CopyTo(rm.Resource())
	rm.SetSchemaUrl(a.resource.SchemaUrl())
	rm.Resource().Attributes().PutStr(reasonKey, reason)
	sm := rm.ScopeMetrics().AppendEmpty()
	a.scope.Scope().CopyTo(sm.Scope())
	sm.SetSchemaUrl(a.scope.SchemaUrl())
	if a.reasons == nil {
		a.reasons = map[string]pmetric.MetricSlice{}
	}
	a.reasons[reason] = sm.Metrics()
	s.reasons++
	return sm.Metrics()
}

// apartSpans is apartMetrics for spans.
type apartSpans struct {
	to       ptrace.Traces
	resource ptrace.ResourceSpans
	scope    ptrace.ScopeSpans
	reasons  map[string]ptrace.SpanSlice
}

func (a *apartSpans) spans(s *scope, reason string) ptrace.SpanSlice {
	if into, ok := a.reasons[reason]; ok {
		return into
	}
	rs := a.to.ResourceSpans().AppendEmpty()
	a.resource.Resource().CopyTo(rs.Resource())
	rs.SetSchemaUrl(a.resource.SchemaUrl())
	rs.Resource().Attributes().PutStr(reasonKey, reason)
	ss := rs.ScopeSpans().AppendEmpty()
	a.scope.Scope().CopyTo(ss.Scope())
	ss.SetSchemaUrl(a.scope.SchemaUrl())
	if a.reasons == nil {
		a.reasons = map[string]ptrace.SpanSlice{}
	}
	a.reasons[reason] = ss.Spans()
	s.reasons++
	return ss.Spans()
}

// apartLogs is apartMetrics for log records.
type apartLogs struct {
	to       plog.Logs
	resource plog.ResourceLogs
	scope    plog.ScopeLogs
	reasons  map[string]plog.LogRecordSlice
}

func (a *apartLogs) records(s *scope, reason string) plog.LogRecordSlice {
	if into, ok := a.reasons[reason]; ok {
		return into
	}
	rl := a.to.ResourceLogs().AppendEmpty()
	a.resource.Resource().CopyTo(rl.Resource())
	rl.SetSchemaUrl(a.resource.SchemaUrl())
	rl.Resource().Attributes().PutStr(reasonKey, reason)
	sl := rl.ScopeLogs().AppendEmpty()
	a.scope.Scope().CopyTo(sl.Scope())
	sl.SetSchemaUrl(a.scope.SchemaUrl())
	if a.reasons == nil {
		a.reasons = map[string]plog.LogRecordSlice{}
	}
	a.reasons[reason] = sl.LogRecords()
	s.reasons++
	return sl.LogRecords()
}
