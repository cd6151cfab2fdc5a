package lint

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pitwall-otel/pitwall/schema"
)

// wildcard stands for what % of a LIKE matches; no name has it.
const wildcard = "\x01"

// Names are what the registry lets a query ask for.
type Names struct {
	metrics    map[string]bool // names in the table that are always the same
	templates  []*regexp.Regexp
	attributes map[string]bool
	events     map[string]bool
	apart      map[string][]string // attributes of gauges, by the name in the table
}

// NewNames reads them off the registry.
func NewNames(registry *schema.Registry) *Names { return newNames(registry, "") }

// Without are the names of a registry that calls one metric otherwise.
func Without(registry *schema.Registry, metric string) *Names { return newNames(registry, metric) }

func newNames(registry *schema.Registry, without string) *Names {
	n := &Names{metrics: map[string]bool{}, attributes: map[string]bool{}, events: map[string]bool{}, apart: map[string][]string{}}
	for _, a := range registry.Attributes() {
		n.attributes[a.Name] = true
	}
	for _, e := range registry.Events() {
		n.events[e.Name] = true
	}
	for _, m := range registry.Metrics() {
		if m.Name != without {
			n.addMetric(registry, m)
			n.addApart(m)
		}
	}
	for _, own := range []string{"le", "quantile"} { // which the exporter adds to rows of histograms and summaries
		n.attributes[own] = true
	}
	return n
}

func (n *Names) addMetric(registry *schema.Registry, m *schema.Metric) {
	suffixes := []string{""}
	if m.Instrument == "histogram" {
		suffixes = []string{".bucket", ".count", ".sum", ".min", ".max"}
	}
	own := true // a point that no rule names keeps the metric's own name
	for _, rule := range m.Table {
		always := len(rule.When) == 0
		for _, part := range rule.Name.Parts {
			always = always && part.Attribute == ""
		}
		own = own && !always
		n.addTemplate(registry, rule.Name, suffixes)
	}
	for _, suffix := range suffixes {
		if own {
			n.metrics[m.Name+suffix] = true
		}
	}
}

func (n *Names) addTemplate(registry *schema.Registry, template schema.Template, suffixes []string) {
	pattern, literal := "", true
	for _, part := range template.Parts {
		if part.Attribute == "" {
			pattern += regexp.QuoteMeta(part.Literal)
			continue
		}
		literal = false
		values := "[^" + wildcard + "]+"
		switch a := registry.Attribute(part.Attribute); {
		case a == nil:
		case len(a.Members) > 0:
			values = strings.Join(a.Members, "|")
		case a.Type == "int":
			values = "[0-9]+"
		}
		pattern += "(" + wildcard + "|" + values + ")"
	}
	for _, suffix := range suffixes {
		if literal {
			n.metrics[template.String()+suffix] = true
		} else {
			n.templates = append(n.templates, regexp.MustCompile("^"+pattern+regexp.QuoteMeta(suffix)+"$"))
		}
	}
}

func (n *Names) hasMetric(name string) bool {
	return n.metrics[name] || slices.ContainsFunc(n.templates, func(t *regexp.Regexp) bool { return t.MatchString(name) })
}

// What a query calls by name.
var (
	compared  = regexp.MustCompile(`\bmetric\s*(?:=|!=)\s*'([^']*)'`)
	matched   = regexp.MustCompile(`\bmetric\s+LIKE\s+'([^']*)'`)
	listed    = regexp.MustCompile(`\bmetric\s+IN\s*\(([^)]*)\)`)
	tagged    = regexp.MustCompile(`JSONExtract\w+\(tags_json, '([^']*)'`)
	keyed     = regexp.MustCompile(`\b(?:attributes|resource|LogAttributes|ResourceAttributes|SpanAttributes)\['([^']*)'\]`)
	happened  = regexp.MustCompile(`\bevent\s*=\s*'([^']*)'`)
	happening = regexp.MustCompile(`\bevent\s+IN\s*\(([^)]*)\)`)
	literal   = regexp.MustCompile(`'([^']*)'`)
)

// Reference is what a query calls by name: a metric, an attribute or an event.
type Reference struct{ File, Where, Kind, Name, SQL string }

// References are those of all queries of a dashboard.
func References(b *Board) []Reference {
	var all []Reference
	for _, s := range b.Statements() {
		add := func(kind string, names ...string) {
			for _, name := range names {
				all = append(all, Reference{b.File, s.Where, kind, name, s.SQL})
			}
		}
		add("metric", captured(compared, s.SQL)...)
		add("metric", inside(listed, s.SQL)...)
		for _, pattern := range captured(matched, s.SQL) {
			add("metric", strings.NewReplacer(`\\_`, "_", `\\%`, "%", "%", wildcard).Replace(pattern))
		}
		add("attribute", captured(tagged, s.SQL)...)
		add("attribute", captured(keyed, s.SQL)...)
		add("event", captured(happened, s.SQL)...)
		add("event", inside(happening, s.SQL)...)
	}
	return all
}

// Unknown returns the references to what the registry does not have.
func (n *Names) Unknown(references []Reference) []string {
	var unknown []string
	for _, r := range references {
		known := r.Kind == "metric" && n.hasMetric(r.Name) || r.Kind == "attribute" && n.attributes[r.Name] || r.Kind == "event" && n.events[r.Name]
		if !known {
			unknown = append(unknown, fmt.Sprintf("%s: %s: %s %q is not in the registry",
				r.File, r.Where, r.Kind, strings.ReplaceAll(r.Name, wildcard, "%")))
		}
	}
	return unknown
}

func captured(pattern *regexp.Regexp, sql string) []string {
	var found []string
	for _, m := range pattern.FindAllStringSubmatch(sql, -1) {
		found = append(found, m[1])
	}
	return found
}

// inside are the literals of a list.
func inside(pattern *regexp.Regexp, sql string) []string {
	var found []string
	for _, list := range captured(pattern, sql) {
		found = append(found, captured(literal, list)...)
	}
	return found
}
