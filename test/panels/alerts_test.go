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

// TestAlertRules: of three simulated runs one is sick, in all the ways below; the healthy ones set off nothing. What a
// simulated run cannot show, of collectors and disks, is written into the table.
func TestAlertRules(t *testing.T) {
	s := startStack(t)
	source := s.dataSource(t)
	run := simulate(t, s)
	month := troubledCollectors(t, s)

	ofTheSick := map[string][]string{
		"pitwall-run-stalled":     {"run_id=" + sick},
		"pitwall-loss-not-finite": {"run_id=" + sick},
		"pitwall-loss-spike":      {"run_id=" + sick},
		"pitwall-gpu-idle":        {"gpu=7 host=rollout-b-0 run_id=" + sick},
		"pitwall-gpu-lost":        {"gpu=5 host=train-b-1"},
		"pitwall-gpu-xid":         {"gpu=5 host=train-b-1 xid=79"},
		"pitwall-gpu-throttled":   {"gpu=3 host=train-b-0"},
		"pitwall-engine-down":     {"engine=rollout-b-0:30003 run_id=" + sick},
		"pitwall-kv-cache-full":   {"engine=rollout-b-0:30001 run_id=" + sick},
		"pitwall-queue-grows":     {"engine=rollout-b-0:30000 run_id=" + sick, "engine=rollout-b-0:30001 run_id=" + sick},
	}
	ofTheMonth := map[string][]string{
		"pitwall-disk-full":      {"host=full metric=sys.disk./data.percent"},
		"pitwall-points-dropped": {"host=dropping reason=permanent"},
		"pitwall-points-waiting": {"component=metricpoints host=waiting"},
		"pitwall-host-silent":    {"host=silent"},
	}
	for _, rule := range alertRules(t) {
		t.Run(rule.UID, func(t *testing.T) {
			assert.Equal(t, "OK", rule.NoDataState, "nothing to complain of is no row")
			assert.Equal(t, ofTheSick[rule.UID], rule.firing(t, source, window{run.window.to.Add(-30 * time.Minute), run.window.to}))
			assert.Equal(t, ofTheMonth[rule.UID], rule.firing(t, source, month))
			assert.NotEmpty(t, slices.Concat(ofTheSick[rule.UID], ofTheMonth[rule.UID]), "each rule has been seen to fire")
		})
	}
}

// troubledCollectors writes half an hour of a month ago: a row a minute for each of these, and returns the last 20 minutes.
func troubledCollectors(t *testing.T, s *stack) window {
	t.Helper()
	end := time.Now().AddDate(0, -1, 0).Truncate(time.Minute)
	write := func(host, metric, value, tags, until string) {
		s.run(t, fmt.Sprintf(`INSERT INTO %s.metric_points (event_time, host, metric, value, tags_json)
			SELECT fromUnixTimestamp64Milli(%d) - INTERVAL 30 - number MINUTE, '%s', '%s', %s, '%s' FROM numbers(31) WHERE %s`,
			database, end.UnixMilli(), host, metric, value, tags, until))
	}
	write("full", "sys.disk./data.percent", "95", "", "1")
	write("roomy", "sys.disk./data.percent", "60", "", "1")
	write("dropping", "pitwall.points.dropped", "intDiv(number, 20) * 5", `{"pitwall.component":"metricpoints","pitwall.drop.reason":"permanent"}`, "1")
	write("dropping", "pitwall.points.dropped", "number", `{"pitwall.component":"metricpoints","pitwall.drop.reason":"duplicate"}`, "1")
	write("waiting", "pitwall.points.queued", "2e6", `{"pitwall.component":"metricpoints"}`, "1")
	write("silent", "sys.cpu_percent", "50", "", "number < 20")
	write("talking", "sys.cpu_percent", "50", "", "1")
	return window{end.Add(-20 * time.Minute), end}
}
