package schemaprocessor

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/pitwall-otel/pitwall/schema"
)

// maxName is the longest name in bytes that is one; the exporter of points cuts there as well.
const maxName = 1 << 10

// plan is what one name of a producer means. Plans are shared by goroutines and never change.
type plan struct {
	// targets are tried in order; the last one takes every point.
	targets []*target
	// candidates are the producers that know a name which the registry does not, as bits.
	candidates uint64
	// foreignName says that the registry does not have the name as it came.
	foreignName bool
}

// target is what a point becomes: the canonical name, unit and attributes, and what is wrong with all its points.
type target struct {
	name, unit string
	// scale turns the wire's values into the registry's; 1 leaves them.
	scale float64
	when  []schema.Condition
	set   []schema.Assignment
	// given are the required attributes among set.
	given uint64
	// broken holds for all points; details say what was found.
	broken, hopeless rules
	details          map[rule]string
	// translated and upgraded say why the name is another one than on the wire.
	translated, upgraded bool
	unknown              bool
	attributes           *attributes
}

// compile makes the plan for a name. It is called for names that the cache does not have.
func (p *schemaProcessor) compile(q *question) *plan {
	v := p.vocabularies[q.producer][q.lineage]
	if !wellFormed(q.name) {
		t := &target{name: q.name, scale: 1, broken: 1 << badName, hopeless: 1 << badName, attributes: v.passing.attributes, unknown: true}
		t.detail(badName, "%q is not a name", clip(q.name))
		return &plan{targets: []*target{t}}
	}
	canonical := q.name
	if newName, ok := p.signal.renames(v.changes)[q.name]; ok {
		canonical = newName
	}
	owner := p.signal.owner(p.registry, canonical)
	result := &plan{foreignName: owner == nil}
	var mappings []schema.Mapping
	if owner == nil || q.lineage == foreign {
		mappings = p.mappings(q.producer, q.name, q.kind)
	}
	for i := range mappings {
		result.targets = append(result.targets, p.mapped(q, v, &mappings[i]))
		if len(mappings[i].When) == 0 {
			return result
		}
	}
	if owner != nil {
		t := &target{name: owner.Name, unit: owner.Unit, scale: 1, upgraded: canonical != q.name}
		t.attributes = v.of(p, owner)
		p.checkUnit(q, t, owner)
		p.checkInstrument(q, t, owner)
		result.targets = append(result.targets, t)
		return result
	}
	// Every unknown name shares one target: ten thousand of them cost their names.
	result.targets = append(result.targets, v.passing)
	result.candidates = p.candidates(q)
	p.unknown.see(q.name)
	return result
}

// detail says what broke a rule.
func (t *target) detail(r rule, format string, args ...any) {
	if t.details == nil {
		t.details = map[rule]string{}
	}
	t.details[r] = fmt.Sprintf(format, args...)
}

// mapped is the target of a producer's name. A unit on the wire that has a dimension is believed; a bare number is what the
// registry says that the producer sends.
func (p *schemaProcessor) mapped(q *question, v *vocabulary, m *schema.Mapping) *target {
	owner := ownerOf(m)
	t := &target{
		name: owner.Name, unit: owner.Unit, scale: m.Scale, when: m.When, set: m.Set,
		translated: owner.Name != q.name, attributes: v.of(p, owner),
	}
	for i := range m.Set {
		t.given |= t.attributes.bit(m.Set[i].Attribute.Name)
	}
	if _, pure := schema.Convert(q.unit, "1"); q.unit != "" && !pure {
		t.scale = 1
		p.checkUnit(q, t, owner)
	}
	p.checkInstrument(q, t, owner)
	return t
}

// checkUnit sets the scale, and breaks the rule where the wire's unit is not the registry's. A missing unit breaks nothing.
func (p *schemaProcessor) checkUnit(q *question, t *target, owner *schema.Metric) {
	if p.signal != metricsSignal || q.unit == owner.Unit || q.unit == "" {
		return
	}
	scale, ok := schema.Convert(q.unit, owner.Unit)
	if ok && scale == 1 {
		return
	}
	t.broken.add(wrongUnit)
	t.detail(wrongUnit, "%q, not %q", clip(q.unit), owner.Unit)
	switch {
	case !ok:
		t.hopeless.add(wrongUnit)
	case p.policy.action[wrongUnit] == coerce:
		t.scale = scale
	}
	if p.policy.of(wrongUnit, t.hopeless) == observe {
		t.unit = q.unit
	}
}

// checkInstrument breaks the rule where the wire has another instrument. What a producer sends as gauge is a gauge to most
// consumers, so by default this is only counted.
func (p *schemaProcessor) checkInstrument(q *question, t *target, owner *schema.Metric) {
	if p.signal != metricsSignal || q.kind.String() == owner.Instrument {
		return
	}
	t.broken.add(wrongInstrument)
	t.detail(wrongInstrument, "%s, not %s", q.kind, owner.Instrument)
}

// candidates are the producers that know a name. A word without a producer's "/" or ":", such as "loss", is anybody's unless the
// producer's own name is in front: a script's own loss in nat must not be taken for a framework's and quarantined for its unit.
func (p *schemaProcessor) candidates(q *question) uint64 {
	var found uint64
	if q.producer != 0 || p.signal != metricsSignal {
		return 0
	}
	plain := !strings.ContainsAny(q.name, "/:")
	for i := 1; i < len(p.vocabularies); i++ {
		if plain && !strings.HasPrefix(strings.TrimPrefix(q.name, rayPrefix), p.producers[i]+"_") {
			continue
		}
		if len(p.mappings(uint8(i), q.name, q.kind)) > 0 {
			found |= 1 << i
		}
	}
	return found
}

// rayPrefix is what Ray puts before the names of what runs in it.
const rayPrefix = "ray_"

// mappings are what a producer means by a name. Engines put "sglang:" and "vllm:" in front of theirs; a router, and OpenMetrics,
// make the colon an underscore, and Ray puts its own name before that.
func (p *schemaProcessor) mappings(producer uint8, name string, kind schema.SourceType) []schema.Mapping {
	profile := p.vocabularies[producer][foreign].profile
	found := p.signal.mappings(profile, name, kind)
	if len(found) > 0 || p.signal != metricsSignal {
		return found
	}
	prefix := p.producers[producer] + "_"
	if rest, ok := strings.CutPrefix(strings.TrimPrefix(name, rayPrefix), prefix); ok {
		return profile.Metric(p.producers[producer]+":"+rest, kind)
	}
	return nil
}

func wellFormed(name string) bool {
	return name != "" && len(name) <= maxName && utf8.ValidString(name) && strings.TrimSpace(name) != ""
}

// clip cuts text that goes into a reason or a log line.
func clip(text string) string {
	const most = 64
	if len(text) <= most {
		return strings.ToValidUTF8(text, "?")
	}
	return strings.ToValidUTF8(text[:most], "?") + "…"
}

// whole reports whether multiplying an integer by the scale gives an integer that fits.
func whole(value int64, scale float64) (int64, bool) {
	if scale != math.Trunc(scale) || scale < 1 || scale >= 1<<53 {
		return 0, false
	}
	factor := int64(scale)
	if product := value * factor; product/factor == value {
		return product, true
	}
	return 0, false
}
