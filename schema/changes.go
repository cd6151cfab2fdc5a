package schema

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// Changes are the names to replace in data of one version of the schema so that it follows another. Names never come back
// with another meaning, so a name that was superseded before From is replaced as well: producers may keep it for a while.
type Changes struct {
	// From and To are versions; From is "0" for data that names none.
	From, To string
	// Newer says that the data is of a newer minor version: there is nothing to replace, and names may be unknown.
	Newer bool
	// Each maps an old name to its new one, over all the renames between them.
	Metrics, Attributes, Spans, Events map[string]string

	reversed *Changes
}

// VersionError is a schema version that this registry can say nothing about: another major one, or none at all.
type VersionError struct{ Version, Registry string }

func (e *VersionError) Error() string {
	return fmt.Sprintf("schema version %q: this registry, %s, does not know what changed", e.Version, e.Registry)
}

// Changes returns what turns data of a version into data of this registry's. "" and "0" stand for data of no version.
// Another major version than the registry's or 0 is a *VersionError.
func (r *Registry) Changes(from string) (*Changes, error) {
	from = cmp.Or(from, "0")
	major, ok := majorOf(from)
	own, _ := majorOf(r.version)
	if !ok || major != own && major != 0 {
		return nil, &VersionError{from, r.version}
	}
	c, reversed := newChanges(from, r.version), newChanges(r.version, from)
	c.reversed, reversed.reversed = reversed, c
	if CompareVersions(from, r.version) > 0 {
		c.Newer = true
		return c, nil
	}
	d := &r.definition
	rename(c, d.Attributes, func(a *Attribute) (string, *Deprecation) { return a.Name, a.Deprecated },
		func(c *Changes) map[string]string { return c.Attributes })
	rename(c, d.Metrics, func(m *Metric) (string, *Deprecation) { return m.Name, m.Deprecated },
		func(c *Changes) map[string]string { return c.Metrics })
	rename(c, d.Spans, func(s *Span) (string, *Deprecation) { return s.Name, s.Deprecated },
		func(c *Changes) map[string]string { return c.Spans })
	rename(c, d.Events, func(e *Event) (string, *Deprecation) { return e.Name, e.Deprecated },
		func(c *Changes) map[string]string { return c.Events })
	return c, nil
}

// Reverse returns what turns data of To back into data of From: only what was renamed after From, and not where several names
// became one.
func (c *Changes) Reverse() *Changes { return c.reversed }

func newChanges(from, to string) *Changes {
	return &Changes{
		From: from, To: to, Metrics: map[string]string{}, Attributes: map[string]string{},
		Spans: map[string]string{}, Events: map[string]string{},
	}
}

func rename[T any](c *Changes, all []T, of func(*T) (string, *Deprecation), part func(*Changes) map[string]string) {
	known := make(map[string]*Deprecation, len(all))
	for i := range all {
		name, d := of(&all[i])
		known[name] = d
	}
	forward, back := part(c), part(c.reversed)
	several := map[string]bool{}
	for name, d := range known {
		if d == nil || d.RenamedTo == "" {
			continue
		}
		// The first name in a chain of renames that is newer than From is what stood there at From.
		last := follow(known, d.RenamedTo)
		forward[name] = last
		if CompareVersions(d.Since, c.From) <= 0 || isTarget(known, name, c.From) {
			continue
		}
		if _, taken := back[last]; taken {
			several[last] = true
		}
		back[last] = name
	}
	for name := range several {
		delete(back, name)
	}
}

// follow returns the end of a chain of renames; source has checked that there is one.
func follow(known map[string]*Deprecation, name string) string {
	for range len(known) {
		d := known[name]
		if d == nil || d.RenamedTo == "" {
			break
		}
		name = d.RenamedTo
	}
	return name
}

// isTarget reports whether a name came from a rename after that version, so that data of the version cannot have it.
func isTarget(known map[string]*Deprecation, name, version string) bool {
	for _, d := range known {
		if d != nil && d.RenamedTo == name && CompareVersions(d.Since, version) > 0 {
			return true
		}
	}
	return false
}

func majorOf(version string) (int, bool) {
	if !IsVersion(version) {
		return 0, false
	}
	first, _, _ := strings.Cut(version, ".")
	major, err := strconv.Atoi(first)
	return major, err == nil
}
