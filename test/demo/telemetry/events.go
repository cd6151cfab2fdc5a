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

// traces makes a span of every state that has ended; one that is open has only its events.
func (c *Client) traces(states []simulation.State) ptrace.Traces {
	all := ptrace.NewTraces()
	scopes := map[simulation.Process]ptrace.SpanSlice{}
	for _, s := range states {
		if s.End.IsZero() {
			continue
		}
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

// logs makes a record of every event, and two or more of every state: begin, heartbeats, end.
func (c *Client) logs(states []simulation.State, events []simulation.Event) plog.Logs {
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
	for _, s := range states {
		if s.Umbrella {
			continue
		}
		for _, m := range moments(s) {
			state(record(s.By, m.at, "rl.state"), s, m)
		}
	}
	for _, e := range events {
		r := record(e.By, e.Time, e.Name)
		put(r.Attributes(), e.Attributes)
		if e.Error {
			r.SetSeverityNumber(plog.SeverityNumberError)
			r.SetSeverityText("ERROR")
		}
	}
	return all
}

type moment struct {
	op string
	at time.Time
}

// Records is how many log records a state makes.
func Records(s simulation.State) int { return len(moments(s)) }

// moments of a state: its begin, every 10 s while it is open, its end.
func moments(s simulation.State) []moment {
	if s.Umbrella {
		return nil
	}
	all := []moment{{"begin", s.Begin}}
	last := s.End
	if last.IsZero() {
		last = s.Seen
	}
	for at := s.Begin.Add(heartbeat); at.Before(last); at = at.Add(heartbeat) {
		all = append(all, moment{"heartbeat", at})
	}
	if !s.End.IsZero() {
		all = append(all, moment{"end", s.End})
	}
	return all
}

func state(r plog.LogRecord, s simulation.State, m moment) {
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
