package board

import (
	"reflect"

	"github.com/grafana/grafana-foundation-sdk/go/cog/variants"
	"github.com/grafana/grafana-foundation-sdk/go/common"
)

// DatasourceType is the id of Grafana's ClickHouse plugin.
const DatasourceType = "grafana-clickhouse-datasource"

// pluginVersion is the form that the targets are written in; the plugin migrates older ones.
const pluginVersion = "4.19.0"

// Format is what the plugin makes of a query's answer.
type Format int

// Formats of the plugin.
const (
	FormatTimeSeries Format = 0 // a time column, string columns as labels, numbers as values
	FormatTable      Format = 1
	FormatTraces     Format = 3
)

// Query is the target of the ClickHouse plugin; the SDK has none. Its fields are the plugin's own.
type Query struct {
	Datasource    *common.DataSourceRef `json:"datasource,omitempty"`
	EditorType    string                `json:"editorType"`
	Format        Format                `json:"format"`
	PluginVersion string                `json:"pluginVersion"`
	QueryType     string                `json:"queryType"`
	RawSQL        string                `json:"rawSql"`
	RefID         string                `json:"refId"`
}

// newQuery returns a target of the dashboard's data source.
func newQuery(format Format, sql string) Query {
	queryType := map[Format]string{FormatTimeSeries: "timeseries", FormatTable: "table", FormatTraces: "traces"}[format]
	return Query{
		Datasource: datasource(), EditorType: "sql", Format: format, PluginVersion: pluginVersion,
		QueryType: queryType, RawSQL: sql, RefID: "A",
	}
}

// datasource refers to the dashboard's variable of that name.
func datasource() *common.DataSourceRef {
	return &common.DataSourceRef{Type: new(DatasourceType), Uid: new("${datasource}")}
}

// ImplementsDataqueryVariant makes Query a target of the SDK's panels.
func (Query) ImplementsDataqueryVariant() {}

// DataqueryType returns the plugin's id.
func (Query) DataqueryType() string { return DatasourceType }

// Validate finds nothing: the gate looks at the finished JSON.
func (Query) Validate() error { return nil }

// Equals compares all fields.
func (q Query) Equals(other variants.Dataquery) bool { return reflect.DeepEqual(q, other) }
