package faults

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pmetric/pmetricotlp"
)

// Requests that no honest client sends. Each is taken whole or refused for good, and the collector goes on.
func TestHostileRequests(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.collector.Start()
	clients := r.send(usual)
	f := func(want int, name, contentType, encoding string, body []byte) {
		t.Helper()
		request, err := http.NewRequest(http.MethodPost, "http://"+r.collector.HTTP+"/v1/metrics", bytes.NewReader(body))
		require.NoError(t, err)
		request.Header.Set("Content-Type", contentType)
		if encoding != "" {
			request.Header.Set("Content-Encoding", encoding)
		}
		response, err := http.DefaultClient.Do(request)
		require.NoError(t, err, name)
		said, err := io.ReadAll(response.Body)
		require.NoError(t, errors.Join(err, response.Body.Close()))
		assert.Equal(t, want, response.StatusCode, "%s: %q", name, said)
	}
	const protobuf, json = "application/x-protobuf", "application/json"
	f(http.StatusOK, "nothing", protobuf, "", nil)
	f(http.StatusOK, "700,000 points", protobuf, "", marshal(t, manyPoints(700_000)))
	f(http.StatusOK, "odd values", protobuf, "", marshal(t, oddPoints(6000)))
	deepest := nest(860_000)
	require.Greater(t, len(deepest), 7<<20, "nearly as large as a request may be")
	f(http.StatusOK, "arrays in arrays", protobuf, "", deepest)
	f(http.StatusBadRequest, "gzip of 128 MiB", protobuf, "gzip", bomb(128<<20))
	f(http.StatusBadRequest, "gzip of 128 MiB", json, "gzip", bomb(128<<20))
	f(http.StatusBadRequest, "more than 8 MiB", protobuf, "", make([]byte, 8<<20+1))
	f(http.StatusBadRequest, "not OTLP", protobuf, "", bytes.Repeat([]byte{0xff}, 1000))
	f(http.StatusBadRequest, "deep JSON", json, "", bytes.Repeat([]byte(`{"resourceMetrics":[`), 100_000))
	f(http.StatusBadRequest, "half of JSON", json, "", []byte(`{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"lab.x","gauge":{"dataPoints":[{"asDouble":1`))
	f(http.StatusBadRequest, "a wrong id", json, "", []byte(`{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"lab.x","gauge":{"dataPoints":`+
		`[{"asDouble":1,"exemplars":[{"traceId":"zz"}]}]}}]}]}]}`))
	r.acknowledges(2000)
	clients.stop()
	r.finish(0)
	assert.Equal(t, [][]string{{"700000", "700000", "244999650000"}},
		r.engine.Query("SELECT count(), uniqExact(value), sum(value) FROM "+table+" WHERE metric = 'lab.many'"))
	assert.Equal(t, [][]string{{"6000", "6000", "1000", "2000", "1970-01-01 00:00:00.000", "2299-12-31 23:59:59.999", "9223372036854775807"}},
		r.engine.Query("SELECT count(), uniqExact(metric), countIf(isNaN(value)), countIf(isInfinite(value)), toString(min(event_time), 'UTC'), "+
			"toString(max(event_time), 'UTC'), max(step) FROM "+table+" WHERE metric LIKE 'lab.odd.%'"))
	assert.Equal(t, [][]string{{"0"}}, r.engine.Query("SELECT count() FROM "+table+" WHERE metric = 'lab.x'"))
}

func marshal(t *testing.T, q pmetricotlp.ExportRequest) []byte {
	t.Helper()
	body, err := q.MarshalProto()
	require.NoError(t, err)
	return body
}

func observedMetrics(q pmetricotlp.ExportRequest) pmetric.MetricSlice {
	resource := q.Metrics().ResourceMetrics().AppendEmpty()
	resource.Resource().Attributes().PutStr("rl.run.id", "observed") // which is not reconciled
	return resource.ScopeMetrics().AppendEmpty().Metrics()
}

func manyPoints(n int) pmetricotlp.ExportRequest {
	q := pmetricotlp.NewExportRequest()
	m := observedMetrics(q).AppendEmpty()
	m.SetName("lab.many")
	points := m.SetEmptyGauge().DataPoints()
	points.EnsureCapacity(n)
	for i := range n {
		points.AppendEmpty().SetDoubleValue(float64(i))
	}
	return q
}

func oddPoints(n int) pmetricotlp.ExportRequest {
	q := pmetricotlp.NewExportRequest()
	metrics := observedMetrics(q)
	for i := range n {
		m := metrics.AppendEmpty()
		m.SetName(fmt.Sprintf("lab.odd.%d", i))
		dp := m.SetEmptyGauge().DataPoints().AppendEmpty()
		dp.SetDoubleValue([]float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, math.SmallestNonzeroFloat64, math.Copysign(0, -1)}[i%6])
		dp.SetTimestamp([]pcommon.Timestamp{0, 1, math.MaxUint64, math.MaxInt64, math.MaxInt64 + 1}[i%5])
		dp.Attributes().PutInt("rl.step", []int64{0, -1, math.MaxInt64, math.MinInt64}[i%4])
		dp.Attributes().PutStr("odd\x00\xff", "\x00\xff'\"\\")
	}
	return q
}

func bomb(size int) []byte {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	zeros := make([]byte, 1<<20)
	for range size >> 20 {
		_, _ = w.Write(zeros)
	}
	_ = w.Close()
	return packed.Bytes()
}

// nest is a metric whose point has an attribute of arrays in arrays, written from its end.
func nest(depth int) []byte {
	packed := make([]byte, 16*depth+100)
	at := len(packed)
	before := func(text string) {
		at -= len(text)
		copy(packed[at:], text)
	}
	within := func(fields ...byte) { // of messages, the innermost first
		for _, field := range fields {
			before(string(binary.AppendUvarint([]byte{field<<3 | 2}, uint64(len(packed)-at))))
		}
	}
	before("x")
	within(1) // string_value
	for range depth {
		within(1, 5) // values, array_value
	}
	within(2) // of the attribute
	before("\x0a\x01k")
	within(7, 1, 5) // attributes, data_points, gauge
	before("\x0a\x06nested")
	within(2, 2, 1) // metrics, scope_metrics, resource_metrics
	return packed[at:]
}
