package points_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pitwall-otel/pitwall/exporter/metricpointsexporter/internal/points"
	"github.com/pitwall-otel/pitwall/schema"
)

// row is a row of metric_points as the table's columns show it.
type row struct {
	millis     int64
	run, host  string
	rank       uint32
	device     uint16
	step       uint64
	metric     string
	value      float64
	unit, tags string
}

// at is when the tests happen, and the time of points that give none worth checking.
var at = time.UnixMilli(1_790_000_000_123).UTC()

func newSettings(t testing.TB) points.Settings {
	t.Helper()
	registry, err := schema.Load()
	require.NoError(t, err)
	return points.Settings{
		Registry: registry, ResourceTags: []string{"service.name", "rl.role"}, TimePolicy: points.TimeKeep,
		MaxNameBytes: 64, MaxAttributeBytes: 32, MaxTagsBytes: 256,
	}
}

func encode(t testing.TB, settings points.Settings, metrics pmetric.Metrics) ([]row, points.Counts) {
	t.Helper()
	payload, counts := points.NewEncoder(settings).Encode(nil, metrics, points.Request{}, at)
	rows := decode(t, payload)
	require.Len(t, rows, counts.Rows)
	return rows, counts
}

func decode(t testing.TB, payload []byte) []row {
	t.Helper()
	if payload == nil {
		return nil
	}
	p, err := points.ParsePayload(payload)
	require.NoError(t, err)
	rows := make([]row, p.Rows)
	text := func(i uint32) string { return string(p.Strings().At(int(i))) }
	for i := range rows {
		run, host, metric, unit := p.Head(int(p.RowHead(i)))
		rows[i] = row{
			millis: p.Millis(i), run: text(run), host: text(host), rank: p.Rank(i), device: p.Device(i), step: p.Step(i),
			metric: text(metric), value: p.Value(i), unit: text(unit), tags: string(p.Tags().At(int(p.RowTags(i)))),
		}
	}
	return rows
}

// request is OTLP/JSON, the form in which the tests state what a producer sends.
func request(t testing.TB, json string) pmetric.Metrics {
	t.Helper()
	metrics, err := (&pmetric.JSONUnmarshaler{}).UnmarshalMetrics([]byte(json))
	require.NoError(t, err)
	return metrics
}
