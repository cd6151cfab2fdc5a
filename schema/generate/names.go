package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pitwall-otel/pitwall/schema"
)

// constants returns schema/names: every canonical name, and every name in the table, as a Go constant.
func constants(d schema.Definition) (map[string]string, error) {
	var attributes, metrics, spans, events, tables []constant
	for _, a := range d.Attributes {
		attributes = append(attributes, constant{"Attribute" + identifier(a.Name), a.Name, a.Brief})
	}
	for _, m := range d.Metrics {
		metrics = append(metrics, constant{identifier(m.Name), m.Name, m.Brief + " Unit: " + m.Unit + "."})
		for _, rule := range m.Table {
			comment := fmt.Sprintf("%s in the table, in %s.", identifier(m.Name), rule.Unit)
			tables = append(tables, constant{"Table" + identifier(rule.Name.String()), rule.Name.String(), comment})
		}
	}
	for _, s := range d.Spans {
		spans = append(spans, constant{"Span" + identifier(s.Name), s.Name, s.Brief})
	}
	for _, e := range d.Events {
		events = append(events, constant{"Event" + identifier(e.Name), e.Name, e.Brief})
	}
	files := map[string]string{}
	seen := map[string]string{}
	for _, part := range []struct {
		file, doc string
		constants []constant
	}{
		{"attributes", "Attributes.", attributes},
		{"metrics", "Metrics, by their canonical names: what travels through pipelines.", metrics},
		{"spans", "Spans; in training, phases.", spans},
		{"events", "Log events.", events},
		{"tables", "Names in metric_points that differ from the canonical ones. Braces hold an attribute's value.", tables},
	} {
		slices.SortFunc(part.constants, func(a, b constant) int { return strings.Compare(a.name, b.name) })
		var b strings.Builder
		fmt.Fprintf(&b, "%spackage names\n\n// %s\nconst (\n", generatedBy, part.doc)
		for _, c := range part.constants {
			if other, taken := seen[c.name]; taken {
				return nil, fmt.Errorf("%q and %q would both be the constant %s", other, c.value, c.name)
			}
			seen[c.name] = c.value
			fmt.Fprintf(&b, "\t// %s: %s\n\t%s = %q\n", c.name, c.comment, c.name, c.value)
		}
		b.WriteString(")\n")
		files["generated_"+part.file+".go"] = b.String()
	}
	return files, nil
}

type constant struct{ name, value, comment string }
