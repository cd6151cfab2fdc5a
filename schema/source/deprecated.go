package source

import "cmp"

func (l *loader) deprecated(raw *deprecated, a annotations) *Deprecated {
	if raw == nil {
		return nil
	}
	return &Deprecated{Reason: raw.Reason, RenamedTo: raw.RenamedTo, Note: raw.Note, In: a.Pitwall.DeprecatedIn}
}

// checkDeprecated follows the renames of each kind: they must lead to a name that stands, and keep unit and instrument.
func (l *loader) checkDeprecated() {
	attributes, metrics := map[string]named{}, map[string]named{}
	for _, a := range l.registry.Attributes {
		attributes[a.Name] = named{a.Place, a.Deprecated, a.Since, a.Type}
	}
	for _, m := range l.registry.Metrics {
		metrics[m.Name] = named{m.Place, m.Deprecated, m.Since, m.Instrument + " in " + m.Unit}
	}
	of := func(groups []*Group) map[string]named {
		names := map[string]named{}
		for _, g := range groups {
			names[g.Name] = named{g.Place, g.Deprecated, g.Since, ""}
		}
		return names
	}
	l.checkRenames("attribute", attributes)
	l.checkRenames("metric", metrics)
	l.checkRenames("entity", of(l.registry.Entities))
	l.checkRenames("span", of(l.registry.Spans))
	l.checkRenames("event", of(l.registry.Events))
}

type named struct {
	Place
	*Deprecated
	since string
	// kind is what a rename may not change.
	kind string
}

func (l *loader) checkRenames(what string, names map[string]named) {
	for name, n := range names {
		d := n.Deprecated
		if d == nil {
			continue
		}
		if d.In != "" && !l.versions.MatchString(d.In) {
			l.fail(n.Place, "%s %q: deprecated_in %q is not a version of the registry", what, name, d.In)
		}
		if (d.Reason == "renamed") != (d.RenamedTo != "") {
			l.fail(n.Place, "%s %q: deprecated: renamed_to goes with reason: renamed", what, name)
		}
		if d.Reason == "" {
			l.fail(n.Place, "%s %q: deprecated without reason", what, name)
		}
		if d.RenamedTo == "" {
			continue
		}
		to, known := names[d.RenamedTo]
		if !known {
			l.fail(n.Place, "%s %q: renamed_to %q, which does not exist", what, name, d.RenamedTo)
			continue
		}
		if to.kind != n.kind {
			l.fail(n.Place, "%s %q: a rename changes nothing else: %q is a %s, this a %s", what, name, d.RenamedTo, to.kind, n.kind)
		}
		if d.In = cmp.Or(d.In, to.since); d.In == "" {
			l.fail(n.Place, "%s %q: deprecated_in is missing, and %q does not say since when it is", what, name, d.RenamedTo)
		}
		for seen, at := map[string]bool{name: true}, to; at.Deprecated != nil && at.RenamedTo != ""; at = names[at.RenamedTo] {
			if seen[at.RenamedTo] {
				l.fail(n.Place, "%s %q: its renames go in a circle", what, name)
				break
			}
			seen[at.RenamedTo] = true
		}
	}
}
