package schemaprocessor

import (
	"fmt"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// verdict is what is wrong with one item and whether anything about its attributes has to change.
type verdict struct {
	broken, hopeless rules
	// seen are the required attributes that the item has itself, or is given.
	seen   uint64
	change bool
}

// inspect looks at an item's attributes without changing them, so that what is set apart stays as it came.
func (t *target) inspect(on pcommon.Map, h *hints) verdict {
	var v verdict
	h.reset(t.attributes)
	i := 0
	v.change = len(t.set)+len(t.when) > 0
	v.seen = t.given
	for key, value := range on.All() {
		a := h.of(i, key)
		i++
		if len(t.when) > 0 && t.consumes(key) {
			continue
		}
		v.seen |= a.required
		v.broken |= a.broken
		v.change = v.change || a.aliased()
		if !a.kind.is(value.Type()) {
			v.ofKind(a, value)
		} else if a.members != nil || a.mapping != nil {
			v.value(a, value)
		}
	}
	return v
}

// ofKind judges a value of another type.
func (v *verdict) ofKind(a *attribute, value pcommon.Value) {
	fits := a.kind.fits(value)
	if a.timid && !fits {
		v.seen &^= a.required
		return
	}
	v.change = true
	if a.kind.absent(value) {
		v.seen &^= a.required
		return
	}
	v.broken.add(wrongType)
	if !fits {
		v.hopeless.add(wrongType)
	}
}

// value judges a value that is one of several, or has another name with the producer.
func (v *verdict) value(a *attribute, value pcommon.Value) {
	if value.Type() != pcommon.ValueTypeStr {
		return
	}
	text := value.Str()
	if a.mapping != nil {
		ours, ok := a.mapping.Value(text)
		if !ok {
			v.broken.add(unknownValue)
			return
		}
		v.change = v.change || ours != text
		text = ours
	}
	if a.members == nil {
		return
	}
	if _, ok := a.members[text]; !ok {
		v.broken.add(unknownValue)
	}
}

// consumes reports whether the target was chosen by that key.
func (t *target) consumes(key string) bool {
	for i := range t.when {
		if t.when[i].Attribute == key {
			return true
		}
	}
	return false
}

// holds reports whether an item has the labels that the target is for.
func (t *target) holds(on pcommon.Map) bool {
	for i := range t.when {
		v, ok := on.Get(t.when[i].Attribute)
		if !ok || v.AsString() != t.when[i].Value {
			return false
		}
	}
	return true
}

// missing adds what is neither on the item nor, as surroundings says, on its scope or resource.
func (t *target) missing(v *verdict, surroundings uint64) {
	absent := t.attributes.all &^ (v.seen | surroundings)
	if absent&t.attributes.identity != 0 {
		v.broken.add(missingIdentity)
		v.hopeless.add(missingIdentity)
	}
	if absent&^t.attributes.identity != 0 {
		v.broken.add(missingAttribute)
		v.hopeless.add(missingAttribute)
	}
}

// explain says what broke a rule, for the reason of a quarantine.
func (t *target) explain(r rule, on pcommon.Map, surroundings uint64) string {
	switch r {
	case wrongType, unknownValue, unknownAttribute:
		for key, value := range on.All() {
			a := t.attributes.of(key)
			var v verdict
			v.broken = a.broken
			if !a.kind.is(value.Type()) {
				v.ofKind(a, value)
			} else {
				v.value(a, value)
			}
			if v.broken.has(r) {
				return fmt.Sprintf("%s = %q", clip(key), clip(value.AsString()))
			}
		}
	case missingAttribute, missingIdentity:
		v := t.inspect(on, &hints{})
		absent := t.attributes.all &^ (v.seen | surroundings)
		for i, key := range t.attributes.required {
			if bit := uint64(1) << i; absent&bit != 0 && (r == missingIdentity) == (t.attributes.identity&bit != 0) {
				return key
			}
		}
	default:
	}
	return t.details[r]
}
