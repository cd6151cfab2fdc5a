package source

import (
	"fmt"
	"strings"

	"github.com/pitwall-otel/pitwall/schema"
)

// Registry is what the files say, checked, in the files' order (files by name).
type Registry struct {
	Version string
	// BaseURL followed by Version is the schema URL.
	BaseURL string

	// Domains are the files with what their first comment says.
	Domains []Domain

	Attributes []*Attribute
	Entities   []*Group
	Metrics    []*Metric
	Spans      []*Group
	Events     []*Group
}

// Domain is one file.
type Domain struct{ File, About string }

// Attribute is one definition.
type Attribute struct {
	Place
	Name string
	// Type is string, int, double, boolean, string[] or, with Members, enum.
	Type       string
	Members    []Member
	Brief      string
	Note       string
	Stability  string
	Examples   []string
	Since      string
	Deprecated *Deprecated
	Sources    []Source
}

// Member is a value of an enum.
type Member struct{ Value, Brief string }

// Use is an attribute on a metric, span, event or entity.
type Use struct {
	*Attribute
	Requirement string
	// Role is identifying or descriptive, on entities.
	Role string
	// Brief replaces the attribute's own where the group says it better.
	Brief string
}

// Group is an entity, a span or an event.
type Group struct {
	Place
	Name       string
	Brief      string
	Note       string
	Stability  string
	Kind       string
	Uses       []Use
	Since      string
	Deprecated *Deprecated
	Sources    []Source
}

// Metric is a Group with a number.
type Metric struct {
	Group
	Instrument string
	Unit       string
	Table      []schema.TableRule
}

// Deprecated says what stands instead of a name: RenamedTo, or nothing.
type Deprecated struct {
	Reason, RenamedTo, Note string
	// In is the version of the registry that superseded the name.
	In string
}

// Source is one name of a producer.
type Source struct {
	Place
	Producer string
	// Name may hold captures.
	Name schema.Template
	// Captures are what each place in Name may hold, in the order of the places.
	Captures []Capture
	// Unit is the producer's; Scale makes the registry's of it.
	Unit  string
	Scale float64
	Type  schema.SourceType
	// When are labels of the producer that points must carry; Set are attributes of ours that they get.
	When, Set []schema.Condition
	// Values translate the values of an attribute's source.
	Values []Pair
	// Since and Until are the first and the last version of the producer with that name.
	Since, Until string
	Derived      bool
	Note         string
}

// Capture is what a place in a source's name may hold: the keys of Values, or digits, or, with neither, any text
// without "/".
type Capture struct {
	Attribute string
	Values    []Pair
	// Translated says that Values were given with the source; else they are the members of the enum.
	Translated bool
	Digits     bool
}

// Pair is a producer's value and ours.
type Pair struct{ Theirs, Ours string }

// Place is where something is written.
type Place struct {
	File string
	Line int
}

// find returns the group's use of an attribute, nil when it has none.
func (g *Group) find(attribute string) *Use {
	for i := range g.Uses {
		if g.Uses[i].Name == attribute {
			return &g.Uses[i]
		}
	}
	return nil
}

// allows reports whether a value, as text, is of the attribute's type.
func (a *Attribute) allows(value string) bool {
	switch a.Type {
	case "enum":
		for _, m := range a.Members {
			if m.Value == value {
				return true
			}
		}
		return false
	case "int":
		return isInt(value)
	case "boolean":
		return value == "true" || value == "false"
	}
	return true
}

func (p Place) String() string { return fmt.Sprintf("%s:%d", p.File, p.Line) }

func (r *Registry) metricGroups() []*Group {
	groups := make([]*Group, len(r.Metrics))
	for i, m := range r.Metrics {
		groups[i] = &m.Group
	}
	return groups
}

// oneLine is a text of YAML, which may be folded, without its line breaks.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// From returns the file.
func (p Place) From() string { return p.File }
