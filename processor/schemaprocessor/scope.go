package schemaprocessor

import (
	"math/bits"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/pitwall-otel/pitwall/schema/names"
)

// scope is one instrumentation scope of a request while it is worked on.
type scope struct {
	*schemaProcessor
	request    *request
	origin     origin
	producer   uint8
	vocabulary *vocabulary
	// resource and attributes are where identity and required attributes may stand instead of on the item.
	resource, attributes pcommon.Map
	name, service        string
	tally                tally
	reasons              int
	// room is an empty value.
	room  pcommon.Value
	hints hints
}

// request is what one request leaves behind for the log.
type request struct{ offences map[offence]uint64 }

// newScope finds out where a scope's data comes from. A producer that nothing names is left to the caller.
func (p *schemaProcessor) newScope(r *request, s pcommon.InstrumentationScope, scopeURL, resourceURL string, resource pcommon.Map) (*scope, bool) {
	of := &scope{
		schemaProcessor: p, request: r, resource: resource, attributes: s.Attributes(),
		room: pcommon.NewValueEmpty(), name: s.Name(), service: text(resource, names.AttributeServiceName),
		origin: p.origins.of(scopeURL, resourceURL, s.Attributes(), resource),
	}
	producer, named := p.named(of.name, resource)
	of.from(producer)
	return of, named
}

// from sets whose names the scope uses.
func (s *scope) from(producer uint8) {
	s.producer = producer
	s.vocabulary = s.vocabularies[producer][s.origin.lineage]
}

// close writes what happened in the scope into the counts, and the version that the data had on the scope.
func (s *scope) close() {
	s.ledger.of(s.producer, s.origin).add(&s.tally)
}

// mark says on a scope which version its data had, where that is another than ours.
func (s *scope) mark() {
	if version := s.origin.version; version != s.registry.Version() {
		if _, there := s.attributes.Get(names.AttributeRLSchemaSourceVersion); !there {
			s.attributes.PutStr(names.AttributeRLSchemaSourceVersion, version)
		}
	}
	if _, there := s.attributes.Get(names.AttributeRLSchemaVersion); there {
		s.attributes.PutStr(names.AttributeRLSchemaVersion, s.registry.Version())
	}
}

// version judges the version of the whole scope: what becomes of its n items, each of which broke the rule.
func (s *scope) version(n int) action {
	if s.origin.lineage != alien {
		return observe
	}
	a := s.policy.action[unknownVersion]
	s.found(unknownVersion, a, uint64(n), s.name)
	s.set(a, n)
	return a
}

// set counts n items that do not go on.
func (s *scope) set(a action, n int) {
	switch a {
	case quarantine:
		s.tally.quarantined += uint64(n)
	case reject:
		s.tally.rejected += uint64(n)
	default:
		return
	}
	s.tally.checked += uint64(n)
}

// findings are the rules that the items of one name broke.
type findings struct {
	broken, hopeless [ruleCount]uint64
	any              bool
	// around are the required attributes on scope and resource, once they were asked for.
	around uint64
	asked  bool
}

// judge says what becomes of one item.
func (s *scope) judge(t *target, on pcommon.Map, f *findings) (action, verdict) {
	v := t.inspect(on, &s.hints)
	if t.attributes.all&^v.seen != 0 {
		t.missing(&v, s.surroundings(t, f))
	}
	v.broken |= t.broken
	v.hopeless |= t.hopeless
	if v.broken == 0 {
		return observe, v
	}
	f.any = true
	for rest := v.broken; rest != 0; rest &= rest - 1 {
		r := rule(bits.TrailingZeros16(uint16(rest)))
		if v.hopeless.has(r) {
			f.hopeless[r]++
		} else {
			f.broken[r]++
		}
	}
	return s.policy.decide(v.broken, v.hopeless), v
}

// surroundings are the required attributes that scope or resource have.
func (s *scope) surroundings(t *target, f *findings) uint64 {
	if f.asked {
		return f.around
	}
	for i, key := range t.attributes.required {
		for _, on := range [...]pcommon.Map{s.attributes, s.resource} {
			if _, ok := on.Get(key); ok {
				f.around |= 1 << i
			}
		}
	}
	f.asked = true
	return f.around
}

// count takes the findings about the items of one name.
func (s *scope) count(f *findings, name string) {
	if !f.any {
		return
	}
	for r := range ruleCount {
		if n := f.broken[r]; n > 0 {
			s.found(r, s.policy.of(r, 0), n, name)
		}
		if n := f.hopeless[r]; n > 0 {
			s.found(r, s.policy.of(r, 1<<r), n, name)
		}
	}
}

func (s *scope) found(r rule, a action, n uint64, name string) {
	s.tally.found(r, a, n)
	who := offence{r, a, clip(name), clip(s.name), clip(s.service)}
	if s.request.offences == nil {
		s.request.offences = map[offence]uint64{}
	}
	if _, known := s.request.offences[who]; known || len(s.request.offences) < maxOffenders {
		s.request.offences[who] += n
	}
}

// maxReasons is how many different reasons one scope may have; each costs a copy of the resource.
const maxReasons = 16

// why says why an item is set apart.
func (s *scope) why(t *target, v verdict, on pcommon.Map, f *findings) cause {
	r := s.policy.cause(v.broken, v.hopeless, quarantine)
	if s.reasons >= maxReasons {
		return cause{rule: r}
	}
	return cause{r, t.explain(r, on, s.surroundings(t, f))}
}

// done counts n items that go on as the target says.
func (s *scope) done(t *target, n int) {
	s.tally.checked += uint64(n)
	if t.translated {
		s.tally.translated += uint64(n)
	}
	if t.upgraded {
		s.tally.upgraded += uint64(n)
	}
	if t.scale != 1 {
		s.tally.converted += uint64(n)
	}
}

// target is the one of a plan that is for an item.
func (p *plan) target(on pcommon.Map) *target {
	for _, t := range p.targets {
		if t.holds(on) {
			return t
		}
	}
	return p.targets[len(p.targets)-1]
}

// identify gives a resource's attributes their canonical keys and types, in the words of the scope's producer. done are the
// producers for which that has been done, as bits.
func (s *scope) identify(done *uint64) {
	if *done&(1<<s.producer) != 0 {
		return
	}
	*done |= 1 << s.producer
	t := s.vocabulary.plain
	v := t.inspect(s.resource, &s.hints)
	if v.broken != 0 {
		for r := range ruleCount {
			if v.broken.has(r) && s.policy.of(r, v.hopeless) < quarantine {
				s.found(r, s.policy.of(r, v.hopeless), 1, "resource")
			} else if v.broken.has(r) {
				// Nothing is set apart for its resource: what does not fit stays as it is.
				s.found(r, observe, 1, "resource")
			}
		}
	}
	if v.change {
		t.apply(s.resource, s.policy.fitsTypes(), s.room)
	}
}

// schemaURL is what a resource's schema URL becomes: ours, unless it is of another family.
func (p *schemaProcessor) schemaURL(came string) string {
	if _, ours := p.registry.VersionOf(came); ours || came == "" {
		return p.registry.SchemaURL()
	}
	return came
}
