package board

import (
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"

	"github.com/pitwall-otel/pitwall/dashboards/internal/query"
)

func datasourceVariable() dashboard.VariableModel {
	return dashboard.VariableModel{
		Type: dashboard.VariableTypeDatasource, Name: "datasource", Label: new("Data source"),
		Query:   &dashboard.StringOrMap{String: new(DatasourceType)},
		Current: option("", ""), Refresh: cog.ToPtr(dashboard.VariableRefreshOnDashboardLoad),
	}
}

// Choice is a variable whose values come from a query with the columns value and text, in the order of the query.
func Choice(name, label, sql string) dashboard.VariableModel {
	return dashboard.VariableModel{
		Type: dashboard.VariableTypeQuery, Name: name, Label: new(label), Datasource: datasource(),
		Query: &dashboard.StringOrMap{Map: map[string]any{
			"editorType": "sql", "rawSql": sql, "format": int(FormatTable), "queryType": "table",
			"pluginVersion": pluginVersion, "refId": "A",
		}},
		Definition: new(sql), Current: option("", ""), Regex: new(""),
		Refresh: cog.ToPtr(dashboard.VariableRefreshOnTimeRangeChanged),
		Sort:    cog.ToPtr(dashboard.VariableSortDisabled),
		Multi:   new(true), IncludeAll: new(false), AllowCustomValue: new(true),
	}
}

// WithAll lets all values of a variable be taken at once, which it does at first, and puts 10 after 9. query.AllOr knows the
// value of All.
func WithAll(v dashboard.VariableModel) dashboard.VariableModel {
	v.IncludeAll, v.AllValue = new(true), cog.ToPtr(query.AllValue)
	v.Current = option("All", "$__all")
	v.Sort = cog.ToPtr(dashboard.VariableSortNaturalAsc)
	return v
}

// Switch is a variable with fixed values; the first is taken. Text and value alternate.
func Switch(name, label string, textsAndValues ...string) dashboard.VariableModel {
	var options []dashboard.VariableOption
	query := ""
	for i := 0; i+1 < len(textsAndValues); i += 2 {
		text, value := textsAndValues[i], textsAndValues[i+1]
		one := option(text, value)
		one.Selected = new(i == 0)
		options = append(options, *one)
		if query != "" {
			query += ", "
		}
		query += text + " : " + value
	}
	return dashboard.VariableModel{
		Type: dashboard.VariableTypeCustom, Name: name, Label: new(label),
		Query: &dashboard.StringOrMap{String: new(query)}, Options: options, Current: &options[0],
		Multi: new(false), IncludeAll: new(false), AllowCustomValue: new(false),
	}
}

// Input is a variable that a link or a person fills in.
func Input(name, label string) dashboard.VariableModel {
	return dashboard.VariableModel{
		Type: dashboard.VariableTypeTextbox, Name: name, Label: new(label),
		Query: &dashboard.StringOrMap{String: new("")}, Current: option("", ""),
		Options: []dashboard.VariableOption{*option("", "")},
	}
}

func option(text, value string) *dashboard.VariableOption {
	return &dashboard.VariableOption{
		Text:  dashboard.StringOrArrayOfString{String: new(text)},
		Value: dashboard.StringOrArrayOfString{String: new(value)},
	}
}
