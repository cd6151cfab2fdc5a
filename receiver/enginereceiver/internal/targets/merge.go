package targets

import (
	"cmp"
	"slices"
	"strings"
)

// Merge puts lists together, one target for each endpoint, sorted by name. Of several that name one endpoint the first
// list's wins, and attributes and a kind that it lacks come from the others: a router lists the engine, a file says the
// run. At most limit targets are returned; those of later lists are left out first, and counted.
func Merge(limit int, lists ...[]Target) (merged []Target, leftOut int) {
	at := map[string]int{}
	for _, list := range lists {
		for i := range list {
			t := &list[i]
			if place, found := at[t.Name]; found {
				if place >= 0 {
					merged[place].complete(t)
				}
				continue
			}
			if len(merged) >= limit {
				leftOut++
				at[t.Name] = -1
				continue
			}
			at[t.Name] = len(merged)
			merged = append(merged, *t)
		}
	}
	slices.SortFunc(merged, func(a, b Target) int { return strings.Compare(a.Name, b.Name) })
	return merged, leftOut
}

func (t *Target) complete(other *Target) {
	if t.Kind == KindAuto {
		t.Kind = other.Kind
	}
	for _, a := range other.Attributes {
		i, found := slices.BinarySearchFunc(t.Attributes, a.Key, func(b Attribute, key string) int { return cmp.Compare(b.Key, key) })
		if !found {
			// Clip: the list may be shared with the source's own copy.
			t.Attributes = slices.Insert(slices.Clip(t.Attributes), i, a)
		}
	}
}
