package alerts

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// dataSource is the uid of the ClickHouse data source that compose/ provisions; alert rules can name no other way.
const dataSource = "pitwall-clickhouse"

type file struct {
	APIVersion int     `yaml:"apiVersion"`
	Groups     []group `yaml:"groups"`
}

type group struct {
	OrgID    int    `yaml:"orgId"`
	Name     string `yaml:"name"`
	Folder   string `yaml:"folder"`
	Interval string `yaml:"interval"`
	Rules    []rule `yaml:"rules"`
}

type rule struct {
	UID          string            `yaml:"uid"`
	Title        string            `yaml:"title"`
	Condition    string            `yaml:"condition"`
	Data         []query           `yaml:"data"`
	NoDataState  string            `yaml:"noDataState"`
	ExecErrState string            `yaml:"execErrState"`
	For          string            `yaml:"for"`
	Annotations  map[string]string `yaml:"annotations"`
	Labels       map[string]string `yaml:"labels"`
	IsPaused     bool              `yaml:"isPaused"`
}

type query struct {
	RefID             string         `yaml:"refId"`
	RelativeTimeRange timeRange      `yaml:"relativeTimeRange"`
	DatasourceUID     string         `yaml:"datasourceUid"`
	Model             map[string]any `yaml:"model"`
}

// timeRange is in seconds before now.
type timeRange struct {
	From int `yaml:"from"`
	To   int `yaml:"to"`
}

// YAML writes the rules as one provisioning file.
func YAML(rules []Rule) ([]byte, error) {
	g := group{OrgID: 1, Name: "pitwall", Folder: "Pitwall", Interval: "1m"}
	for _, r := range rules {
		g.Rules = append(g.Rules, provisioned(r))
	}
	var text bytes.Buffer
	text.WriteString("# Written by go run ./dashboards/generate from dashboards/internal/alerts. Do not edit.\n")
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(2)
	if err := encoder.Encode(file{APIVersion: 1, Groups: []group{g}}); err != nil {
		return nil, fmt.Errorf("alert rules: %w", err)
	}
	return text.Bytes(), nil
}

func provisioned(r Rule) rule {
	window := timeRange{From: int(r.Window.Seconds())}
	evaluator := map[string]any{"type": r.Fires.Evaluator, "params": []float64{r.Fires.Threshold}}
	return rule{
		UID: r.UID, Title: r.Title, Condition: "C",
		Data: []query{
			{RefID: "A", RelativeTimeRange: window, DatasourceUID: dataSource, Model: map[string]any{
				"refId": "A", "editorType": "sql", "format": 0, "rawSql": literal(r.SQL), "intervalMs": 1000, "maxDataPoints": 1000,
			}},
			{RefID: "B", RelativeTimeRange: window, DatasourceUID: "__expr__", Model: map[string]any{
				"refId": "B", "type": "reduce", "reducer": "last", "expression": "A",
			}},
			{RefID: "C", RelativeTimeRange: window, DatasourceUID: "__expr__", Model: map[string]any{
				"refId": "C", "type": "threshold", "expression": "B", "conditions": []any{map[string]any{"evaluator": evaluator}},
			}},
		},
		// Nothing to complain of is no row. A collector or a database that is away has rules, and a monitor, of its own.
		NoDataState: "OK", ExecErrState: "Error",
		For: r.For.String(),
		Annotations: map[string]string{
			"summary": literal(r.Summary), "description": literal(r.Do),
			"__dashboardUid__": r.Dashboard, "__panelId__": strconv.FormatUint(uint64(r.PanelID), 10),
		},
		Labels: map[string]string{"severity": string(r.Severity)},
	}
}

// literal keeps provisioning from reading $ as a variable of its environment.
func literal(text string) string { return strings.ReplaceAll(text, "$", "$$") }
