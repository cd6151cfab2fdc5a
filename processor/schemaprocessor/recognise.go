package schemaprocessor

import (
	"math/bits"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/pitwall-otel/pitwall/schema"
	"github.com/pitwall-otel/pitwall/schema/names"
)

// sample is how many names of a scope decide whose they are, at most.
const sample = 64

// named returns the producer that a scope, its service, its system or the configuration names, as an index; false when
// none does.
func (p *schemaProcessor) named(scope string, resource pcommon.Map) (uint8, bool) {
	service := text(resource, names.AttributeServiceName)
	for i := range p.rules {
		if r := &p.rules[i]; r.fits(scope, service, resource) {
			return r.producer, true
		}
	}
	for _, name := range [...]string{scope, service, text(resource, names.AttributeRLSystem)} {
		if i, ok := p.indexes[name]; ok {
			return i, true
		}
	}
	return 0, false
}

// producerRule is a ProducerConfig with the producer found.
type producerRule struct {
	ProducerConfig
	producer uint8
}

func (r *producerRule) fits(scope, service string, resource pcommon.Map) bool {
	if r.Scope != "" && !glob(r.Scope, scope) || r.Service != "" && !glob(r.Service, service) {
		return false
	}
	if r.Attribute == "" {
		return true
	}
	v, ok := resource.Get(r.Attribute)
	return ok && glob(r.Value, v.AsString())
}

// glob matches text with a pattern in which "*" stands for any text.
func glob(pattern, text string) bool {
	literal, rest, more := strings.Cut(pattern, "*")
	if !more {
		return pattern == text
	}
	text, ok := strings.CutPrefix(text, literal)
	if !ok {
		return false
	}
	// The shortest text for each "*" but the last leaves most for those behind it.
	for {
		literal, rest, more = strings.Cut(rest, "*")
		if !more {
			return strings.HasSuffix(text, literal)
		}
		i := strings.Index(text, literal)
		if i < 0 {
			return false
		}
		text = text[i+len(literal):]
	}
}

// vote counts the producers that know the names of a scope.
type vote struct {
	foreign int
	votes   [64]int
}

func (v *vote) add(plan *plan) {
	if !plan.foreignName {
		return
	}
	v.foreign++
	for rest := plan.candidates; rest != 0; rest &= rest - 1 {
		v.votes[bits.TrailingZeros64(rest)]++
	}
}

// winner is the one producer that knows most of the names that are not the registry's, and at least half of them: a name such
// as "reward" alone says nothing. It is 0 without one.
func (v *vote) winner() uint8 {
	best, tie := 0, false
	for i, n := range v.votes {
		switch {
		case n > v.votes[best]:
			best, tie = i, false
		case n == v.votes[best] && i != best:
			tie = true
		}
	}
	if n := v.votes[best]; n == 0 || tie || 2*n < v.foreign {
		return 0
	}
	return uint8(best)
}

// plan returns what a name means, from the cache if it is there.
func (p *schemaProcessor) plan(producer uint8, l lineage, kind schema.SourceType, name, unit string) *plan {
	q := question{producer, l, kind, name, unit}
	if found := p.cache.get(&q); found != nil {
		return found
	}
	compiled := p.compile(&q)
	if len(name) <= maxName && len(unit) <= maxName {
		p.cache.put(&q, compiled)
	}
	return compiled
}

func text(m pcommon.Map, key string) string {
	if v, ok := m.Get(key); ok && v.Type() == pcommon.ValueTypeStr {
		return v.Str()
	}
	return ""
}
