package dashboards

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pitwall-otel/pitwall/dashboards/internal/lint"
	"github.com/pitwall-otel/pitwall/schema"
)

// Each metric of the registry in turn gets another name. A dashboard that asks for it must be named, with the panel; so the
// test also counts which metrics no dashboard asks for.
func TestARenamedMetricIsFound(t *testing.T) {
	registry, err := schema.Load()
	require.NoError(t, err)
	var references []lint.Reference
	for _, b := range parsed(t) {
		references = append(references, lint.References(b)...)
	}
	found := 0
	for _, metric := range registry.Metrics() {
		findings := lint.Without(registry, metric.Name).Unknown(references)
		asked := slices.ContainsFunc(references, func(r lint.Reference) bool { return r.Kind == "metric" && r.Name == metric.Name })
		assert.False(t, asked && len(findings) == 0, "a dashboard asks for %s, and nothing is found without it", metric.Name)
		if len(findings) > 0 {
			found++
		}
		for _, finding := range findings {
			assert.Regexp(t, `^\w+\.json: (panel|variable) ".+": metric ".+" is not in the registry$`, finding)
		}
	}
	t.Logf("the dashboards ask for %d of the registry's %d metrics", found, len(registry.Metrics()))
	assert.Greater(t, found, 100)
}

// One thing in a dashboard is changed; the rule that is there for it must say so and name the place.
func TestEachRuleFinds(t *testing.T) {
	registry, err := schema.Load()
	require.NoError(t, err)
	files := committed(t)
	f := func(file, old, replacement, want string) {
		t.Helper()
		text := string(files[file])
		require.Contains(t, text, old)
		var boards []*lint.Board
		for name, original := range files {
			if name == file {
				original = []byte(strings.Replace(text, old, replacement, 1))
			}
			b, err := lint.Parse(name, original)
			require.NoError(t, err)
			boards = append(boards, b)
		}
		findings := lint.Check(boards, registry)
		assert.True(t, slices.ContainsFunc(findings, func(finding string) bool {
			return strings.Contains(finding, want)
		}), "%q instead of %q: want %q among %q", replacement, old, want, findings)
	}
	const training, run = "training.json", "run.json"

	f(training, `"uid": "pitwall-training"`, `"uid": "training"`, `"training": want pitwall-NAME`)
	f(training, `"uid": "pitwall-training"`, `"uid": "pitwall-model"`, `uid "pitwall-model" is that of`)
	f(training, `"uid": "pitwall-training"`, `"id": 7, "uid": "pitwall-training"`, "id: is the database's own")
	f(training, `"schemaVersion": 42`, `"schemaVersion": 39`, "39, want 42")
	f(training, `"editable": false`, `"editable": true`, "changes in the browser would be lost")
	f(training, `"schemaVersion": 42`, `"__inputs": [{}], "schemaVersion": 42`, "__inputs: provisioning")
	f(training, `"pitwall-v1.0.0"`, `"latest"`, "want pitwall and pitwall-vX.Y.Z")
	f(training, `for data of schema >=1.0 <2`, `for all`, "range of the schema")

	f("engines.json", `inference.kv_cache.pool`, `gen_ai.provider.name`, `takes points of "inference.kv_cache.usage" together that inference.kv_cache.pool tells apart`)
	f(training, `"x": 8,`, `"x": 4,`, "lies over panel stat")
	f(training, `"x": 16,`, `"x": 22,`, "outside of the 24 columns")
	f(training, `"title": "Token/s",`, `"title": "",`, "has no title")
	f(training, `"description": "Latest loss that the optimiser minimised, of each run (metric loss)."`, `"description": ""`, `panel "Loss": description`)
	f(training, `"unit": "sci"`, `"unit": ""`, `panel "Learning rate": has no unit`)
	f(training, `"noValue": "no data"`, `"noValue": ""`, "does not say what stands for no data")
	f(training, `"uid": "${datasource}"`, `"uid": "my-clickhouse"`, "want ${datasource}")
	f(training, `"format": 0`, `"format": 1`, "a timeseries cannot draw format 1")
	f(training, `"type": "xychart"`, `"type": "graph"`, `type "graph" is not among those`)

	f(training, `"name": "run_id"`, `"name": "run"`, "variable ${run_id} is not declared")
	f(training, `"refresh": 2`, `"refresh": 0`, "refresh 0, want 2")
	f(training, `${run_id:percentencode}`, `${run_id:singlequote}`, "only ${run_id:percentencode}")
	f(training, `${run_id:percentencode}`, `$run_id`, "variable $run_id without braces")
	f(training, `'${run_id:percentencode}'`, `'x${run_id:percentencode}y'`, "not alone in its literal")
	f(training, `$__timeFilter(event_time)`, `$__timeGroup(event_time, '5m')`, "macro $__timeGroup is not among those")
	f(training, `$__timeFilter(event_time)`, `1`, "is not bounded by time")
	f(training, `arrayJoin(splitByChar`, `[[1]] AND arrayJoin(splitByChar`, "Grafana takes [[ for a variable")
	f(training, `JSONExtractString(tags_json, 'rl.stat')`, `JSONExtractString(tags_json, 'rl.statt')`, `attribute "rl.statt" is not in the registry`)
	f(training, `metric = 'rl.entropy'`, `metric = 'rl.entropie'`, `panel "Entropy": metric "rl.entropie" is not in the registry`)
	f(training, `'rl.run.started'`, `'rl.run.begun'`, `event "rl.run.begun" is not in the registry`)

	f(run, `/d/pitwall-training?`, `/d/pitwall-trainings?`, "leads to no dashboard of ours")
	f(run, `var-run_id=`, `var-runs=`, "pitwall-training has no variable runs")
	f(run, `&${__url_time_range}`, ``, "does not keep the time")
	f(run, `${__data.fields.run_value:percentencode}`, `${__data.fields.run_value}`, "is not URL-encoded")
	f(run, `${__data.fields.run_value:percentencode}`, `${__data.fields.gone:percentencode}`, "the query has no column gone")
	f(run, `"type": "dashboards"`, `"type": "link"`, "want the menu of all dashboards")
}
