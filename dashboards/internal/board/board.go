package board

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

// Version of the dashboards, semantic: a renamed uid or variable is a major one. SchemaRange is what they need of the
// registry that the data follows.
const (
	Version     = "1.0.0"
	revision    = 1 // what provisioning compares; grows with each release
	SchemaRange = ">=1.0 <2"
)

// Tag is on every dashboard; the menu that links them goes by it.
const Tag = "pitwall"

const gridWidth = 24

// Board is a dashboard under construction.
type Board struct {
	file string
	dash dashboard.Dashboard //nolint:staticcheck // the newer form cannot be provisioned by file
	next uint32              // first free line of the grid
}

// New starts the dashboard with the uid "pitwall-<name>", which is written to <name>.json. Variables come first to last
// in the order that they depend on each other.
func New(name, title, description string, variables ...dashboard.VariableModel) *Board {
	d := *dashboard.NewDashboard()
	d.Uid, d.Title = new("pitwall-"+name), new("Pitwall / "+title)
	d.Description = new(fmt.Sprintf("%s Dashboards %s, for data of schema %s.", description, Version, SchemaRange))
	d.Tags = []string{Tag, Tag + "-v" + Version}
	d.Version, d.Editable = new(uint32(revision)), new(false)
	d.GraphTooltip = cog.ToPtr(dashboard.DashboardCursorSyncCrosshair)
	d.Time = &dashboard.DashboardDashboardTime{From: "now-6h", To: "now"}
	d.Refresh, d.Timezone = new("30s"), new("browser")
	d.Templating.List = append([]dashboard.VariableModel{datasourceVariable()}, variables...)
	d.Links = []dashboard.DashboardLink{{
		Title: "Pitwall", Type: dashboard.DashboardLinkTypeDashboards, Icon: "external link", Tooltip: "The other dashboards",
		Tags: []string{Tag}, AsDropdown: true, IncludeVars: true, KeepTime: true,
	}}
	return &Board{file: name + ".json", dash: d}
}

// File is the name that the dashboard is stored under.
func (b *Board) File() string { return b.file }

// UID is the dashboard's name in addresses.
func (b *Board) UID() string { return *b.dash.Uid }

// Panel returns the id of the panel with that title, of several the one over time.
func (b *Board) Panel(title string) (id uint32, found bool) {
	for _, row := range b.dash.Panels {
		panels := []dashboard.Panel{}
		if row.Panel != nil {
			panels = append(panels, *row.Panel)
		} else {
			panels = append(panels, row.RowPanel.Panels...)
		}
		for _, p := range panels {
			if *p.Title == title && (!found || p.Type == "timeseries") {
				id, found = *p.Id, true
			}
		}
	}
	return id, found
}

// Refresh sets how far back the dashboard looks at first, and how often it asks anew.
func (b *Board) Refresh(from, every string) {
	b.dash.Time.From, b.dash.Refresh = from, new(every)
}

// Annotate marks moments on the time axis of all panels: sql gives time, text and tags.
func (b *Board) Annotate(name, color, sql string) {
	b.dash.Annotations.List = append(b.dash.Annotations.List, dashboard.AnnotationQuery{
		Name: name, Datasource: datasource(), Enable: true, IconColor: color, Target: newQuery(FormatTable, sql),
	})
}

// Row adds an open row. Panels stand side by side until the grid is full.
func (b *Board) Row(title string, panels ...*Panel) { b.addRow(title, false, panels) }

// Folded adds a row that is closed at first; its panels ask nothing before it is opened.
func (b *Board) Folded(title string, panels ...*Panel) { b.addRow(title, true, panels) }

func (b *Board) addRow(title string, folded bool, panels []*Panel) {
	row := dashboard.NewRowPanel()
	row.Title, row.Collapsed, row.Id = new(title), folded, b.id("row", title)
	row.GridPos = &dashboard.GridPos{X: 0, Y: b.next, W: gridWidth, H: 1}
	b.next++
	placed := b.place(title, panels)
	if folded {
		row.Panels = placed
	}
	b.dash.Panels = append(b.dash.Panels, dashboard.PanelOrRowPanel{RowPanel: row})
	if !folded {
		for _, p := range placed {
			b.dash.Panels = append(b.dash.Panels, dashboard.PanelOrRowPanel{Panel: &p})
		}
	}
}

// place gives panels their ids and their places in the grid.
func (b *Board) place(row string, panels []*Panel) []dashboard.Panel {
	var placed []dashboard.Panel
	var x, height uint32
	for _, p := range panels {
		if x+p.width > gridWidth {
			x, b.next, height = 0, b.next+height, 0
		}
		out := p.Panel
		out.Id = new(b.id(row, *p.Title))
		out.GridPos = &dashboard.GridPos{X: x, Y: b.next, W: p.width, H: p.height}
		x, height = x+p.width, max(height, p.height)
		placed = append(placed, out)
	}
	b.next += height
	return placed
}

// id is a number that stays as long as the titles do. 24 bits: the lint finds two that are the same.
func (b *Board) id(row, title string) uint32 {
	const offset, prime = 2166136261, 16777619 // FNV-1a
	h := uint32(offset)
	for _, c := range []byte(*b.dash.Uid + "\x00" + row + "\x00" + title) {
		h = (h ^ uint32(c)) * prime
	}
	return 1 + h>>8
}

// JSON returns the dashboard as it is committed.
func (b *Board) JSON() ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(b.dash); err != nil {
		return nil, fmt.Errorf("%s: %w", b.file, err)
	}
	// What the SDK's types encode themselves is escaped for HTML, and queries are full of it.
	return []byte(strings.NewReplacer(`\u0026`, "&", `\u003c`, "<", `\u003e`, ">").Replace(text.String())), nil
}
