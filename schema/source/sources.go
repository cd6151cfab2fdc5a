package source

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pitwall-otel/pitwall/schema"
)

// groupSource reads a source of a metric, span or event.
func (l *loader) groupSource(kind string, g *Group, unit string, raw rawSource) (Source, bool) {
	at := Place{g.File, raw.line}
	what := fmt.Sprintf("%s %q: source %s:%s", kind, g.Name, raw.Producer, raw.Name)
	s, ok := l.source(at, what, raw)
	if !ok {
		return s, false
	}
	before := len(l.errs)
	if kind != "metric" && (raw.Unit != "" || raw.Type != "") {
		l.fail(at, "%s: only metrics have a unit and a type", what)
	}
	if raw.Unit != "" && l.unit(at, what, raw.Unit, nil) && schema.KnownUnit(unit) {
		if s.Scale, ok = schema.Convert(raw.Unit, unit); !ok {
			l.fail(at, "%s: %q cannot become %q", what, raw.Unit, unit)
		}
	}
	for _, part := range s.Name.Parts {
		if part.Attribute != "" {
			s.Captures = append(s.Captures, l.capture(at, what, g, raw, part.Attribute))
		}
	}
	for _, when := range raw.When {
		s.When = append(s.When, schema.Condition{Attribute: when.key, Value: when.value})
	}
	for _, set := range raw.Set {
		switch use := g.find(set.key); {
		case use == nil:
			l.fail(at, "%s: set: the %s has no attribute %q", what, kind, set.key)
		case !use.allows(set.value):
			l.fail(at, "%s: set: %q is none of the values of %q", what, set.value, set.key)
		case s.captures(set.key):
			l.fail(at, "%s: set: %q is captured from the name", what, set.key)
		}
		s.Set = append(s.Set, schema.Condition{Attribute: set.key, Value: set.value})
	}
	for attribute := range raw.Values {
		if !s.captures(attribute) {
			l.fail(at, "%s: values: %q is not captured from the name", what, attribute)
		}
	}
	return s, len(l.errs) == before
}

// attributeSource reads a source of an attribute: the producer's key for it.
func (l *loader) attributeSource(file string, a *Attribute, raw rawSource) Source {
	at := Place{file, raw.line}
	what := fmt.Sprintf("attribute %q: source %s:%s", a.Name, raw.Producer, raw.Name)
	s, ok := l.source(at, what, raw)
	if !ok {
		return s
	}
	if len(raw.When) > 0 || len(raw.Set) > 0 || raw.Unit != "" || raw.Type != "" {
		l.fail(at, "%s: an attribute's source has no when, set, unit or type", what)
	}
	if len(s.Name.Parts) != 1 || s.Name.Parts[0].Attribute != "" {
		l.fail(at, "%s: an attribute's source captures nothing", what)
	}
	for attribute, translation := range raw.Values {
		if attribute != "" && attribute != a.Name {
			l.fail(at, "%s: values: %q is another attribute", what, attribute)
		}
		for _, v := range translation {
			if !a.allows(v.value) {
				l.fail(at, "%s: values: %q is none of the values of %q", what, v.value, a.Name)
			}
			s.Values = append(s.Values, Pair{v.key, v.value})
		}
	}
	return s
}

// source reads what all sources have in common. It reports false when nothing more can be said about it.
func (l *loader) source(at Place, what string, raw rawSource) (Source, bool) {
	s := Source{
		Place: at, Producer: raw.Producer, Unit: raw.Unit, Scale: 1, Since: raw.Since, Until: raw.Until,
		Derived: raw.Derived, Note: raw.Note,
	}
	// An attribute's source without a producer is an alias that anyone may use.
	alias := raw.Producer == "" && strings.HasPrefix(what, "attribute ")
	if !alias && !slices.Contains(l.producers, raw.Producer) {
		l.fail(at, "%s: unknown producer %q", what, raw.Producer)
	}
	types := []schema.SourceType{schema.AnyType, schema.Gauge, schema.Counter, schema.UpDownCounter, schema.Histogram, schema.Summary}
	i := slices.IndexFunc(types, func(t schema.SourceType) bool { return t.String() == raw.Type })
	if i < 0 {
		l.fail(at, "%s: type %q is none of %v", what, raw.Type, types[1:])
		return s, false
	}
	s.Type = types[i]
	for _, version := range []string{raw.Since, raw.Until} {
		if version != "" && !schema.IsVersion(version) {
			l.fail(at, "%s: %q is not a version", what, version)
		}
	}
	if raw.Since != "" && raw.Until != "" && schema.CompareVersions(raw.Since, raw.Until) > 0 {
		l.fail(at, "%s: since %s is after until %s", what, raw.Since, raw.Until)
	}
	name, err := schema.ParseTemplate(raw.Name)
	if err != nil {
		l.fail(at, "%s: %w", what, err)
		return s, false
	}
	for i := 1; i < len(name.Parts); i++ {
		if name.Parts[i-1].Attribute != "" && name.Parts[i].Attribute != "" {
			l.fail(at, "%s: two captures need text between them", what)
		}
	}
	s.Name = name
	return s, true
}

func (l *loader) capture(at Place, what string, g *Group, raw rawSource, attribute string) Capture {
	c := Capture{Attribute: attribute}
	use := g.find(attribute)
	if use == nil {
		l.fail(at, "%s: captures %q, which %q does not have", what, attribute, g.Name)
		return c
	}
	c.Digits = use.Type == "int"
	for _, v := range raw.Values[attribute] {
		if !use.allows(v.value) {
			l.fail(at, "%s: values: %q is none of the values of %q", what, v.value, attribute)
		}
		c.Values = append(c.Values, Pair{v.key, v.value})
	}
	c.Translated = len(c.Values) > 0
	if !c.Translated {
		for _, m := range use.Members {
			c.Values = append(c.Values, Pair{m.Value, m.Value})
		}
	}
	return c
}

func (s *Source) captures(attribute string) bool {
	return slices.ContainsFunc(s.Captures, func(c Capture) bool { return c.Attribute == attribute })
}

// open reports whether a place in the name may hold more than a list of values.
func (s *Source) open() bool {
	return slices.ContainsFunc(s.Captures, func(c Capture) bool { return len(c.Values) == 0 })
}

// expanded is one of the names that a source stands for: captures of known values are replaced by them, open ones stay.
type expanded struct {
	name schema.Template
	set  []schema.Condition
}

func (s *Source) expand() []expanded {
	names := []expanded{{set: s.Set}}
	capture := 0
	for _, part := range s.Name.Parts {
		var c Capture
		if part.Attribute != "" {
			c = s.Captures[capture]
			capture++
		}
		var longer []expanded
		for _, name := range names {
			if len(c.Values) == 0 {
				longer = append(longer, name.with(part, name.set))
			}
			for _, v := range c.Values {
				set := append(slices.Clone(name.set), schema.Condition{Attribute: c.Attribute, Value: v.Ours})
				longer = append(longer, name.with(schema.Part{Literal: v.Theirs}, set))
			}
		}
		names = longer
	}
	return names
}

// with returns the name with one more part; literals next to each other become one.
func (e expanded) with(part schema.Part, set []schema.Condition) expanded {
	parts := slices.Clone(e.name.Parts)
	if last := len(parts) - 1; last >= 0 && part.Attribute == "" && parts[last].Attribute == "" {
		parts[last].Literal += part.Literal
	} else {
		parts = append(parts, part)
	}
	return expanded{schema.Template{Parts: parts}, set}
}

// checkSources finds names of one producer that would become two metrics, spans or events.
func (l *loader) checkSources() {
	seen := map[string][]claimed{}
	check := func(kind, target string, sources []Source) {
		for _, s := range sources {
			if s.Derived {
				continue
			}
			for _, e := range s.expand() {
				key := kind + " " + s.Producer + ":" + shape(e.name)
				for _, other := range seen[key] {
					if overlap(s, other.Source) {
						l.fail(s.Place, "%s %q: source %s:%s is already %q at %s", kind, target, s.Producer, e.name, other.target, other.Place)
						break
					}
				}
				seen[key] = append(seen[key], claimed{s, target})
			}
		}
	}
	for _, m := range l.registry.Metrics {
		check("metric", m.Name, m.Sources)
	}
	for _, s := range l.registry.Spans {
		check("span", s.Name, s.Sources)
	}
	for _, e := range l.registry.Events {
		check("event", e.Name, e.Sources)
	}
	for _, groups := range [][]*Group{l.registry.Entities, l.registry.metricGroups(), l.registry.Spans, l.registry.Events} {
		for _, g := range groups {
			l.checkKeys(g)
		}
	}
}

// checkKeys finds a key of a producer that would become two attributes of one metric: elsewhere the metric decides.
func (l *loader) checkKeys(g *Group) {
	keys := map[string]string{}
	for _, use := range g.Uses {
		for _, s := range use.Sources {
			key := s.Producer + ":" + s.Name.String()
			if first, taken := keys[key]; taken {
				l.fail(s.Place, "attribute %q: source %s is also one of %q, and %q has both", use.Name, key, first, g.Name)
			}
			keys[key] = use.Name
		}
	}
}

type claimed struct {
	Source
	target string
}

// shape is a name without what its captures are called: two names of one shape match the same text.
func shape(name schema.Template) string {
	var b strings.Builder
	for _, part := range name.Parts {
		if part.Attribute != "" {
			b.WriteString("{}")
		}
		b.WriteString(part.Literal)
	}
	return b.String()
}

// overlap reports whether two sources could both mean a point of one type, with the same labels, from one version of the
// producer.
func overlap(a, b Source) bool {
	sameType := a.Type == b.Type || a.Type == schema.AnyType || b.Type == schema.AnyType
	before := func(until, since string) bool {
		return until != "" && since != "" && schema.CompareVersions(until, since) < 0
	}
	for _, c := range a.When {
		for _, d := range b.When {
			if c.Attribute == d.Attribute && c.Value != d.Value {
				return false
			}
		}
	}
	return sameType && !before(a.Until, b.Since) && !before(b.Until, a.Since)
}
