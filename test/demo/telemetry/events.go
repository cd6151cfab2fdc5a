package telemetry

import (
	"encoding/hex"
	"time"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/pitwall-otel/pitwall/test/demo/simulation"
)

// heartbeat is how often an open state says that it still is one.
const heartbeat = 10 * time.Second

// traces makes a span of every state that has ended.
func (c *Client) traces() ptrace.Traces {
	all := ptrace.NewTraces()
	scopes := map[simulation.Process]ptrace.SpanSlice{}
	for _, s := range c.spans {
		spans, ok := scopes[*s.By]
		if !ok {
			resource := all.ResourceSpans().AppendEmpty()
			resource.SetSchemaUrl(c.schemaURL)
			identify(resource.Resource().Attributes(), s.By)
			scope := resource.ScopeSpans().AppendEmpty()
			scope.Scope().SetName(scopeName)
			scope.SetSchemaUrl(c.schemaURL)
			spans = scope.Spans()
			scopes[*s.By] = spans
		}
		span := spans.AppendEmpty()
		span.SetTraceID(s.Trace)
		span.SetSpanID(s.ID)
		span.SetParentSpanID(s.Parent)
		span.SetName("rl." + s.Phase)
		span.SetKind(ptrace.SpanKindInternal)
		span.SetStartTimestamp(stamp(s.Begin))
		span.SetEndTimestamp(stamp(s.End))
		if s.Step > 0 {
			span.Attributes().PutInt("rl.step", s.Step)
		}
		if s.Umbrella {
			span.Attributes().PutStr("rl.span.kind", "loop")
			continue
		}
		span.Attributes().PutStr("rl.phase", s.Phase)
		span.Attributes().PutStr("rl.state.name", s.Name)
		span.Attributes().PutStr("rl.bucket", s.Bucket)
	}
	return all
}

// logs makes a record of every event and of every moment of a state.
func (c *Client) logs() plog.Logs {
	all := plog.NewLogs()
	scopes := map[simulation.Process]plog.LogRecordSlice{}
	record := func(by *simulation.Process, at time.Time, name string) plog.LogRecord {
		records, ok := scopes[*by]
		if !ok {
			resource := all.ResourceLogs().AppendEmpty()
			resource.SetSchemaUrl(c.schemaURL)
			identify(resource.Resource().Attributes(), by)
			scope := resource.ScopeLogs().AppendEmpty()
			scope.Scope().SetName(scopeName)
			scope.SetSchemaUrl(c.schemaURL)
			records = scope.LogRecords()
			scopes[*by] = records
		}
		r := records.AppendEmpty()
		r.SetTimestamp(stamp(at))
		r.SetObservedTimestamp(stamp(at))
		r.SetEventName(name)
		r.SetSeverityNumber(plog.SeverityNumberInfo)
		r.SetSeverityText("INFO")
		return r
	}
	for _, m := range c.moments {
		m.fill(record(m.of.By, m.at, "rl.state"))
	}
	for _, e := range c.events {
		r := record(e.By, e.Time, e.Name)
		r.SetTraceID(e.Trace)
		put(r.Attributes(), e.Attributes)
		if e.Error {
			r.SetSeverityNumber(plog.SeverityNumberError)
			r.SetSeverityText("ERROR")
		}
	}
	return all
}

// moment is when something is said of a state.
type moment struct {
	of simulation.State
	op string
	at time.Time
}

// appendMoments appends those of a state after from and not after to: its begin, every 10 s while it is open, its end.
func appendMoments(all []moment, s simulation.State, from, to time.Time) []moment {
	if s.Umbrella {
		return all
	}
	within := func(at time.Time) bool { return at.After(from) && !at.After(to) }
	if within(s.Begin) {
		all = append(all, moment{s, "begin", s.Begin})
	}
	beat := max(1, int64(from.Sub(s.Begin)/heartbeat)+1)
	if from.Before(s.Begin) {
		beat = 1
	}
	for at := s.Begin.Add(time.Duration(beat) * heartbeat); !at.After(to) && (s.End.IsZero() || at.Before(s.End)); at = at.Add(heartbeat) {
		all = append(all, moment{s, "heartbeat", at})
	}
	if !s.End.IsZero() && within(s.End) {
		all = append(all, moment{s, "end", s.End})
	}
	return all
}

func (m moment) fill(r plog.LogRecord) {
	s := m.of
	r.SetTraceID(s.Trace)
	r.SetSpanID(s.ID)
	a := r.Attributes()
	a.PutStr("rl.state.id", hex.EncodeToString(s.ID[:]))
	a.PutStr("rl.state.op", m.op)
	a.PutStr("rl.state.name", s.Name)
	a.PutStr("rl.phase", s.Phase)
	a.PutStr("rl.bucket", s.Bucket)
	a.PutStr("rl.lane", s.Lane)
	a.PutInt("rl.lane.depth", s.Depth)
	if s.Step > 0 {
		a.PutInt("rl.step", s.Step)
	}
	if s.Expected > 0 {
		a.PutDouble("rl.state.expected", s.Expected)
	}
	if m.op == "end" {
		a.PutDouble("rl.state.duration", s.End.Sub(s.Begin).Seconds())
	}
}
