package lint

import (
	"regexp"
	"slices"
	"strings"
)

const (
	datasourceType = "grafana-clickhouse-datasource"
	datasourceUID  = "${datasource}"
	// schemaVersion is the newest of the classic form; Grafana migrates older ones as it loads them.
	schemaVersion = 42
)

func checkIdentity(f *findings) {
	b := f.board
	if !strings.HasPrefix(b.UID, "pitwall-") || len(b.UID) > 40 {
		f.add("uid", "%q: want pitwall-NAME of at most 40 characters", b.UID)
	}
	if b.ID != nil {
		f.add("id", "is the database's own and must not be set")
	}
	if b.SchemaVersion != schemaVersion {
		f.add("schemaVersion", "%d, want %d", b.SchemaVersion, schemaVersion)
	}
	if b.Editable == nil || *b.Editable {
		f.add("editable", "want false: changes in the browser would be lost")
	}
	if len(b.Inputs) > 0 {
		f.add("__inputs", "provisioning by file does not know them")
	}
	if b.Version < 1 {
		f.add("version", "%d: want 1 or more", b.Version)
	}
	version := regexp.MustCompile(`^pitwall-v(\d+\.\d+\.\d+)$`)
	tagged := ""
	for _, tag := range b.Tags {
		if m := version.FindStringSubmatch(tag); m != nil {
			tagged = m[1]
		}
	}
	if !slices.Contains(b.Tags, "pitwall") || tagged == "" {
		f.add("tags", "%q: want pitwall and pitwall-vX.Y.Z", b.Tags)
	}
	if tagged == "" || !strings.Contains(b.Description, tagged) || !regexp.MustCompile(`schema >=\d+\.\d+ <\d+`).MatchString(b.Description) {
		f.add("description", "%q: want the version and the range of the schema", b.Description)
	}
}

func checkLayout(f *findings) {
	ids := map[int]string{}
	for _, p := range slices.Concat(f.board.Panels, closed(f.board.Panels)) {
		if other, used := ids[p.ID]; used || p.ID <= 0 {
			f.add(p.where(), "id %d is not above 0, or that of %s too", p.ID, other)
		}
		ids[p.ID] = p.where()
	}
	overlaps(f, f.board.Panels)
	for _, row := range f.board.Panels {
		overlaps(f, row.Panels)
		if row.Type == "row" && !row.Collapsed && len(row.Panels) > 0 {
			f.add(row.where(), "an open row must not hold panels, Grafana drops them")
		}
	}
}

func (p Panel) where() string { return "panel " + strings.TrimSpace(p.Type+" "+quote(p.Title)) }

func quote(s string) string { return `"` + s + `"` }

// closed are the panels inside of rows.
func closed(panels []Panel) []Panel {
	var inside []Panel
	for _, p := range panels {
		inside = append(inside, p.Panels...)
	}
	return inside
}

func overlaps(f *findings, panels []Panel) {
	for i, p := range panels {
		g := p.GridPos
		if g.W < 1 || g.H < 1 || g.X < 0 || g.Y < 0 || g.X+g.W > 24 {
			f.add(p.where(), "its place %+v is outside of the 24 columns", g)
		}
		for _, q := range panels[:i] {
			h := q.GridPos
			if g.X < h.X+h.W && h.X < g.X+g.W && g.Y < h.Y+h.H && h.Y < g.Y+g.H {
				f.add(p.where(), "lies over %s", q.where())
			}
		}
	}
}
