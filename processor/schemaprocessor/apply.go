package schemaprocessor

import (
	"cmp"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/pitwall-otel/pitwall/schema"
)

// apply gives an item's attributes their canonical keys, types and values. types says whether types are to be made to fit.
func (t *target) apply(on pcommon.Map, types bool, room pcommon.Value) {
	for i := range t.when {
		on.Remove(t.when[i].Attribute)
	}
	t.attributes.apply(on, types, room)
	if len(t.set) > 0 {
		on.EnsureCapacity(on.Len() + len(t.set))
	}
	for i := range t.set {
		put(on, &t.set[i])
	}
}

func (a *attributes) apply(on pcommon.Map, types bool, room pcommon.Value) {
	var few [8]*attribute
	aliases, empty := few[:0], false
	for key, value := range on.All() {
		meaning := a.of(key)
		if !meaning.kind.is(value.Type()) {
			fits := meaning.kind.fits(value)
			if meaning.timid && !fits {
				continue
			}
			if meaning.kind.absent(value) {
				empty = true
				continue
			}
			if types && fits {
				meaning.kind.convert(value)
			}
		}
		if meaning.mapping != nil && value.Type() == pcommon.ValueTypeStr {
			if ours, ok := meaning.mapping.Value(value.Str()); ok && ours != value.Str() {
				value.SetStr(ours)
			}
		}
		if meaning.aliased() {
			aliases = append(aliases, meaning)
		}
	}
	if empty {
		on.RemoveIf(func(key string, value pcommon.Value) bool { m := a.of(key); return !m.timid && m.kind.absent(value) })
	}
	if len(aliases) > 1 {
		slices.SortStableFunc(aliases, func(x, y *attribute) int { return cmp.Compare(x.preference, y.preference) })
	}
	for _, alias := range aliases {
		rename(on, alias, room)
	}
}

// rename gives the value of an alias to the key that it stands for. Where that key is taken, an alias that says the same is
// left out, and one that says something else stays to be seen. room is an empty value to move values through.
func rename(on pcommon.Map, alias *attribute, room pcommon.Value) {
	value, ok := on.Get(alias.key)
	if !ok {
		return
	}
	if taken, ok := on.Get(alias.to); ok {
		if !alias.keep && taken.Equal(value) {
			on.Remove(alias.key)
		}
		return
	}
	if alias.keep {
		value.CopyTo(room)
	} else {
		// Removing first makes room in the map, so that it need not grow.
		value.MoveTo(room)
		on.Remove(alias.key)
	}
	room.MoveTo(on.PutEmpty(alias.to))
}

// put stores an assignment as the attribute's type says.
func put(on pcommon.Map, s *schema.Assignment) {
	on.PutStr(s.Attribute.Name, s.Value)
	if k := kindOf(s.Attribute.Type); k != stringKind {
		value, _ := on.Get(s.Attribute.Name)
		k.convert(value)
	}
}
