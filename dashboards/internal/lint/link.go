package lint

import (
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

var fieldOfRow = regexp.MustCompile(`\$\{__data\.fields\.(\w+)(:\w+)?\}`)

// checkLinks: each link leads to a dashboard that is there, and sets variables that it has.
func checkLinks(f *findings, boards map[string]*Board) {
	menu := slices.ContainsFunc(f.board.Links, func(l Link) bool { return l.Type == "dashboards" && slices.Contains(l.Tags, "pitwall") })
	if !menu {
		f.add("links", "want the menu of all dashboards with the tag pitwall")
	}
	for _, p := range f.board.Shown() {
		for _, l := range links(p) {
			checkLink(f, p, l, boards)
		}
	}
}

// links are those of all values and those of single columns.
func links(p Panel) []Link {
	all := p.FieldConfig.Defaults.Links
	for _, o := range p.FieldConfig.Overrides {
		for _, property := range o.Properties {
			var more []Link
			if property.ID == "links" && json.Unmarshal(property.Value, &more) == nil {
				all = append(all, more...)
			}
		}
	}
	return all
}

func checkLink(f *findings, p Panel, l Link, boards map[string]*Board) {
	where := "panel " + quote(p.Title)
	path, query, _ := strings.Cut(l.URL, "?")
	target := boards[strings.TrimPrefix(path, "/d/")]
	if !strings.HasPrefix(path, "/d/") || target == nil {
		f.add(where, "link %q leads to no dashboard of ours", l.URL)
		return
	}
	for part := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(part, "=")
		if name, err := url.QueryUnescape(name); err == nil && strings.HasPrefix(name, "var-") {
			known := slices.ContainsFunc(target.Templating.List, func(v Variable) bool { return v.Name == strings.TrimPrefix(name, "var-") })
			if !known {
				f.add(where, "link %q: %s has no variable %s", l.URL, target.UID, strings.TrimPrefix(name, "var-"))
			}
		}
	}
	if !strings.Contains(query, "${__url_time_range}") {
		f.add(where, "link %q does not keep the time", l.URL)
	}
	for _, m := range fieldOfRow.FindAllStringSubmatch(l.URL, -1) {
		if m[2] != ":percentencode" {
			f.add(where, "link %q: %s is not URL-encoded", l.URL, m[0])
		}
		if !slices.ContainsFunc(p.Targets, func(t Target) bool { return strings.Contains(t.RawSQL, " AS "+m[1]) }) {
			f.add(where, "link %q: the query has no column %s", l.URL, m[1])
		}
	}
}
