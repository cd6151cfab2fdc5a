package main

import (
	"strings"

	"github.com/pitwall-otel/pitwall/schema"
	"github.com/pitwall-otel/pitwall/schema/source"
)

// sources lists producers' names, one line per producer.
func sources(all []source.Source) string {
	var producers []string
	lines := map[string][]string{}
	for _, s := range all {
		producer := s.Producer
		if producer == "" {
			producer = "any"
		}
		if lines[producer] == nil {
			producers = append(producers, producer)
		}
		lines[producer] = append(lines[producer], sourceText(s))
	}
	return strings.Join(each(producers, func(p string) string { return p + ": " + strings.Join(lines[p], ", ") }), "<br>")
}

func sourceText(s source.Source) string {
	text := code(s.Name.String())
	var notes []string
	if s.Unit != "" && s.Scale != 1 {
		notes = append(notes, "in "+code(s.Unit))
	}
	if when := conditions(s.When); when != "" {
		notes = append(notes, "with "+when)
	}
	if set := conditions(s.Set); set != "" {
		notes = append(notes, "as "+set)
	}
	for _, c := range s.Captures {
		if listed := captured(c); listed != "" {
			notes = append(notes, listed)
		}
	}
	if s.Type != schema.AnyType {
		notes = append(notes, s.Type.String())
	}
	if s.Since != "" {
		notes = append(notes, "since "+s.Since)
	}
	if s.Until != "" {
		notes = append(notes, "until "+s.Until)
	}
	if s.Derived {
		notes = append(notes, "derived")
	}
	if s.Note != "" {
		notes = append(notes, s.Note)
	}
	if len(notes) > 0 {
		text += " (" + strings.Join(notes, ", ") + ")"
	}
	return text
}

// captured says what a place may hold where that is not simply any value of its attribute.
func captured(c source.Capture) string {
	if !c.Translated {
		return ""
	}
	return code(c.Attribute) + ": " + strings.Join(each(c.Values, func(v source.Pair) string {
		if v.Theirs == v.Ours {
			return code(v.Ours)
		}
		return code(v.Theirs) + " is " + code(v.Ours)
	}), ", ")
}

func conditions(all []schema.Condition) string {
	return strings.Join(each(all, func(c schema.Condition) string { return code(c.Attribute + "=" + c.Value) }), ", ")
}
