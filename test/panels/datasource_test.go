package panels

import (
	"context"
	"database/sql"
	"encoding/json"
	"net"
	"strconv"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/grafana/grafana-plugin-sdk-go/backend"
	"github.com/grafana/grafana-plugin-sdk-go/backend/log"
	"github.com/grafana/grafana-plugin-sdk-go/data"
	"github.com/grafana/grafana-plugin-sdk-go/data/sqlutil"
	"github.com/grafana/sqlds/v5"
)

// maxDataPoints is the width in pixels of the panels that are asked for.
const maxDataPoints = 1000

// window is the time that a dashboard shows.
type window struct{ from, to time.Time }

// interval is Grafana's: the window's length by the panel's width, no less than the panel's own minimum.
func (w window) interval(minimum time.Duration) time.Duration {
	return max(w.to.Sub(w.from)/maxDataPoints, minimum, time.Millisecond)
}

// driver is the part of a data source's plugin that Grafana's SDK does not bring.
type driver struct{ address, user, password string }

func (d driver) Connect(context.Context, backend.DataSourceInstanceSettings, json.RawMessage) (*sql.DB, error) {
	return clickhouse.OpenDB(&clickhouse.Options{
		Addr:        []string{d.address},
		Auth:        clickhouse.Auth{Database: "training_observability", Username: d.user, Password: d.password},
		Protocol:    clickhouse.HTTP,
		Compression: &clickhouse.Compression{Method: clickhouse.CompressionGZIP},
	}), nil
}

func (driver) Settings(context.Context, backend.DataSourceInstanceSettings) sqlds.DriverSettings {
	return sqlds.DriverSettings{Timeout: time.Minute, FillMode: &data.FillMissing{Mode: data.FillModeNull}}
}

func (driver) Macros() sqlds.Macros            { return macros() }
func (driver) Converters() []sqlutil.Converter { return converters() }

// dataSource answers as the ClickHouse data source of a Grafana server.
type dataSource struct{ instance *sqlds.SQLDatasource }

func newDataSource(ctx context.Context, host string, port int, user, password string) (*dataSource, error) {
	backend.Logger = log.NewNullLogger() // the SDK says every failed query there; the tests say it once
	source := sqlds.NewDatasource(driver{net.JoinHostPort(host, strconv.Itoa(port)), user, password})
	_, err := source.NewDatasource(ctx, backend.DataSourceInstanceSettings{UID: "pitwall-clickhouse", JSONData: []byte("{}")})
	return &dataSource{source}, err
}

// query runs one target: format is 0 for a time series, 1 table, 2 logs, 3 trace.
func (s *dataSource) query(ctx context.Context, rawSQL string, format int, w window, interval time.Duration) (data.Frames, error) {
	body, err := json.Marshal(map[string]any{"rawSql": rawSQL, "format": format})
	if err != nil {
		return nil, err
	}
	answer, err := s.instance.QueryData(ctx, &backend.QueryDataRequest{
		PluginContext: backend.PluginContext{DataSourceInstanceSettings: &backend.DataSourceInstanceSettings{UID: "pitwall-clickhouse"}},
		Queries: []backend.DataQuery{{
			RefID: "A", JSON: body, Interval: interval, MaxDataPoints: maxDataPoints,
			TimeRange: backend.TimeRange{From: w.from, To: w.to},
		}},
	})
	if err != nil {
		return nil, err
	}
	response := answer.Responses["A"]
	if response.Error != nil {
		return nil, response.Error
	}
	return response.Frames, nil
}
