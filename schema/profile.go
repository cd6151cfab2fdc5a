package schema

import (
	"fmt"
	"slices"
)

// Profile is what one producer's names mean. Like the Registry it never changes.
type Profile struct {
	producer   Producer
	registry   *Registry
	metrics    lookup
	spans      lookup
	events     lookup
	attributes map[string][]AttributeMapping
}

// Mapping is what a producer's name means here. Exactly one of Metric, Span and Event is set.
type Mapping struct {
	Metric *Metric
	Span   *Span
	Event  *Event
	// Scale turns the producer's unit into ours: Rescale(value, Scale).
	Scale float64
	// When are the producer's labels, with their values, for which the mapping holds. They are consumed.
	When []Condition
	// Set are attributes that points get, with what was captured from the name.
	Set []Assignment
}

// Assignment is an attribute and its value as text, to be stored as the attribute's type says.
type Assignment struct {
	Attribute *Attribute
	Value     string
}

// AttributeMapping is what a producer's attribute key means here.
type AttributeMapping struct {
	*Attribute
	// Preference orders the keys that become one attribute: the lowest present wins, and the canonical key over all.
	Preference int
	identity   bool
	values     map[string]string
}

// Value returns our value for the producer's, false when the registry translates values and not this one.
func (m *AttributeMapping) Value(theirs string) (string, bool) {
	if m.values == nil {
		return theirs, true
	}
	ours, ok := m.values[theirs]
	return ours, ok
}

// Metric returns what a producer's metric means. There is one mapping without When, or several of which at most one holds
// for a point, or, for an unknown name, none. Exact names cost a look-up in a map and no allocation; names with captures are
// matched one by one and allocate, so keep what was returned.
func (p *Profile) Metric(name string, t SourceType) []Mapping { return p.metrics.find(name, t) }

// Span is Metric for the names of spans, phases and timers.
func (p *Profile) Span(name string) []Mapping { return p.spans.find(name, AnyType) }

// Event is Metric for the names of log events.
func (p *Profile) Event(name string) []Mapping { return p.events.find(name, AnyType) }

// Attribute returns what an attribute key of the producer means on a metric's points: one of the metric's attributes, or one
// that identifies an entity. On resources, and on points of unknown metrics, m is nil and only the latter count.
func (p *Profile) Attribute(key string, m *Metric) (*AttributeMapping, bool) {
	mappings := p.attributes[key]
	for i := range mappings {
		if m != nil && m.Attribute(mappings[i].Name) != nil {
			return &mappings[i], true
		}
	}
	for i := range mappings {
		if mappings[i].identity {
			return &mappings[i], true
		}
	}
	return nil, false
}

// Attribute returns the metric's attribute with that key, nil when it has none.
func (m *Metric) Attribute(key string) *Attribute {
	for i := range m.Attributes {
		if m.Attributes[i].Name == key {
			return m.Attributes[i].Attribute
		}
	}
	return nil
}

// At returns the profile for one version of the producer. It differs only where a name changed its meaning: without a version,
// the newest meaning counts.
func (p *Profile) At(version string) *Profile {
	other, err := newProfile(p.registry, p.producer, version)
	if err != nil {
		return p // New has built a profile of the same rules without one
	}
	return other
}

func newProfile(r *Registry, producer Producer, version string) (*Profile, error) {
	p := &Profile{producer: producer, registry: r, attributes: map[string][]AttributeMapping{}}
	var err error
	table := func(kind string, rules []Rule, target func(*Mapping, string) bool) lookup {
		n, failure := newLookup(r, rules, version, target)
		if failure != nil {
			err = fmt.Errorf("schema: producer %q: %s: %w", producer.Name, kind, failure)
		}
		return n
	}
	p.metrics = table("metrics", producer.Metrics, func(m *Mapping, to string) bool {
		m.Metric = r.metrics[to]
		return m.Metric != nil
	})
	p.spans = table("spans", producer.Spans, func(m *Mapping, to string) bool {
		m.Span = r.spans[to]
		return m.Span != nil
	})
	p.events = table("events", producer.Events, func(m *Mapping, to string) bool {
		m.Event = r.events[to]
		return m.Event != nil
	})
	if err != nil {
		return nil, err
	}
	identity := r.identity()
	rules := producer.Attributes
	if producer.Name != "" {
		rules = slices.Concat(rules, r.aliases())
	}
	for _, rule := range rules {
		a := r.attributes[rule.To]
		if a == nil {
			return nil, fmt.Errorf("schema: producer %q: attribute %q becomes the unknown %q", producer.Name, rule.Name, rule.To)
		}
		m := AttributeMapping{Attribute: a, Preference: rule.Preference, identity: identity[a.Name]}
		for _, v := range rule.Values {
			if m.values == nil {
				m.values = make(map[string]string, len(rule.Values))
			}
			m.values[v.Theirs] = v.Ours
		}
		p.attributes[rule.Name] = append(p.attributes[rule.Name], m)
	}
	return p, nil
}

// identity returns the attributes of entities.
func (r *Registry) identity() map[string]bool {
	known := map[string]bool{}
	for _, e := range r.entities {
		for _, use := range e.Attributes {
			known[use.Name] = true
		}
	}
	return known
}

// aliases are the keys that any producer may use.
func (r *Registry) aliases() []AttributeRule {
	i := slices.IndexFunc(r.definition.Producers, func(p Producer) bool { return p.Name == "" })
	if i < 0 {
		return nil
	}
	return r.definition.Producers[i].Attributes
}
