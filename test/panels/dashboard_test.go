package panels

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const root = "../.."

type dashboard struct {
	UID        string
	Title      string
	Panels     []panel
	Templating struct{ List []variable }
	Time       struct{ From string } // such as now-6h
}

type panel struct {
	ID          int
	Title       string
	Type        string
	Panels      []panel // of a collapsed row
	Targets     []target
	Interval    string
	FieldConfig struct {
		Defaults struct{ Unit string }
	}
}

type target struct {
	RefID  string
	RawSQL string `json:"rawSql"`
	Format int
	Hide   bool
}

type variable struct {
	Name       string
	Type       string
	Query      json.RawMessage
	Multi      bool
	IncludeAll bool
	AllValue   *string
	Current    struct{ Value json.RawMessage }
	Options    []struct{ Text, Value string }
}

// sql is the statement of a query variable; text that of a custom one ("a,b" or "label : value").
func (v variable) sql(t *testing.T) string {
	t.Helper()
	var query struct {
		RawSQL string `json:"rawSql"`
	}
	require.NoError(t, json.Unmarshal(v.Query, &query), v.Name)
	return query.RawSQL
}

// dashboards reads what is committed.
func dashboards(t *testing.T) []dashboard {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "dashboards", "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	var all []dashboard
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		var d dashboard
		require.NoError(t, json.Unmarshal(content, &d), file)
		all = append(all, d)
	}
	return all
}

// queried returns the panels that ask for data, those of rows included.
func (d dashboard) queried() []panel {
	var found []panel
	var walk func([]panel)
	walk = func(panels []panel) {
		for _, p := range panels {
			walk(p.Panels)
			if len(p.Targets) > 0 {
				found = append(found, p)
			}
		}
	}
	walk(d.Panels)
	return found
}

// asksFor reports whether the panel's queries depend on a variable.
func (p panel) asksFor(variable string) bool {
	return slices.ContainsFunc(p.Targets, func(t target) bool { return strings.Contains(t.RawSQL, "${"+variable+":") })
}
