package schema

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Registry is one version of the schema. It is never changed after New, so any number of goroutines may read it.
type Registry struct {
	version, baseURL string

	attributes map[string]*Attribute
	entities   map[string]*Entity
	metrics    map[string]*Metric
	spans      map[string]*Span
	events     map[string]*Event
	profiles   map[string]*Profile
	definition Definition
}

// Load returns the registry that this program was built with. It builds maps, for some milliseconds: keep it.
func Load() (*Registry, error) { return New(generated()) }

// New makes a registry of its definition, which package source reads from YAML and schema/generate writes as Go.
func New(d Definition) (*Registry, error) {
	r := &Registry{
		version: d.Version, baseURL: d.BaseURL, definition: d,
		attributes: make(map[string]*Attribute, len(d.Attributes)),
		entities:   make(map[string]*Entity, len(d.Entities)),
		metrics:    make(map[string]*Metric, len(d.Metrics)),
		spans:      make(map[string]*Span, len(d.Spans)),
		events:     make(map[string]*Event, len(d.Events)),
		profiles:   make(map[string]*Profile, len(d.Producers)+1),
	}
	for i := range d.Attributes {
		r.attributes[d.Attributes[i].Name] = &d.Attributes[i]
	}
	var err error
	resolve := func(owner string, uses []Use) {
		for i := range uses {
			if uses[i].Attribute = r.attributes[uses[i].Name]; uses[i].Attribute == nil {
				err = fmt.Errorf("schema: %s has the unknown attribute %q", owner, uses[i].Name)
			}
		}
	}
	for i := range d.Entities {
		r.entities[d.Entities[i].Name] = &d.Entities[i]
		resolve(d.Entities[i].Name, d.Entities[i].Attributes)
	}
	for i := range d.Metrics {
		r.metrics[d.Metrics[i].Name] = &d.Metrics[i]
		resolve(d.Metrics[i].Name, d.Metrics[i].Attributes)
	}
	for i := range d.Spans {
		r.spans[d.Spans[i].Name] = &d.Spans[i]
		resolve(d.Spans[i].Name, d.Spans[i].Attributes)
	}
	for i := range d.Events {
		r.events[d.Events[i].Name] = &d.Events[i]
		resolve(d.Events[i].Name, d.Events[i].Attributes)
	}
	if err != nil {
		return nil, err
	}
	if r.profiles[""], err = newProfile(r, Producer{Attributes: r.aliases()}, ""); err != nil {
		return nil, err
	}
	for _, producer := range d.Producers {
		if r.profiles[producer.Name], err = newProfile(r, producer, ""); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// Version is the registry's semantic version, "1.0.0".
func (r *Registry) Version() string { return r.version }

// SchemaURL is what a scope that follows this version of the registry carries.
func (r *Registry) SchemaURL() string { return r.baseURL + r.version }

// VersionOf returns the version in a schema URL; false when the URL is not of this family.
func (r *Registry) VersionOf(schemaURL string) (string, bool) {
	return strings.CutPrefix(schemaURL, r.baseURL)
}

// Metric returns the metric with that canonical name, nil when the registry does not know it.
func (r *Registry) Metric(canonical string) *Metric { return r.metrics[canonical] }

// Attribute returns the attribute with that canonical key, nil when the registry does not know it.
func (r *Registry) Attribute(canonical string) *Attribute { return r.attributes[canonical] }

// Entity returns the entity with that name, nil when the registry does not know it.
func (r *Registry) Entity(name string) *Entity { return r.entities[name] }

// Span returns the span with that canonical name, nil when the registry does not know it.
func (r *Registry) Span(canonical string) *Span { return r.spans[canonical] }

// Event returns the event with that canonical name, nil when the registry does not know it.
func (r *Registry) Event(canonical string) *Event { return r.events[canonical] }

// Metrics returns all metrics, sorted by name.
func (r *Registry) Metrics() []*Metric { return sorted(r.metrics) }

// Attributes returns all attributes, sorted by name.
func (r *Registry) Attributes() []*Attribute { return sorted(r.attributes) }

// Entities returns all entities, sorted by name.
func (r *Registry) Entities() []*Entity { return sorted(r.entities) }

// Spans returns all spans, sorted by name.
func (r *Registry) Spans() []*Span { return sorted(r.spans) }

// Events returns all events, sorted by name.
func (r *Registry) Events() []*Event { return sorted(r.events) }

// Producers returns the names of the producers that the registry knows.
func (r *Registry) Producers() []string {
	names := slices.Sorted(maps.Keys(r.profiles))
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}

// Profile returns what a producer's names mean, nil when the registry does not know the producer. The profile of "" knows
// only the aliases of attributes that anyone may use.
func (r *Registry) Profile(producer string) *Profile { return r.profiles[producer] }

func sorted[T any](named map[string]*T) []*T {
	all := make([]*T, 0, len(named))
	for _, name := range slices.Sorted(maps.Keys(named)) {
		all = append(all, named[name])
	}
	return all
}
