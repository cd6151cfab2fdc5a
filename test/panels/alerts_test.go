package panels

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/grafana/grafana-plugin-sdk-go/data"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
)

// alertRule is a rule as Grafana's provisioning reads it.
type alertRule struct {
	UID         string
	Title       string
	Condition   string
	For         string
	NoDataState string `yaml:"noDataState"`
	Data        []struct {
		RefID             string                 `yaml:"refId"`
		DatasourceUID     string                 `yaml:"datasourceUid"`
		RelativeTimeRange struct{ From, To int } `yaml:"relativeTimeRange"`
		Model             struct {
			RawSQL     string `yaml:"rawSql"`
			Format     int
			Type       string
			Reducer    string
			Expression string
			Conditions []struct {
				Evaluator struct {
					Type   string
					Params []float64
				}
			}
		}
	}
}

func alertRules(t *testing.T) []alertRule {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, "dashboards", "alerts", "pitwall.yaml"))
	require.NoError(t, err)
	var file struct{ Groups []struct{ Rules []alertRule } }
	// Provisioning reads a variable of its own at each $ that is not doubled.
	require.NotContains(t, strings.ReplaceAll(string(content), "$$", ""), "$")
	require.NoError(t, yaml.Unmarshal([]byte(strings.ReplaceAll(string(content), "$$", "$")), &file))
	require.Len(t, file.Groups, 1)
	return file.Groups[0].Rules
}

// bad evaluates a rule at one moment: the labels of what it complains of, in the three steps that every rule has.
func (r alertRule) bad(t *testing.T, source *dataSource, at time.Time) []string {
	t.Helper()
	query, reduce, compare := r.Data[0], r.Data[1].Model, r.Data[2].Model
	require.Equal(t, []string{"reduce", "last", "A"}, []string{reduce.Type, reduce.Reducer, reduce.Expression}, r.UID)
	require.Equal(t, []string{"threshold", "B", "C"}, []string{compare.Type, compare.Expression, r.Condition}, r.UID)
	w := window{at.Add(-time.Duration(query.RelativeTimeRange.From) * time.Second), at.Add(-time.Duration(query.RelativeTimeRange.To) * time.Second)}
	frames, err := source.query(t.Context(), query.Model.RawSQL, query.Model.Format, w, time.Second)
	require.NoError(t, err, r.UID)
	var found []string
	for _, frame := range frames {
		for _, field := range frame.Fields {
			if field.Type().Time() || field.Len() == 0 {
				continue
			}
			require.True(t, field.Type().Numeric(), "%s: column %s is no number", r.UID, field.Name)
			value, err := field.NullableFloatAt(field.Len() - 1)
			require.NoError(t, err)
			evaluator := compare.Conditions[0].Evaluator
			if value != nil && (evaluator.Type == "gt" && *value > evaluator.Params[0] || evaluator.Type == "lt" && *value < evaluator.Params[0]) {
				found = append(found, labels(field.Labels))
			}
		}
	}
	return found
}

func labels(all data.Labels) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(all)) {
		parts = append(parts, fmt.Sprintf("%s=%s", key, all[key]))
	}
	return strings.Join(parts, " ")
}

// firing looks at a rule once a minute, as Grafana does, and returns what it fired for: bad for as long as the rule wants.
func (r alertRule) firing(t *testing.T, source *dataSource, w window) []string {
	t.Helper()
	wanted, err := time.ParseDuration(r.For)
	require.NoError(t, err, r.UID)
	since := map[string]time.Time{}
	fired := map[string]bool{}
	for at := w.from; !at.After(w.to); at = at.Add(time.Minute) {
		now := r.bad(t, source, at)
		for _, of := range now {
			if _, bad := since[of]; !bad {
				since[of] = at
			}
			if at.Sub(since[of]) >= wanted {
				fired[of] = true
			}
		}
		maps.DeleteFunc(since, func(of string, _ time.Time) bool { return !slices.Contains(now, of) })
	}
	return slices.Sorted(maps.Keys(fired))
}

// ofTheSick are the rules that the sick run must set off, and the labels of what is sick. Nothing else may set off any.
func TestAlertRules(t *testing.T) {
	s := startStack(t)
	source := s.dataSource(t)
	run := simulate(t, s)
	// The troubles begin in the run's second half.
	w := window{run.window.to.Add(-30 * time.Minute), run.window.to}
	for _, rule := range alertRules(t) {
		t.Logf("%s fired for %q", rule.UID, rule.firing(t, source, w))
		assert.Equal(t, "OK", rule.NoDataState)
	}
}
