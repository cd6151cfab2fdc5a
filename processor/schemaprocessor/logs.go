package schemaprocessor

import (
	"context"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/processor/processorhelper"

	"github.com/pitwall-otel/pitwall/schema"
)

// eventNameKey is where an event's name stood before log records had a field for it.
const eventNameKey = "event.name"

func (p *schemaProcessor) processLogs(_ context.Context, ld plog.Logs) (plog.Logs, error) {
	var r request
	came := ld.ResourceLogs().Len()
	apart := plog.NewLogs()
	ld.ResourceLogs().RemoveIf(func(rl plog.ResourceLogs) bool {
		if _, set := rl.Resource().Attributes().Get(reasonKey); set {
			return false
		}
		return p.processResourceLogs(&r, rl, apart)
	})
	apart.ResourceLogs().MoveAndAppendTo(ld.ResourceLogs())
	p.offenders.add(r.offences)
	if came > 0 && ld.ResourceLogs().Len() == 0 {
		return ld, processorhelper.ErrSkipProcessingData
	}
	return ld, nil
}

// processResourceLogs reports whether nothing is left of the resource.
func (p *schemaProcessor) processResourceLogs(r *request, rl plog.ResourceLogs, apart plog.Logs) bool {
	came, identified := rl.ScopeLogs().Len(), uint64(0)
	rl.ScopeLogs().RemoveIf(func(sl plog.ScopeLogs) bool {
		s, _ := p.newScope(r, sl.Scope(), sl.SchemaUrl(), rl.SchemaUrl(), rl.Resource().Attributes())
		into := apartLogs{to: apart, resource: rl, scope: sl}
		defer s.close()
		if a := s.version(sl.LogRecords().Len()); a != observe {
			if a == quarantine {
				sl.LogRecords().MoveAndAppendTo(into.records(s, cause{unknownVersion, clip(sl.SchemaUrl())}))
			}
			return true
		}
		s.identify(&identified)
		n := sl.LogRecords().Len()
		sl.LogRecords().RemoveIf(func(record plog.LogRecord) bool { return s.record(record, &into) })
		sl.SetSchemaUrl(p.registry.SchemaURL())
		s.mark()
		return n > 0 && sl.LogRecords().Len() == 0
	})
	rl.SetSchemaUrl(p.schemaURL(rl.SchemaUrl()))
	return came > 0 && rl.ScopeLogs().Len() == 0
}

// record reports whether the log record does not go on. One without an event's name is a line of a log: only what
// identifies its sender is looked at.
func (s *scope) record(record plog.LogRecord, into *apartLogs) bool {
	on := record.Attributes()
	name, t := record.EventName(), s.vocabulary.plain
	if name == "" && text(on, eventNameKey) != "" {
		name = text(on, eventNameKey)
		on.Remove(eventNameKey)
		record.SetEventName(name)
	}
	if name != "" {
		t = s.plan(s.producer, s.origin.lineage, schema.AnyType, name, "").target(on)
	}
	var f findings
	a, v := s.judge(t, on, &f)
	s.count(&f, name)
	s.set(a, 1)
	switch a {
	case quarantine:
		record.MoveTo(into.records(s, s.why(t, v, on, &f)).AppendEmpty())
		return true
	case reject:
		return true
	default:
	}
	if v.change {
		t.apply(on, s.policy.fitsTypes(), s.room)
	}
	if name != "" && !t.unknown && name != t.name {
		on.PutStr(sourceKey, name)
		record.SetEventName(t.name)
	}
	s.done(t, 1)
	return false
}
