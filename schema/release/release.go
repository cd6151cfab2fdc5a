package release

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/pitwall-otel/pitwall/schema"
)

// Release is what a version promises. Producers' names are not part of it: they follow the producers.
type Release struct {
	Version    string          `yaml:"version"`
	SchemaURL  string          `yaml:"schema_url"`
	Attributes map[string]Item `yaml:"attributes"`
	Entities   map[string]Item `yaml:"entities"`
	Metrics    map[string]Item `yaml:"metrics"`
	Spans      map[string]Item `yaml:"spans"`
	Events     map[string]Item `yaml:"events"`
}

// Item is one name. Only attributes have Type and Members, only metrics Instrument, Unit and Table.
type Item struct {
	Brief      string            `yaml:"brief"`
	Type       string            `yaml:"type,omitempty"`
	Members    []string          `yaml:"members,omitempty,flow"`
	Instrument string            `yaml:"instrument,omitempty"`
	Unit       string            `yaml:"unit,omitempty"`
	Attributes map[string]string `yaml:"attributes,omitempty,flow"`
	// Table are the rules in order, each as one line.
	Table      []string `yaml:"table,omitempty"`
	Deprecated string   `yaml:"deprecated,omitempty"`
}

// Of returns what a registry promises.
func Of(d schema.Definition) *Release {
	r := &Release{
		Version: d.Version, SchemaURL: d.BaseURL + d.Version, Attributes: map[string]Item{}, Entities: map[string]Item{},
		Metrics: map[string]Item{}, Spans: map[string]Item{}, Events: map[string]Item{},
	}
	for _, a := range d.Attributes {
		r.Attributes[a.Name] = Item{
			Brief: a.Brief, Type: a.Type, Members: slices.Sorted(slices.Values(a.Members)), Deprecated: deprecation(a.Deprecated),
		}
	}
	for _, e := range d.Entities {
		r.Entities[e.Name] = Item{Brief: e.Brief, Attributes: uses(e.Attributes), Deprecated: deprecation(e.Deprecated)}
	}
	for _, m := range d.Metrics {
		item := Item{
			Brief: m.Brief, Instrument: m.Instrument, Unit: m.Unit, Attributes: uses(m.Attributes), Deprecated: deprecation(m.Deprecated),
		}
		for _, rule := range m.Table {
			item.Table = append(item.Table, ruleText(rule))
		}
		r.Metrics[m.Name] = item
	}
	for _, s := range d.Spans {
		r.Spans[s.Name] = Item{Brief: s.Brief, Attributes: uses(s.Attributes), Deprecated: deprecation(s.Deprecated)}
	}
	for _, e := range d.Events {
		r.Events[e.Name] = Item{Brief: e.Brief, Attributes: uses(e.Attributes), Deprecated: deprecation(e.Deprecated)}
	}
	return r
}

func uses(all []schema.Use) map[string]string {
	texts := map[string]string{}
	for _, u := range all {
		texts[u.Name] = strings.TrimSpace(u.Role + " " + u.Requirement)
	}
	return texts
}

func ruleText(rule schema.TableRule) string {
	words := []string{fmt.Sprintf("%s in %s, times %g", rule.Name, rule.Unit, rule.Scale)}
	for _, c := range rule.When {
		words = append(words, fmt.Sprintf("for %s=%s", c.Attribute, c.Value))
	}
	return strings.Join(words, ", ")
}

func deprecation(d *schema.Deprecation) string {
	switch {
	case d == nil:
		return ""
	case d.RenamedTo != "":
		return "renamed to " + d.RenamedTo + " in " + d.Since
	default:
		return strings.TrimSpace(d.Reason + " " + d.Since)
	}
}

// YAML is the text of a released file.
func (r *Release) YAML() ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# The schema as released. Written by go run ./schema/generate -release; never edited.\n")
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	err := errors.Join(encoder.Encode(r), encoder.Close())
	return b.Bytes(), err
}

// Newest reads the newest released version in a folder, nil when there is none.
func Newest(folder fs.FS) (*Release, error) {
	names, err := fs.Glob(folder, "*.yaml")
	if err != nil || len(names) == 0 {
		return nil, err
	}
	name := slices.MaxFunc(names, func(a, b string) int { return schema.CompareVersions(version(a), version(b)) })
	text, err := fs.ReadFile(folder, name)
	if err != nil {
		return nil, fmt.Errorf("released schema: %w", err)
	}
	r := &Release{}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(r); err != nil {
		return nil, fmt.Errorf("released schema: %s: %w", name, err)
	}
	if r.Version != version(name) {
		return nil, fmt.Errorf("released schema: %s says version %q", name, r.Version)
	}
	return r, nil
}

func version(file string) string { return strings.TrimSuffix(file, ".yaml") }
