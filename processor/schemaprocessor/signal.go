package schemaprocessor

import (
	"github.com/pitwall-otel/pitwall/schema"
)

// signal is the kind of telemetry that one processor handles.
type signal uint8

const (
	metricsSignal signal = iota
	tracesSignal
	logsSignal
)

func (s signal) String() string { return [...]string{"metrics", "traces", "logs"}[s] }

// renames are the superseded names of this kind.
func (s signal) renames(c *schema.Changes) map[string]string {
	switch s {
	case tracesSignal:
		return c.Spans
	case logsSignal:
		return c.Events
	default:
		return c.Metrics
	}
}

// owner returns what the registry has under a canonical name. Spans and events are given as metrics without unit and
// instrument, for the profile asks for a metric to say what an attribute of it means.
func (s signal) owner(r *schema.Registry, canonical string) *schema.Metric {
	switch s {
	case tracesSignal:
		return ofSpan(r.Span(canonical))
	case logsSignal:
		return ofEvent(r.Event(canonical))
	default:
		return r.Metric(canonical)
	}
}

// mappings are what a producer means by a name.
func (s signal) mappings(p *schema.Profile, name string, kind schema.SourceType) []schema.Mapping {
	switch s {
	case tracesSignal:
		return p.Span(name)
	case logsSignal:
		return p.Event(name)
	default:
		return p.Metric(name, kind)
	}
}

func ownerOf(m *schema.Mapping) *schema.Metric {
	switch {
	case m.Span != nil:
		return ofSpan(m.Span)
	case m.Event != nil:
		return ofEvent(m.Event)
	default:
		return m.Metric
	}
}

func ofSpan(s *schema.Span) *schema.Metric {
	if s == nil {
		return nil
	}
	return &schema.Metric{Name: s.Name, Attributes: s.Attributes}
}

func ofEvent(e *schema.Event) *schema.Metric {
	if e == nil {
		return nil
	}
	return &schema.Metric{Name: e.Name, Attributes: e.Attributes}
}
