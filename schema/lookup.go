package schema

import (
	"cmp"
	"fmt"
	"slices"
)

// current leaves of rules that share name, type and labels the one that a version of the producer means. Rules without
// versions share nothing: source has checked that.
func current(rules []Rule, version string) []Rule {
	type key struct {
		name, when string
		t          SourceType
	}
	best := map[key]int{}
	kept := make([]Rule, 0, len(rules))
	for _, rule := range rules {
		if rule.Since == "" && rule.Until == "" {
			kept = append(kept, rule)
			continue
		}
		k := key{rule.Name, fmt.Sprint(rule.When), rule.Type}
		i, taken := best[k]
		switch {
		case !taken:
			best[k] = len(kept)
			kept = append(kept, rule)
		case rule.newer(kept[i], version):
			kept[i] = rule
		}
	}
	return kept
}

func (r Rule) newer(other Rule, version string) bool {
	if version != "" && r.covers(version) != other.covers(version) {
		return r.covers(version)
	}
	return CompareVersions(r.Since, other.Since) > 0
}

func (r Rule) covers(version string) bool {
	return (r.Since == "" || CompareVersions(r.Since, version) <= 0) && (r.Until == "" || CompareVersions(version, r.Until) <= 0)
}

// maxName bounds the names that patterns are tried on: matching several captures takes a power of the length.
const maxName = 512

// lookup finds mappings by a producer's name.
type lookup struct {
	exact map[string]*byType
	// patterns are the names with captures, those with more literal text first.
	patterns []*pattern
}

// byType holds the mappings of one name.
type byType struct {
	any   []Mapping
	typed []typed
}

type typed struct {
	t        SourceType
	mappings []Mapping
}

func (n *lookup) find(name string, t SourceType) []Mapping {
	if found := n.exact[name]; found != nil {
		return found.of(t)
	}
	if len(name) > maxName {
		return nil
	}
	for _, p := range n.patterns {
		if captured, ok := p.match(name); ok {
			if mappings := p.of(t); mappings != nil {
				return withCaptured(mappings, p.attributes, captured)
			}
		}
	}
	return nil
}

func (b *byType) of(t SourceType) []Mapping {
	for i := range b.typed {
		if b.typed[i].t == t {
			return b.typed[i].mappings
		}
	}
	return b.any
}

func (b *byType) add(t SourceType, m Mapping) {
	if t == AnyType {
		b.any = append(b.any, m)
		return
	}
	i := slices.IndexFunc(b.typed, func(e typed) bool { return e.t == t })
	if i < 0 {
		i = len(b.typed)
		b.typed = append(b.typed, typed{t: t})
	}
	b.typed[i].mappings = append(b.typed[i].mappings, m)
}

func newLookup(r *Registry, rules []Rule, version string, target func(*Mapping, string) bool) (lookup, error) {
	n := lookup{exact: make(map[string]*byType, len(rules))}
	for _, rule := range current(rules, version) {
		m := Mapping{Scale: cmp.Or(rule.Scale, 1), When: rule.When}
		if !target(&m, rule.To) {
			return lookup{}, fmt.Errorf("%q becomes the unknown %q", rule.Name, rule.To)
		}
		for _, set := range rule.Set {
			a := r.attributes[set.Attribute]
			if a == nil {
				return lookup{}, fmt.Errorf("%q sets the unknown attribute %q", rule.Name, set.Attribute)
			}
			m.Set = append(m.Set, Assignment{a, set.Value})
		}
		if len(rule.Captures) == 0 {
			if n.exact[rule.Name] == nil {
				n.exact[rule.Name] = &byType{}
			}
			n.exact[rule.Name].add(rule.Type, m)
			continue
		}
		if err := n.addPattern(r, rule, m); err != nil {
			return lookup{}, err
		}
	}
	slices.SortStableFunc(n.patterns, func(a, b *pattern) int { return cmp.Compare(b.literal, a.literal) })
	return n, nil
}

func (n *lookup) addPattern(r *Registry, rule Rule, m Mapping) error {
	i := slices.IndexFunc(n.patterns, func(p *pattern) bool { return p.text == rule.Name && equal(p.captures, rule.Captures) })
	if i < 0 {
		p, err := newPattern(r, rule)
		if err != nil {
			return err
		}
		i = len(n.patterns)
		n.patterns = append(n.patterns, p)
	}
	n.patterns[i].add(rule.Type, m)
	return nil
}

// equal reports whether captures match the same texts.
func equal(a, b []Capture) bool {
	return slices.EqualFunc(a, b, func(a, b Capture) bool { return a.Digits == b.Digits && slices.Equal(a.Values, b.Values) })
}

func withCaptured(mappings []Mapping, attributes []*Attribute, captured []string) []Mapping {
	result := slices.Clone(mappings)
	for i := range result {
		set := slices.Clone(result[i].Set)
		for j, a := range attributes {
			set = append(set, Assignment{a, captured[j]})
		}
		result[i].Set = set
	}
	return result
}
