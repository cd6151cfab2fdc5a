package lint

import "strings"

// formats are the plugin's formats that a panel type can draw: 0 time series, 1 table, 3 traces.
func formats(panelType string) []int {
	switch panelType {
	case "timeseries", "heatmap", "state-timeline":
		return []int{0}
	case "stat", "bargauge", "table", "xychart", "barchart":
		return []int{1}
	case "traces":
		return []int{3}
	}
	return nil
}

func checkPanel(f *findings, p Panel) {
	where := "panel " + quote(p.Title)
	if strings.TrimSpace(p.Title) == "" {
		f.add(p.where(), "has no title")
	}
	if len(p.Description) < 20 || !strings.HasSuffix(p.Description, ".") {
		f.add(where, "description %q: want a sentence or more on what the number is", p.Description)
	}
	if p.FieldConfig.Defaults.Unit == "" {
		f.add(where, "has no unit")
	}
	// A state timeline would draw a named null as a state; a hole is what it should be.
	if p.FieldConfig.Defaults.NoValue == "" || p.Type != "state-timeline" && !mapsNull(p) {
		f.add(where, "does not say what stands for no data: want noValue and a mapping of null+nan")
	}
	if (p.Datasource != Datasource{datasourceType, datasourceUID}) {
		f.add(where, "data source %v, want %s of type %s", p.Datasource, datasourceUID, datasourceType)
	}
	allowed := formats(p.Type)
	if allowed == nil {
		f.add(where, "type %q is not among those that the rules know", p.Type)
	}
	if len(p.Targets) == 0 {
		f.add(where, "has no query")
	}
	for _, t := range p.Targets {
		if (t.Datasource != Datasource{datasourceType, datasourceUID}) {
			f.add(where, "query %s: data source %v, want %s of type %s", t.RefID, t.Datasource, datasourceUID, datasourceType)
		}
		if len(allowed) > 0 && t.Format != allowed[0] {
			f.add(where, "query %s: a %s cannot draw format %d, want %d", t.RefID, p.Type, t.Format, allowed[0])
		}
	}
}

func mapsNull(p Panel) bool {
	for _, m := range p.FieldConfig.Defaults.Mappings {
		if m.Type == "special" {
			return true
		}
	}
	return false
}

func checkVariables(f *findings) {
	for i, v := range f.board.Templating.List {
		where := "variable " + quote(v.Name)
		if i == 0 && (v.Name != "datasource" || v.Type != "datasource" || v.Label != "Data source") {
			f.add(where, "the first variable must be the data source, named datasource and labelled Data source")
		}
		if v.Label == "" {
			f.add(where, "has no label")
		}
		if v.Type != "query" {
			continue
		}
		if (v.Datasource != Datasource{datasourceType, datasourceUID}) {
			f.add(where, "data source %v, want %s", v.Datasource, datasourceUID)
		}
		if v.Refresh != 2 {
			f.add(where, "refresh %d, want 2: when the time changes", v.Refresh)
		}
		if v.sql() == "" || v.Definition != v.sql() {
			f.add(where, "its definition is not its query")
		}
		if v.IncludeAll && v.AllValue != "*" {
			f.add(where, "All has the value %q, want *", v.AllValue)
		}
		if !strings.Contains(v.sql(), "AS value") || !strings.Contains(v.sql(), "AS text") {
			f.add(where, "want the columns value and text")
		}
	}
}

func checkAnnotations(f *findings) {
	for _, a := range f.board.Annotations.List {
		where := "annotation " + quote(a.Name)
		if a.Target == nil || (a.Target.Datasource != Datasource{datasourceType, datasourceUID}) || a.Datasource != a.Target.Datasource {
			f.add(where, "want a query of the data source %s", datasourceUID)
			continue
		}
		for _, column := range []string{"AS time", "AS text", "AS tags"} {
			if !strings.Contains(a.Target.RawSQL, column) {
				f.add(where, "has no column %q", column)
			}
		}
	}
}
