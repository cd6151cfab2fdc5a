package source

import (
	"fmt"
	"slices"

	"github.com/pitwall-otel/pitwall/schema"
)

func (l *loader) addGroup(file string, raw group) {
	at := Place{file, raw.line}
	switch raw.Type {
	case "attribute_group":
	case "metric":
		l.addMetric(at, raw)
	case "entity":
		if g, ok := l.group(at, "entity", raw, raw.Name); ok {
			l.registry.Entities = append(l.registry.Entities, g)
		}
	case "span":
		if g, ok := l.group(at, "span", raw, raw.Name); ok {
			if !slices.Contains([]string{"internal", "client", "server", "producer", "consumer"}, raw.SpanKind) {
				l.fail(at, "span %q: span_kind %q is none of the conventions'", raw.Name, raw.SpanKind)
			}
			g.Kind = raw.SpanKind
			l.registry.Spans = append(l.registry.Spans, g)
		}
	case "event":
		if g, ok := l.group(at, "event", raw, raw.Name); ok {
			l.registry.Events = append(l.registry.Events, g)
		}
	default:
		l.fail(at, "group %q: type %q is none of attribute_group, entity, metric, span, event", raw.ID, raw.Type)
	}
}

// group reads what metrics, entities, spans and events have in common.
func (l *loader) group(at Place, kind string, raw group, name string) (*Group, bool) {
	what := kind + " name"
	if kind == "metric" {
		what = "metric_name"
	}
	if !l.name(at, what, name) || !l.claim(at, kind, name) || !l.claim(at, "group id", raw.ID) {
		return nil, false
	}
	l.brief(at, kind, name, raw.Brief)
	if kind != "metric" && len(raw.Annotations.Pitwall.Table) > 0 {
		l.fail(at, "%s %q: only metrics have a table", kind, name)
	}
	g := &Group{
		Place: at, Name: name, Brief: raw.Brief, Note: raw.Note, Stability: raw.Stability,
		Since: raw.Annotations.Pitwall.Since, Deprecated: l.deprecated(raw.Deprecated, raw.Annotations),
	}
	if g.Since != "" && !l.versions.MatchString(g.Since) {
		l.fail(at, "%s %q: since %q is not a version of the registry", kind, name, g.Since)
	}
	for _, a := range raw.Attributes {
		attributeAt := Place{at.File, a.line}
		attribute, known := l.attributes[a.Ref]
		switch {
		case a.ID != "":
			l.fail(attributeAt, "%s %q: attribute %q is defined here; define it in an attribute_group and use ref", kind, name, a.ID)
		case !known:
			l.fail(attributeAt, "%s %q: ref to unknown attribute %q", kind, name, a.Ref)
		case g.find(a.Ref) != nil:
			l.fail(attributeAt, "%s %q: attribute %q stands twice", kind, name, a.Ref)
		case !slices.Contains(l.requirements, string(a.Requirement)):
			l.fail(attributeAt, "%s %q: attribute %q: requirement_level %q is none of the conventions'", kind, name, a.Ref, a.Requirement)
		case kind == "entity" && a.Role != "identifying" && a.Role != "descriptive":
			l.fail(attributeAt, "entity %q: attribute %q: role %q is neither identifying nor descriptive", name, a.Ref, a.Role)
		default:
			g.Uses = append(g.Uses, Use{Attribute: attribute, Requirement: string(a.Requirement), Role: a.Role, Brief: a.Brief})
		}
	}
	for _, s := range raw.Annotations.Pitwall.Sources {
		if source, ok := l.groupSource(kind, g, raw.Unit, s); ok {
			g.Sources = append(g.Sources, source)
		}
	}
	return g, true
}

func (l *loader) addMetric(at Place, raw group) {
	if !slices.Contains(l.instruments, raw.Instrument) {
		l.fail(at, "metric %q: instrument %q is none of %v", raw.MetricName, raw.Instrument, l.instruments)
	}
	l.unit(at, fmt.Sprintf("metric %q", raw.MetricName), raw.Unit, l.metricUnits)
	g, ok := l.group(at, "metric", raw, raw.MetricName)
	if !ok {
		return
	}
	m := &Metric{Group: *g, Instrument: raw.Instrument, Unit: raw.Unit}
	for _, r := range raw.Annotations.Pitwall.Table {
		if rule, ok := l.tableRule(m, r); ok {
			m.Table = append(m.Table, rule)
		}
	}
	l.registry.Metrics = append(l.registry.Metrics, m)
}

func (l *loader) tableRule(m *Metric, r rawRule) (schema.TableRule, bool) {
	before := len(l.errs)
	at := Place{m.File, r.line}
	name, err := schema.ParseTemplate(r.Name)
	if err != nil {
		l.fail(at, "metric %q: table: %w", m.Name, err)
	}
	for _, part := range name.Parts {
		if part.Attribute != "" && m.find(part.Attribute) == nil {
			l.fail(at, "metric %q: table: template %q: the metric has no attribute %q", m.Name, r.Name, part.Attribute)
		}
	}
	rule := schema.TableRule{Name: name, Unit: r.Unit, Scale: 1}
	for _, c := range r.When {
		switch a := m.find(c.key); {
		case a == nil:
			l.fail(at, "metric %q: table: when: the metric has no attribute %q", m.Name, c.key)
		case !a.allows(c.value):
			l.fail(at, "metric %q: table: when: %q is none of the values of %q", m.Name, c.value, c.key)
		}
		rule.When = append(rule.When, schema.Condition{Attribute: c.key, Value: c.value})
	}
	if l.unit(at, fmt.Sprintf("metric %q: table", m.Name), r.Unit, l.tableUnits) {
		scale, convertible := schema.Convert(m.Unit, r.Unit)
		switch {
		case !convertible:
			l.fail(at, "metric %q: table: %q cannot become %q", m.Name, m.Unit, r.Unit)
		case r.Scale != nil && *r.Scale != scale:
			l.fail(at, "metric %q: table: scale %g, but %q in %q is %g", m.Name, *r.Scale, m.Unit, r.Unit, scale)
		}
		rule.Scale = scale
	}
	if len(l.errs) > before || !l.claim(at, "table name", r.Name) {
		return schema.TableRule{}, false
	}
	return rule, true
}
