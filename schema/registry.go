package schema

import (
	"maps"
	"slices"
)

// Registry is the parsed registry. It is never changed after Load, so any number of goroutines may read it.
type Registry struct {
	version   string
	schemaURL string
	metrics   map[string]*Metric
}

// Metric is one canonical metric.
type Metric struct {
	Name string
	// Instrument is counter, updowncounter, gauge or histogram.
	Instrument string
	// Unit is UCUM, as in the semantic conventions: "By", "1", "{packet}/s".
	Unit       string
	Brief      string
	Stability  string
	Attributes []Attribute
	// Table says what the metric's points are called in metric_points. Without a matching rule a point keeps Name and Unit.
	Table []TableRule
}

// Attribute is an attribute that points of a metric may carry.
type Attribute struct {
	Name  string
	Type  string
	Brief string
	// Members are the known values of an enum. The conventions leave enums open: others may come.
	Members []string
}

// TableRule names a point in the table. The first rule of a metric whose conditions all hold, and whose template's
// attributes the point all has, wins. Attributes in When or in Name are consumed: they do not repeat in tags_json.
type TableRule struct {
	When []Condition
	Name Template
	Unit string
	// Scale multiplies the value; 1 where the registry gives none.
	Scale float64
}

// Condition holds for a point whose attribute, as a string, equals Value.
type Condition struct{ Attribute, Value string }

// Metric returns the metric with that canonical name, nil when the registry does not know it.
func (r *Registry) Metric(canonical string) *Metric { return r.metrics[canonical] }

// Metrics returns all metrics, sorted by name.
func (r *Registry) Metrics() []*Metric {
	sorted := make([]*Metric, 0, len(r.metrics))
	for _, name := range slices.Sorted(maps.Keys(r.metrics)) {
		sorted = append(sorted, r.metrics[name])
	}
	return sorted
}

// Version is the registry's semantic version, "0.1.0".
func (r *Registry) Version() string { return r.version }

// SchemaURL is what a scope that follows this version of the registry carries.
func (r *Registry) SchemaURL() string { return r.schemaURL }

func (m *Metric) attribute(name string) *Attribute {
	for i := range m.Attributes {
		if m.Attributes[i].Name == name {
			return &m.Attributes[i]
		}
	}
	return nil
}
