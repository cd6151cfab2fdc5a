package source

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/pitwall-otel/pitwall/schema"
)

const manifestName = "registry_manifest.yaml"

// Load parses and checks the *.yaml files of a folder. Its error holds every fault found, each with file and line.
func Load(folder fs.FS) (*Registry, error) {
	names, err := fs.Glob(folder, "*.yaml")
	if err != nil {
		return nil, fmt.Errorf("schema registry: %w", err)
	}
	l := newLoader()
	groups := map[string][]group{}
	for _, name := range names {
		text, err := fs.ReadFile(folder, name)
		if err != nil {
			return nil, fmt.Errorf("schema registry: %w", err)
		}
		if path.Base(name) == manifestName {
			l.addManifest(name, text)
			continue
		}
		groups[name] = l.parseGroups(name, text)
		l.registry.Domains = append(l.registry.Domains, Domain{name, firstComment(string(text))})
	}
	// Attributes first: a metric may refer to one that another file defines.
	for _, name := range names {
		for _, g := range groups[name] {
			l.addAttributes(name, g)
		}
	}
	for _, name := range names {
		for _, g := range groups[name] {
			l.addGroup(name, g)
		}
	}
	l.checkSources()
	l.checkRows()
	l.checkDeprecated()
	if l.registry.Version == "" {
		l.fail(Place{manifestName, 1}, "semconv_version is missing")
	}
	if len(l.errs) > 0 {
		slices.SortStableFunc(l.errs, func(a, b failure) int {
			return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
		})
		errs := make([]error, len(l.errs))
		for i, f := range l.errs {
			errs[i] = fmt.Errorf("%s: %w", f.Place, f.error)
		}
		return nil, fmt.Errorf("schema registry: %w", errors.Join(errs...))
	}
	return l.registry, nil
}

// firstComment returns the comment that a file starts with, as one line.
func firstComment(text string) string {
	var words []string
	for line := range strings.Lines(text) {
		comment, found := strings.CutPrefix(line, "#")
		if !found {
			break
		}
		words = append(words, strings.Fields(comment)...)
	}
	return strings.Join(words, " ")
}

// loader gathers every error, so that an author sees all of them at once.
type loader struct {
	registry   *Registry
	attributes map[string]*Attribute
	// places remembers where a name was defined, to name both places of a duplicate.
	places map[string]Place
	errs   []failure

	instruments  []string
	types        []string
	requirements []string
	producers    []string
	versions     *regexp.Regexp
	// metricUnits are the UCUM units of metrics: base units only, so that one quantity has one unit everywhere.
	// tableUnits may be what a person reads. Sources have what producers write.
	metricUnits, tableUnits *regexp.Regexp
}

type failure struct {
	Place
	error
}

func newLoader() *loader {
	return &loader{
		registry:     &Registry{},
		attributes:   map[string]*Attribute{},
		places:       map[string]Place{},
		instruments:  []string{"counter", "updowncounter", "gauge", "histogram"},
		types:        []string{"string", "int", "double", "boolean", "string[]", "int[]", "double[]", "boolean[]", "enum"},
		requirements: []string{"", "required", "conditionally_required", "recommended", "opt_in"},
		producers: []string{
			"verl", "slime", "prime-rl", "openrlhf", "nemo-rl", "areal", "skyrl", "roll", "torchtitan", "telescope",
			"sglang", "sglang-router", "vllm", "nvml", "host_metrics", "github", "wandb", "skypilot", "pitwall",
		},
		versions:    regexp.MustCompile(`^\d+\.\d+\.\d+$`),
		metricUnits: regexp.MustCompile(`^(1|By|s|J|W|Hz|V|A|Cel|rpm|USD|\{[A-Za-z_]+\})(/(s|h|By|\{[A-Za-z_]+\}))*$`),
		tableUnits: regexp.MustCompile(`^(1|%|By|[kMGT]By|[KMGT]iBy|ns|us|ms|s|min|h|d|J|kJ|W\.h|kW\.h|W|kW|Hz|kHz|MHz|GHz|V|A|` +
			`Cel|rpm|USD|\{[A-Za-z_]+\})(/(s|min|h|d|By|\{[A-Za-z_]+\}))*$`),
	}
}

func (l *loader) fail(at Place, format string, args ...any) {
	l.errs = append(l.errs, failure{at, fmt.Errorf(format, args...)})
}

// claim reports whether key is new, and complains otherwise.
func (l *loader) claim(at Place, kind, key string) bool {
	if first, taken := l.places[kind+" "+key]; taken {
		l.fail(at, "%s %q is already defined at %s", kind, key, first)
		return false
	}
	l.places[kind+" "+key] = at
	return true
}

func (l *loader) addManifest(name string, text []byte) {
	var manifest rawManifest
	l.parse(name, text, &manifest)
	if !l.versions.MatchString(manifest.SemconvVersion) {
		l.fail(Place{name, 1}, "semconv_version %q is not a semantic version", manifest.SemconvVersion)
	}
	l.registry.Version, l.registry.BaseURL = manifest.SemconvVersion, manifest.SchemaBaseURL
}

func (l *loader) addAttributes(file string, g group) {
	if g.Type != "attribute_group" {
		return
	}
	for _, raw := range g.Attributes {
		at := Place{file, raw.line}
		if !l.name(at, "attribute id", raw.ID) || !l.claim(at, "attribute", raw.ID) {
			continue
		}
		a := &Attribute{
			Place: at, Name: raw.ID, Type: raw.Type.name, Brief: raw.Brief, Note: raw.Note, Stability: raw.Stability,
			Examples: raw.Examples, Since: raw.Annotations.Pitwall.Since, Deprecated: l.deprecated(raw.Deprecated, raw.Annotations),
		}
		switch {
		case a.Type == "":
			l.fail(at, "attribute %q has no type", a.Name)
		case !slices.Contains(l.types, a.Type):
			l.fail(at, "attribute %q: type %q is none of %v", a.Name, a.Type, l.types)
		case a.Type == "enum" && len(raw.Type.members) == 0:
			l.fail(at, "attribute %q: an enum without members", a.Name)
		}
		for _, m := range raw.Type.members {
			if m.Value == "" || a.Type == "enum" && a.allows(m.Value) {
				l.fail(at, "attribute %q: member %q has no value of its own", a.Name, m.ID)
			}
			a.Members = append(a.Members, Member{m.Value, m.Brief})
		}
		if len(raw.Annotations.Pitwall.Table) > 0 {
			l.fail(at, "attribute %q: only metrics have a table", a.Name)
		}
		l.brief(at, "attribute", a.Name, a.Brief)
		for _, s := range raw.Annotations.Pitwall.Sources {
			a.Sources = append(a.Sources, l.attributeSource(file, a, s))
		}
		l.attributes[a.Name] = a
		l.registry.Attributes = append(l.registry.Attributes, a)
	}
}

// name reports whether a name is one, and complains otherwise.
func (l *loader) name(at Place, what, name string) bool {
	if !isName(name) {
		l.fail(at, "%s %q is not a name", what, name)
		return false
	}
	return true
}

func (l *loader) brief(at Place, what, name, brief string) {
	if strings.TrimSpace(brief) == "" {
		l.fail(at, "%s %q has no brief", what, name)
	}
}

func (l *loader) unit(at Place, what, unit string, allowed *regexp.Regexp) bool {
	if allowed != nil && !allowed.MatchString(unit) || !schema.KnownUnit(unit) {
		l.fail(at, "%s: unknown unit %q", what, unit)
		return false
	}
	return true
}

// isName reports whether name is what the semantic conventions allow for metrics and attributes.
func isName(name string) bool {
	if name == "" || strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".") || strings.Contains(name, "..") {
		return false
	}
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_.") == ""
}

func isInt(text string) bool {
	return text != "" && strings.Trim(strings.TrimPrefix(text, "-"), "0123456789") == "" && text != "-"
}
