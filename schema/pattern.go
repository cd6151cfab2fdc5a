package schema

import (
	"fmt"
	"strings"
)

// pattern is a producer's name with captures.
type pattern struct {
	byType
	text       string
	parts      []Part
	captures   []Capture
	attributes []*Attribute
	// literal is the length of the text that is certain: the pattern with more of it is the better match.
	literal int
}

func newPattern(r *Registry, rule Rule) (*pattern, error) {
	name, err := ParseTemplate(rule.Name)
	if err != nil {
		return nil, err
	}
	p := &pattern{text: rule.Name, parts: name.Parts, captures: rule.Captures}
	for _, part := range name.Parts {
		p.literal += len(part.Literal)
		if part.Attribute == "" {
			continue
		}
		a := r.attributes[part.Attribute]
		if a == nil {
			return nil, fmt.Errorf("%q captures the unknown attribute %q", rule.Name, part.Attribute)
		}
		p.attributes = append(p.attributes, a)
	}
	if len(p.attributes) != len(p.captures) {
		return nil, fmt.Errorf("%q has %d captures and %d places for them", rule.Name, len(p.captures), len(p.attributes))
	}
	for _, c := range p.captures {
		p.literal += c.shortest()
	}
	return p, nil
}

// shortest is the length of the shortest of the capture's values, 0 when it has none.
func (c Capture) shortest() int {
	if len(c.Values) == 0 {
		return 0
	}
	n := len(c.Values[0].Theirs)
	for _, v := range c.Values {
		n = min(n, len(v.Theirs))
	}
	return n
}

// match returns what the name has in the places of the pattern, in our words. A capture is as short as the rest of the
// pattern allows.
func (p *pattern) match(name string) ([]string, bool) {
	// Most patterns end here, before anything is allocated.
	if last := p.parts[len(p.parts)-1].Literal; !strings.HasPrefix(name, p.parts[0].Literal) || !strings.HasSuffix(name, last) {
		return nil, false
	}
	captured := make([]string, len(p.captures))
	return captured, p.rest(p.parts, name, captured, 0)
}

// rest matches the parts against all of text. n counts the captures before them.
func (p *pattern) rest(parts []Part, text string, captured []string, n int) bool {
	if len(parts) == 0 {
		return text == ""
	}
	if literal := parts[0].Literal; literal != "" {
		after, ok := strings.CutPrefix(text, literal)
		return ok && p.rest(parts[1:], after, captured, n)
	}
	capture := p.captures[n]
	for _, v := range capture.Values {
		if after, ok := strings.CutPrefix(text, v.Theirs); ok && p.rest(parts[1:], after, captured, n+1) {
			captured[n] = v.Ours
			return true
		}
	}
	if len(capture.Values) > 0 {
		return false
	}
	for end := range len(text) {
		if text[end] == '/' || capture.Digits && (text[end] < '0' || text[end] > '9') {
			return false
		}
		// Two captures never touch, so the literal behind says at once whether the rest is worth a try.
		if len(parts) > 1 && !strings.HasPrefix(text[end+1:], parts[1].Literal) {
			continue
		}
		if p.rest(parts[1:], text[end+1:], captured, n+1) {
			captured[n] = text[:end+1]
			return true
		}
	}
	return false
}
