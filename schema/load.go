package schema

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"

	"go.yaml.in/yaml/v3"
)

//go:embed registry/host.yaml registry/pitwall.yaml registry/registry_manifest.yaml
var embedded embed.FS

const manifestName = "registry_manifest.yaml"

// Load parses and checks the embedded registry. An error names the file and the line.
func Load() (*Registry, error) {
	folder, err := fs.Sub(embedded, "registry")
	if err != nil {
		return nil, fmt.Errorf("schema registry: %w", err)
	}
	return load(folder)
}

func load(folder fs.FS) (*Registry, error) {
	names, err := fs.Glob(folder, "*.yaml")
	if err != nil {
		return nil, fmt.Errorf("schema registry: %w", err)
	}
	l := loader{
		registry:    &Registry{metrics: map[string]*Metric{}},
		attributes:  map[string]Attribute{},
		places:      map[string]string{},
		instruments: []string{"counter", "updowncounter", "gauge", "histogram"},
		units:       regexp.MustCompile(`^(1|%|By|s|\{[a-z_]+\})(/s)?$`),
		versions:    regexp.MustCompile(`^\d+\.\d+\.\d+$`),
	}
	// Attributes first: a metric may refer to one that another file defines.
	var files []file
	for _, name := range names {
		text, err := fs.ReadFile(folder, name)
		if err != nil {
			return nil, fmt.Errorf("schema registry: %w", err)
		}
		if path.Base(name) == manifestName {
			l.addManifest(name, text)
			continue
		}
		files = append(files, l.parse(name, text))
	}
	for _, f := range files {
		l.addAttributes(f)
	}
	for _, f := range files {
		l.addMetrics(f)
	}
	if l.registry.version == "" {
		l.fail(manifestName, 1, "semconv_version is missing")
	}
	if len(l.errs) > 0 {
		return nil, fmt.Errorf("schema registry: %w", errors.Join(l.errs...))
	}
	return l.registry, nil
}

// loader gathers every error, so that an author sees all of them at once.
type loader struct {
	registry   *Registry
	attributes map[string]Attribute
	// places remembers where a metric, attribute or table name was defined, to name both places of a duplicate.
	places map[string]string
	errs   []error

	instruments []string
	// units are the UCUM units in use: a new one is allowed here first, so that a typing error is not a new unit.
	units    *regexp.Regexp
	versions *regexp.Regexp
}

func (l *loader) fail(file string, line int, format string, args ...any) {
	l.errs = append(l.errs, fmt.Errorf("%s:%d: %w", file, line, fmt.Errorf(format, args...)))
}

// claim reports whether key is new, and complains otherwise.
func (l *loader) claim(file string, line int, kind, key string) bool {
	if first, taken := l.places[kind+" "+key]; taken {
		l.fail(file, line, "%s %q is already defined at %s", kind, key, first)
		return false
	}
	l.places[kind+" "+key] = fmt.Sprintf("%s:%d", file, line)
	return true
}

func (l *loader) addManifest(name string, text []byte) {
	var manifest struct {
		Name           string `yaml:"name"`
		Description    string `yaml:"description"`
		SemconvVersion string `yaml:"semconv_version"`
		SchemaBaseURL  string `yaml:"schema_base_url"`
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&manifest); err != nil {
		l.fail(name, 1, "%w", err)
		return
	}
	if !l.versions.MatchString(manifest.SemconvVersion) {
		l.fail(name, 1, "semconv_version %q is not a semantic version", manifest.SemconvVersion)
	}
	l.registry.version = manifest.SemconvVersion
	l.registry.schemaURL = manifest.SchemaBaseURL + manifest.SemconvVersion
}

func (l *loader) addAttributes(f file) {
	for _, g := range f.groups {
		if g.Type != "attribute_group" {
			continue
		}
		for _, a := range g.Attributes {
			switch {
			case !isName(a.ID):
				l.fail(f.name, a.line, "attribute id %q is not a name", a.ID)
			case a.Type.name == "":
				l.fail(f.name, a.line, "attribute %q has no type", a.ID)
			case l.claim(f.name, a.line, "attribute", a.ID):
				l.attributes[a.ID] = Attribute{Name: a.ID, Type: a.Type.name, Brief: a.Brief, Members: a.Type.members}
			}
		}
	}
}

func (l *loader) addMetrics(f file) {
	for _, g := range f.groups {
		switch g.Type {
		case "attribute_group":
		case "metric":
			l.addMetric(f.name, g)
		default:
			l.fail(f.name, g.line, "group %q: type %q is neither metric nor attribute_group", g.ID, g.Type)
		}
	}
}

func (l *loader) addMetric(file string, g group) {
	m := &Metric{Name: g.MetricName, Instrument: g.Instrument, Unit: g.Unit, Brief: g.Brief, Stability: g.Stability}
	if !isName(m.Name) {
		l.fail(file, g.line, "metric_name %q is not a name", m.Name)
		return
	}
	if !l.claim(file, g.line, "metric", m.Name) {
		return
	}
	if !slices.Contains(l.instruments, m.Instrument) {
		l.fail(file, g.line, "metric %q: instrument %q is none of %v", m.Name, m.Instrument, l.instruments)
	}
	if !l.units.MatchString(m.Unit) {
		l.fail(file, g.line, "metric %q: unknown unit %q", m.Name, m.Unit)
	}
	for _, a := range g.Attributes {
		attribute, known := l.attributes[a.Ref]
		switch {
		case !known:
			l.fail(file, a.line, "metric %q: ref to unknown attribute %q", m.Name, a.Ref)
		case m.attribute(a.Ref) != nil:
			l.fail(file, a.line, "metric %q: attribute %q stands twice", m.Name, a.Ref)
		default:
			m.Attributes = append(m.Attributes, attribute)
		}
	}
	for _, r := range g.Annotations.Pitwall.Table {
		if rule, ok := l.tableRule(file, m, r); ok {
			m.Table = append(m.Table, rule)
		}
	}
	l.registry.metrics[m.Name] = m
}

func (l *loader) tableRule(file string, m *Metric, r rule) (TableRule, bool) {
	before := len(l.errs)
	name, err := ParseTemplate(r.Name)
	if err != nil {
		l.fail(file, r.line, "metric %q: table: %w", m.Name, err)
	}
	for _, part := range name.Parts {
		if part.Attribute != "" && m.attribute(part.Attribute) == nil {
			l.fail(file, r.line, "metric %q: table: template %q: the metric has no attribute %q", m.Name, r.Name, part.Attribute)
		}
	}
	for _, c := range r.When {
		switch a := m.attribute(c.Attribute); {
		case a == nil:
			l.fail(file, r.line, "metric %q: table: when: the metric has no attribute %q", m.Name, c.Attribute)
		case a.Members != nil && !slices.Contains(a.Members, c.Value):
			l.fail(file, r.line, "metric %q: table: when: %q is none of the values of %q", m.Name, c.Value, c.Attribute)
		}
	}
	if !l.units.MatchString(r.Unit) {
		l.fail(file, r.line, "metric %q: table: unknown unit %q", m.Name, r.Unit)
	}
	if len(l.errs) > before || !l.claim(file, r.line, "table name", r.Name) {
		return TableRule{}, false
	}
	scale := 1.0
	if r.Scale != nil {
		scale = *r.Scale
	}
	return TableRule{When: r.When, Name: name, Unit: r.Unit, Scale: scale}, true
}
