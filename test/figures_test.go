package test

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pmetric/pmetricotlp"

	"github.com/pitwall-otel/pitwall/internal/collectortest"
)

// figure is a line of testdata/producers: what a producer sends, and the row that it must become.
type figure struct {
	name, kind string
	labels     map[string]any
	sent       float64

	metric, unit string
	stored       float64
	// tags is a JSON object without the tags of the resource.
	tags map[string]any
}

// figures reads testdata/producers. Without a column for the type, all are gauges.
func figures(t *testing.T, producer string) []figure {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", "producers", producer+".txt"))
	require.NoError(t, err)
	var all []figure
	for line := range strings.Lines(string(content)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		column := strings.Split(line, "|")
		for i := range column {
			column[i] = strings.TrimSpace(column[i])
		}
		if len(column) == 6 {
			column = slices.Insert(column, 1, "gauge")
		}
		require.Len(t, column, 7, line)
		f := figure{kind: column[1], labels: map[string]any{}, metric: column[3], unit: column[4], tags: map[string]any{}}
		name, labels, _ := strings.Cut(column[0], "{")
		f.name = name
		for pair := range strings.SplitSeq(strings.TrimSuffix(labels, "}"), ",") {
			if key, value, ok := strings.Cut(pair, "="); ok {
				f.labels[key] = value
			}
		}
		f.sent, f.stored = decimal(t, column[2]), decimal(t, column[5])
		if column[6] != "" {
			require.NoError(t, json.Unmarshal([]byte(column[6]), &f.tags), line)
		}
		all = append(all, f)
	}
	return all
}

func decimal(t *testing.T, text string) float64 {
	t.Helper()
	f, err := strconv.ParseFloat(text, 64)
	require.NoError(t, err)
	return f
}

// add appends the figure's metric; at is in nanoseconds. A histogram has one value, on the bound of its only bucket, and
// is a delta as pipelines want it.
func (f figure) add(to pmetric.MetricSlice, at int64, unit string, attributes map[string]any) {
	m := to.AppendEmpty()
	m.SetName(f.name)
	m.SetUnit(unit)
	all := map[string]any{}
	maps.Copy(all, f.labels)
	maps.Copy(all, attributes)
	point := func(on pcommon.Map, setTime func(pcommon.Timestamp)) {
		_ = on.FromRaw(all)
		setTime(pcommon.Timestamp(at))
	}
	switch f.kind {
	case "histogram":
		h := m.SetEmptyHistogram()
		h.SetAggregationTemporality(pmetric.AggregationTemporalityDelta)
		dp := h.DataPoints().AppendEmpty()
		dp.ExplicitBounds().FromRaw([]float64{f.sent})
		dp.BucketCounts().FromRaw([]uint64{1, 0})
		dp.SetCount(1)
		dp.SetSum(f.sent)
		point(dp.Attributes(), dp.SetTimestamp)
	case "counter":
		s := m.SetEmptySum()
		s.SetIsMonotonic(true)
		s.SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
		dp := s.DataPoints().AppendEmpty()
		dp.SetDoubleValue(f.sent)
		point(dp.Attributes(), dp.SetTimestamp)
	default:
		dp := m.SetEmptyGauge().DataPoints().AppendEmpty()
		dp.SetDoubleValue(f.sent)
		point(dp.Attributes(), dp.SetTimestamp)
	}
}

// rows are the rows of the figure; like has what they share, tags those of the resource.
func (f figure) rows(t *testing.T, like row, tags map[string]any) []row {
	t.Helper()
	all := maps.Clone(f.tags)
	maps.Copy(all, tags)
	like.metric, like.unit, like.value, like.tags = f.metric, f.unit, number(f.stored), object(t, all)
	if f.kind != "histogram" {
		return []row{like}
	}
	sum, count, bucket := like, like, like
	sum.metric += ".sum"
	count.metric, count.unit, count.value = f.metric+".count", "1", "1"
	all["le"] = number(f.stored)
	bucket.metric, bucket.unit, bucket.value, bucket.tags = f.metric+".bucket", "1", "1", object(t, all)
	return []row{sum, count, bucket}
}

// object is a JSON object with sorted keys, "" without any.
func object(t *testing.T, all map[string]any) string {
	t.Helper()
	if len(all) == 0 {
		return ""
	}
	text, err := json.Marshal(all)
	require.NoError(t, err)
	return string(text)
}

func postMetrics(t *testing.T, c *collectortest.Collector, md pmetric.Metrics) {
	t.Helper()
	require.NoError(t, sendMetrics(c, md))
}

func sendMetrics(c *collectortest.Collector, md pmetric.Metrics) error {
	body, err := pmetricotlp.NewExportRequestFromMetrics(md).MarshalProto()
	if err != nil {
		return err
	}
	response, err := http.Post("http://"+c.HTTP+"/v1/metrics", "application/x-protobuf", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return errors.New(response.Status)
	}
	return nil
}
