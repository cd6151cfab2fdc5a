package schema

import (
	"fmt"
	"strings"
)

// pattern is a producer's name with captures.
type pattern struct {
	byType
	name       Template
	captures   []Capture
	attributes []*Attribute
	// literal is the length of the literal text: the pattern with more of it is the better match.
	literal int
}

func newPattern(r *Registry, rule Rule) (pattern, error) {
	name, err := ParseTemplate(rule.Name)
	if err != nil {
		return pattern{}, err
	}
	p := pattern{name: name, captures: rule.Captures}
	for _, part := range name.Parts {
		p.literal += len(part.Literal)
		if part.Attribute == "" {
			continue
		}
		a := r.attributes[part.Attribute]
		if a == nil {
			return pattern{}, fmt.Errorf("%q captures the unknown attribute %q", rule.Name, part.Attribute)
		}
		p.attributes = append(p.attributes, a)
	}
	if len(p.attributes) != len(p.captures) {
		return pattern{}, fmt.Errorf("%q has %d captures and %d places for them", rule.Name, len(p.captures), len(p.attributes))
	}
	return p, nil
}

// match returns what the name has in the places of the pattern. A capture is as short as the rest of the pattern allows.
func (p *pattern) match(name string) ([]string, bool) {
	if first := p.name.Parts[0].Literal; !strings.HasPrefix(name, first) {
		return nil, false
	}
	captured := make([]string, 0, len(p.captures))
	return p.rest(p.name.Parts, name, captured)
}

// rest matches the parts against all of text.
func (p *pattern) rest(parts []Part, text string, captured []string) ([]string, bool) {
	if len(parts) == 0 {
		return captured, text == ""
	}
	if literal := parts[0].Literal; literal != "" {
		after, ok := strings.CutPrefix(text, literal)
		if !ok {
			return nil, false
		}
		return p.rest(parts[1:], after, captured)
	}
	digits := p.captures[len(captured)].Digits
	for end := 0; end < len(text); end++ {
		if text[end] == '/' || digits && (text[end] < '0' || text[end] > '9') {
			break
		}
		// Two captures never touch, so the literal behind says at once whether the rest is worth a try.
		if len(parts) > 1 && !strings.HasPrefix(text[end+1:], parts[1].Literal) {
			continue
		}
		if all, ok := p.rest(parts[1:], text[end+1:], append(captured, text[:end+1])); ok {
			return all, true
		}
	}
	return nil, false
}
