package schema

import (
	"fmt"
	"strings"
)

// Template is a table name with places for attribute values: "sys.disk.{system.filesystem.mountpoint}.percent".
type Template struct{ Parts []Part }

// Part is either literal text or, when Attribute is set, the place of that attribute's value.
type Part struct {
	Literal   string
	Attribute string
}

// ParseTemplate reads a template. Attribute names stand in braces; literal text has none.
func ParseTemplate(text string) (Template, error) {
	var t Template
	for rest := text; rest != ""; {
		literal, after, opened := strings.Cut(rest, "{")
		if strings.Contains(literal, "}") {
			return Template{}, fmt.Errorf("template %q: } without {", text)
		}
		if literal != "" {
			t.Parts = append(t.Parts, Part{Literal: literal})
		}
		if !opened {
			break
		}
		attribute, after, closed := strings.Cut(after, "}")
		if !closed {
			return Template{}, fmt.Errorf("template %q: { without }", text)
		}
		if !isName(attribute) {
			return Template{}, fmt.Errorf("template %q: %q is not an attribute name", text, attribute)
		}
		t.Parts = append(t.Parts, Part{Attribute: attribute})
		rest = after
	}
	if len(t.Parts) == 0 {
		return Template{}, fmt.Errorf("template %q is empty", text)
	}
	return t, nil
}

// String is the text that ParseTemplate read.
func (t Template) String() string {
	var b strings.Builder
	for _, part := range t.Parts {
		if part.Attribute != "" {
			b.WriteString("{" + part.Attribute + "}")
		} else {
			b.WriteString(part.Literal)
		}
	}
	return b.String()
}

// isName reports whether name is what the semantic conventions allow for metrics and attributes.
func isName(name string) bool {
	if name == "" || strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".") || strings.Contains(name, "..") {
		return false
	}
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_.") == ""
}
