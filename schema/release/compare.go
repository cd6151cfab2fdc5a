package release

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pitwall-otel/pitwall/schema"
)

// Level is how far a change moves the version.
type Level int

// Patch changes words, Minor adds, Major takes away or gives another meaning.
const (
	Patch Level = iota
	Minor
	Major
)

func (l Level) String() string {
	switch l {
	case Major:
		return "major"
	case Minor:
		return "minor"
	case Patch:
	}
	return "patch"
}

// Change is one difference, in words.
type Change struct {
	Level Level
	Text  string
}

// Compare returns what a registry changes in a release, kind by kind and sorted by name.
func Compare(old, now *Release) []Change {
	var changes []Change
	for _, kind := range []struct {
		name     string
		old, now map[string]Item
	}{
		{"attribute", old.Attributes, now.Attributes},
		{"entity", old.Entities, now.Entities},
		{"metric", old.Metrics, now.Metrics},
		{"span", old.Spans, now.Spans},
		{"event", old.Events, now.Events},
	} {
		both := maps.Clone(kind.old)
		if both == nil {
			both = map[string]Item{}
		}
		maps.Copy(both, kind.now)
		for _, name := range slices.Sorted(maps.Keys(both)) {
			before, was := kind.old[name]
			after, is := kind.now[name]
			c := comparison{what: kind.name + " " + name}
			switch {
			case !was:
				c.add(Minor, "is new")
			case !is && before.Deprecated == "":
				c.add(Major, "is gone and was never superseded: keep it and mark it deprecated")
			case !is:
				c.add(Major, "is gone; it was %s", before.Deprecated)
			default:
				c.item(before, after)
			}
			changes = append(changes, c.changes...)
		}
	}
	return changes
}

// Check returns what of the changes the registry may not do under its version: nil is a registry that keeps the promise.
func Check(old, now *Release, changes []Change) []string {
	moved := Patch
	oldParts, nowParts := strings.Split(old.Version, "."), strings.Split(now.Version, ".")
	switch {
	case schema.CompareVersions(now.Version, old.Version) < 0:
		return []string{fmt.Sprintf("version %s is older than the released %s", now.Version, old.Version)}
	case oldParts[0] != nowParts[0]:
		moved = Major
	case oldParts[1] != nowParts[1]:
		moved = Minor
	}
	var faults []string
	for _, c := range changes {
		if c.Level > moved {
			faults = append(faults, fmt.Sprintf("%s: that is a %s change, and the version went from %s to %s only", c.Text, c.Level, old.Version, now.Version))
		}
	}
	return faults
}

type comparison struct {
	what    string
	changes []Change
}

func (c *comparison) add(level Level, format string, args ...any) {
	c.changes = append(c.changes, Change{level, c.what + " " + fmt.Sprintf(format, args...)})
}

func (c *comparison) item(before, after Item) {
	c.text("type", before.Type, after.Type, Major)
	c.text("instrument", before.Instrument, after.Instrument, Major)
	c.text("unit", before.Unit, after.Unit, Major)
	for _, member := range before.Members {
		if !slices.Contains(after.Members, member) {
			c.add(Major, "no longer has the value %q", member)
		}
	}
	for _, member := range after.Members {
		if !slices.Contains(before.Members, member) {
			c.add(Minor, "has the new value %q", member)
		}
	}
	c.attributes(before.Attributes, after.Attributes)
	if !slices.Equal(before.Table, after.Table) {
		c.add(Major, "stands in the table as [%s], before as [%s]", strings.Join(after.Table, "; "), strings.Join(before.Table, "; "))
	}
	if before.Deprecated != after.Deprecated {
		switch {
		case after.Deprecated == "":
			c.add(Minor, "is no longer superseded")
		case before.Deprecated == "":
			c.add(Minor, "is superseded: %s", after.Deprecated)
		default:
			c.add(Major, "was %s and is now %s", before.Deprecated, after.Deprecated)
		}
	}
	c.text("brief", before.Brief, after.Brief, Patch)
}

func (c *comparison) text(what, before, after string, level Level) {
	if before != after {
		c.add(level, "has another %s: %q, before %q", what, after, before)
	}
}

func (c *comparison) attributes(before, after map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(before)) {
		now, is := after[name]
		switch {
		case !is:
			c.add(Major, "no longer has the attribute %s", name)
		case now != before[name] && (demanding(now) || demanding(before[name])):
			c.add(Major, "has the attribute %s as %q, before %q", name, now, before[name])
		case now != before[name]:
			c.add(Minor, "has the attribute %s as %q, before %q", name, now, before[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if _, was := before[name]; was {
			continue
		}
		if demanding(after[name]) {
			c.add(Major, "demands the new attribute %s", name)
		} else {
			c.add(Minor, "has the new attribute %s", name)
		}
	}
}

// demanding reports whether a point or resource is incomplete, or another one, without an attribute used like that.
func demanding(use string) bool {
	return strings.HasSuffix(use, "required") && !strings.HasSuffix(use, "conditionally_required") || strings.HasPrefix(use, "identifying")
}
