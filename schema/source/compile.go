package source

import (
	"cmp"
	"slices"

	"github.com/pitwall-otel/pitwall/schema"
)

// Compile returns the registry as package schema takes it, everything sorted by name.
func (r *Registry) Compile() schema.Definition {
	d := schema.Definition{Version: r.Version, BaseURL: r.BaseURL}
	c := compiler{producers: map[string]*schema.Producer{}}
	for _, a := range r.Attributes {
		compiled := schema.Attribute{Name: a.Name, Type: a.Type, Brief: oneLine(a.Brief), Deprecated: a.Deprecated.compile()}
		for _, m := range a.Members {
			compiled.Members = append(compiled.Members, m.Value)
		}
		d.Attributes = append(d.Attributes, compiled)
		c.attribute(a)
	}
	for _, e := range r.Entities {
		d.Entities = append(d.Entities, schema.Entity{
			Name: e.Name, Brief: oneLine(e.Brief), Attributes: e.compileUses(), Deprecated: e.Deprecated.compile(),
		})
	}
	for _, m := range r.Metrics {
		d.Metrics = append(d.Metrics, schema.Metric{
			Name: m.Name, Instrument: m.Instrument, Unit: m.Unit, Brief: oneLine(m.Brief), Stability: m.Stability,
			Attributes: m.compileUses(), Table: m.Table, Deprecated: m.Deprecated.compile(),
		})
		c.rules(&m.Group, func(p *schema.Producer) *[]schema.Rule { return &p.Metrics })
	}
	for _, s := range r.Spans {
		d.Spans = append(d.Spans, schema.Span{
			Name: s.Name, Brief: oneLine(s.Brief), Kind: s.Kind, Attributes: s.compileUses(), Deprecated: s.Deprecated.compile(),
		})
		c.rules(s, func(p *schema.Producer) *[]schema.Rule { return &p.Spans })
	}
	for _, e := range r.Events {
		d.Events = append(d.Events, schema.Event{
			Name: e.Name, Brief: oneLine(e.Brief), Attributes: e.compileUses(), Deprecated: e.Deprecated.compile(),
		})
		c.rules(e, func(p *schema.Producer) *[]schema.Rule { return &p.Events })
	}
	byName(d.Attributes, func(a schema.Attribute) string { return a.Name })
	byName(d.Entities, func(e schema.Entity) string { return e.Name })
	byName(d.Metrics, func(m schema.Metric) string { return m.Name })
	byName(d.Spans, func(s schema.Span) string { return s.Name })
	byName(d.Events, func(e schema.Event) string { return e.Name })
	for _, p := range c.producers {
		for _, rules := range [][]schema.Rule{p.Metrics, p.Spans, p.Events} {
			slices.SortStableFunc(rules, func(a, b schema.Rule) int {
				return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.To, b.To), cmp.Compare(a.Since, b.Since))
			})
		}
		slices.SortStableFunc(p.Attributes, func(a, b schema.AttributeRule) int {
			return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.To, b.To))
		})
		d.Producers = append(d.Producers, *p)
	}
	byName(d.Producers, func(p schema.Producer) string { return p.Name })
	return d
}

type compiler struct{ producers map[string]*schema.Producer }

func (c *compiler) producer(name string) *schema.Producer {
	if c.producers[name] == nil {
		c.producers[name] = &schema.Producer{Name: name}
	}
	return c.producers[name]
}

func (c *compiler) attribute(a *Attribute) {
	for i, s := range a.Sources {
		p := c.producer(s.Producer)
		if s.Derived {
			continue
		}
		rule := schema.AttributeRule{Name: s.Name.String(), To: a.Name, Preference: i}
		for _, v := range s.Values {
			rule.Values = append(rule.Values, schema.Translation(v))
		}
		p.Attributes = append(p.Attributes, rule)
	}
}

func (c *compiler) rules(g *Group, of func(*schema.Producer) *[]schema.Rule) {
	for _, s := range g.Sources {
		rules := of(c.producer(s.Producer))
		if s.Derived {
			continue
		}
		rule := schema.Rule{
			Name: s.Name.String(), To: g.Name, Type: s.Type, When: s.When, Set: s.Set, Since: s.Since, Until: s.Until,
		}
		if s.Scale != 1 {
			rule.Scale = s.Scale
		}
		if s.open() {
			rule.Captures = s.compileCaptures()
			*rules = append(*rules, rule)
			continue
		}
		for _, e := range s.expand() {
			rule.Name, rule.Set = e.name.String(), e.set
			*rules = append(*rules, rule)
		}
	}
}

func (s *Source) compileCaptures() []schema.Capture {
	var captures []schema.Capture
	for _, c := range s.Captures {
		compiled := schema.Capture{Digits: c.Digits}
		for _, v := range c.Values {
			compiled.Values = append(compiled.Values, schema.Translation(v))
		}
		captures = append(captures, compiled)
	}
	return captures
}

func (g *Group) compileUses() []schema.Use {
	var uses []schema.Use
	for _, u := range g.Uses {
		uses = append(uses, schema.Use{Name: u.Name, Requirement: u.Requirement, Role: u.Role})
	}
	return uses
}

func (d *Deprecated) compile() *schema.Deprecation {
	if d == nil {
		return nil
	}
	return &schema.Deprecation{RenamedTo: d.RenamedTo, Since: d.In, Reason: d.Reason, Note: oneLine(d.Note)}
}

func byName[T any](all []T, name func(T) string) {
	slices.SortFunc(all, func(a, b T) int { return cmp.Compare(name(a), name(b)) })
}
