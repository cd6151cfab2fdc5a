package panels

import (
	"fmt"
	"testing"
	"time"

	"github.com/grafana/grafana-plugin-sdk-go/backend/gtime"
	"github.com/grafana/grafana-plugin-sdk-go/data"
	"github.com/stretchr/testify/require"
)

// viewer is one look at one dashboard: a window of time and values for its variables.
type viewer struct {
	source *dataSource
	window window
	chosen selection
	multi  map[string]bool
}

// look opens a dashboard as Grafana does: variables in their order, each with the values before it, each set to wanted's
// values where it has some, else to All where it has that, else to its first option.
func look(t *testing.T, source *dataSource, d dashboard, w window, wanted selection) *viewer {
	t.Helper()
	v := &viewer{source, w, selection{}, map[string]bool{}}
	for _, variable := range d.Templating.List {
		if variable.Type == "datasource" {
			continue
		}
		v.multi[variable.Name] = variable.Multi
		v.chosen[variable.Name] = v.choose(t, d, variable, wanted[variable.Name])
	}
	return v
}

func (v *viewer) choose(t *testing.T, d dashboard, variable variable, wanted []string) []string {
	t.Helper()
	var options []string
	switch variable.Type {
	case "query":
		var err error
		options, err = v.options(t, variable.sql(t))
		require.NoError(t, err, "%s: variable %s", d.UID, variable.Name)
	default:
		for _, option := range variable.Options {
			options = append(options, option.Value)
		}
	}
	switch {
	case wanted != nil:
		return wanted
	case variable.IncludeAll && variable.AllValue != nil:
		// Grafana formats a custom All value as a single one.
		v.multi[variable.Name] = false
		return []string{*variable.AllValue}
	case variable.IncludeAll || len(options) == 0:
		return options
	default:
		return options[:1]
	}
}

// options runs a query variable: its column `value`, else its last column, is the value (of two columns the other is shown).
func (v *viewer) options(t *testing.T, sql string) ([]string, error) {
	t.Helper()
	interval := v.window.interval(0)
	sql, err := interpolate(sql, v.chosen, v.multi, v.window, interval)
	if err != nil {
		return nil, err
	}
	frames, err := v.source.query(t.Context(), sql, 1, v.window, interval)
	if err != nil || len(frames) == 0 || len(frames[0].Fields) == 0 {
		return nil, err
	}
	values := frames[0].Fields[len(frames[0].Fields)-1]
	for _, field := range frames[0].Fields {
		if field.Name == "value" || field.Name == "__value" {
			values = field
		}
	}
	var options []string
	for i := range values.Len() {
		if value, ok := values.ConcreteAt(i); ok {
			options = append(options, fmt.Sprint(value))
		}
	}
	return options, nil
}

// ask runs the queries of a panel.
func (v *viewer) ask(t *testing.T, p panel) (data.Frames, error) {
	t.Helper()
	var minimum time.Duration
	if p.Interval != "" {
		var err error
		minimum, err = gtime.ParseDuration(p.Interval)
		if err != nil {
			return nil, err
		}
	}
	interval := v.window.interval(minimum)
	var all data.Frames
	for _, target := range p.Targets {
		sql, err := interpolate(target.RawSQL, v.chosen, v.multi, v.window, interval)
		if err != nil {
			return nil, err
		}
		frames, err := v.source.query(t.Context(), sql, target.Format, v.window, interval)
		if err != nil {
			return nil, err
		}
		all = append(all, frames...)
	}
	return all, nil
}
