package points

import (
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/pitwall-otel/pitwall/schema"
)

// resolveName finds the table's name, unit and scale for the point whose attributes were just read. Attributes that a
// rule asks for are taken: the name says what they said. Of a quarantined point it is in doubt whether it is what the
// registry knows under its name, so it stays as it came.
func (e *Encoder) resolveName(p *point) {
	p.name, p.unitName, p.scale = p.naming.plain, p.unit, 1
	if e.resource.quarantined {
		return
	}
	for i := range p.naming.rules {
		r := &p.naming.rules[i]
		if !e.matches(r) {
			continue
		}
		p.unitName, p.scale = r.unit, r.Scale
		if r.name != nil {
			p.name = r.name
		} else {
			p.name = e.compose(r.Name)
		}
		return
	}
}

// matches reports whether the point has what the rule asks for, and takes those attributes if so.
func (e *Encoder) matches(r *rule) bool {
	for _, condition := range r.When {
		a := e.find(condition.Attribute)
		if a == nil || textOf(a.value) != condition.Value {
			return false
		}
	}
	for _, part := range r.Name.Parts {
		if part.Attribute != "" && e.find(part.Attribute) == nil {
			return false
		}
	}
	for _, condition := range r.When {
		e.find(condition.Attribute).taken = true
	}
	for _, part := range r.Name.Parts {
		if part.Attribute != "" {
			e.find(part.Attribute).taken = true
		}
	}
	return true
}

func (e *Encoder) find(key string) *attribute {
	for i := range e.attributes {
		if e.attributes[i].key == key {
			return &e.attributes[i]
		}
	}
	return nil
}

func (e *Encoder) compose(template schema.Template) *symbol {
	e.name = e.name[:0]
	for _, part := range template.Parts {
		if part.Attribute == "" {
			e.name = append(e.name, part.Literal...)
		} else {
			e.name = append(e.name, textOf(e.find(part.Attribute).value)...)
		}
	}
	return e.symbolBytes(e.name)
}

// suffixed returns the name of one of the rows that a histogram or summary becomes.
func (e *Encoder) suffixed(name *symbol, suffix string) *symbol {
	e.name = append(append(e.name[:0], name.text...), suffix...)
	return e.symbolBytes(e.name)
}

// textOf is Value.AsString without its cost for strings.
func textOf(v pcommon.Value) string {
	if v.Type() == pcommon.ValueTypeStr {
		return v.Str()
	}
	return v.AsString()
}
