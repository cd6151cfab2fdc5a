package test

import (
	"bytes"
	"compress/gzip"
	"math"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pmetric/pmetricotlp"

	"github.com/pitwall-otel/pitwall/internal/collectortest"
)

// bad is a collector that gets bad input, and what its table and its own telemetry must say in the end.
type bad struct {
	t         *testing.T
	c         *collectortest.Collector
	now       time.Time
	want      []row
	noValue   int
	outside   int
	truncated int
}

// TestBadInput sends what no producer should. Whatever is a request at all is stored as far as it can be, the rest is
// refused as the sender's mistake; what was cut, left out or late is counted; the collector stays healthy.
func TestBadInput(t *testing.T) {
	c := collectortest.New(t, "config/single-node.yaml", quiet, observing)
	c.Start()
	b := &bad{c: c, now: time.Now().Truncate(time.Millisecond)}
	for name, send := range map[string]func(){
		"metrics without data":             b.sendEmpty,
		"absurd times":                     b.sendAbsurdTimes,
		"more months than an INSERT takes": b.sendManyMonths,
		"numbers that are none":            b.sendNumbers,
		"invalid UTF-8":                    b.sendInvalidUTF8,
		"huge values":                      b.sendHuge,
		"no requests":                      b.sendGarbage,
	} {
		t.Run(name, func(t *testing.T) { b.t = t; send() })
	}
	waitStored(t, c)
	requireRows(t, b.want, storedRows(t, c.Query, "1"))
	for name, want := range map[string]int{
		"accepted": len(b.want) + b.noValue, "stored": len(b.want), "refused": 0, "time_outside": b.outside, "dropped": b.noValue,
	} {
		got, found := telemetry(c, "otelcol_metricpoints_points_"+name)
		assert.True(t, found, name)
		assert.InDelta(t, want, got, 0, name)
	}
	dropped, _ := telemetry(c, "otelcol_metricpoints_points_dropped", `reason="no_recorded_value"`)
	assert.InDelta(t, b.noValue, dropped, 0)
	truncated, _ := telemetry(c, "otelcol_metricpoints_values_truncated")
	assert.InDelta(t, b.truncated, truncated, 0, "truncated")
	health, err := http.Get("http://" + c.Health + "/status")
	require.NoError(t, err)
	status, answer := read(t, health)
	assert.Equal(t, http.StatusOK, status, answer)
	assert.NotContains(t, c.Log(), "panic")
}

// postJSON sends metrics written in OTLP's JSON form; NOW stands for the time in nanoseconds.
func (b *bad) postJSON(metrics string) {
	b.t.Helper()
	body := `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[` + metrics + `]}]}]}`
	status, answer := postOTLP(b.t, b.c, "metrics", "application/json",
		[]byte(strings.ReplaceAll(body, "NOW", strconv.FormatInt(b.now.UnixNano(), 10))))
	require.Equal(b.t, http.StatusOK, status, answer)
}

// postProto sends one gauge per call of set, in OTLP's binary form.
func (b *bad) postProto(sets ...func(pmetric.Metric, pmetric.NumberDataPoint)) {
	b.t.Helper()
	metrics := pmetric.NewMetrics()
	sm := metrics.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty()
	for _, set := range sets {
		m := sm.Metrics().AppendEmpty()
		m.SetName("g")
		dp := m.SetEmptyGauge().DataPoints().AppendEmpty()
		dp.SetTimestamp(pcommon.NewTimestampFromTime(b.now))
		dp.SetDoubleValue(1)
		set(m, dp)
	}
	body, err := pmetricotlp.NewExportRequestFromMetrics(metrics).MarshalProto()
	require.NoError(b.t, err)
	status, answer := postOTLP(b.t, b.c, "metrics", "application/x-protobuf", body)
	require.Equal(b.t, http.StatusOK, status, answer)
}

func (b *bad) expect(change func(*row)) {
	r := row{millis: b.now.UnixMilli(), device: noDevice, metric: "g", value: "1"}
	change(&r)
	b.want = append(b.want, r)
}

func (b *bad) sendEmpty() {
	const valid = `{"name":"valid","gauge":{"dataPoints":[{"timeUnixNano":"NOW","asDouble":1}]}}`
	for _, metrics := range []string{
		``,
		`{}`,
		`{"name":"no data"}`,
		`{"name":"no points","gauge":{}}, {"name":"no points","histogram":{"dataPoints":[]}}`,
		`{"name":"unknown type","gyroscope":{"dataPoints":[{"timeUnixNano":"NOW","asDouble":1}]}}`,
	} {
		b.postJSON(metrics)
		// What is good in the same request arrives.
		b.postJSON(strings.TrimPrefix(metrics+","+valid, ","))
		b.expect(func(r *row) { r.metric = "valid" })
	}
	b.postJSON(`{"name":"no value","gauge":{"dataPoints":[{"timeUnixNano":"NOW"}, {"timeUnixNano":"NOW","flags":1},
		{"timeUnixNano":"NOW","asDouble":5,"flags":1}]}},
		{"name":"no value","histogram":{"aggregationTemporality":1,"dataPoints":[{"timeUnixNano":"NOW","count":5,"flags":1}]}}`)
	b.noValue += 4
	b.postJSON(`{"name":"","gauge":{"dataPoints":[{"timeUnixNano":"NOW","asDouble":1,"unknown":{"a":[1]}}]},"unknown":1}`)
	b.expect(func(r *row) { r.metric = "" })
	for _, body := range []string{`{}`, `{"resourceMetrics":[]}`, `{"resourceMetrics":[{}]}`, `{"unknown":[{}]}`} {
		status, answer := postOTLP(b.t, b.c, "metrics", "application/json", []byte(body))
		assert.Equal(b.t, http.StatusOK, status, answer)
	}
}

// Times outside of 400 days before to one hour after now are kept, and counted.
func (b *bad) sendAbsurdTimes() {
	const lastOfDateTime64 = 10413791999999 // 2299-12-31T23:59:59.999Z
	for nanos, millis := range map[uint64]int64{
		0: 0, 1: 0, 1_999_999: 1, math.MaxInt64: 9223372036854, math.MaxUint64: lastOfDateTime64,
		uint64(b.now.Add(2 * time.Hour).UnixNano()):         b.now.Add(2 * time.Hour).UnixMilli(),
		uint64(b.now.Add(-401 * 24 * time.Hour).UnixNano()): b.now.Add(-401 * 24 * time.Hour).UnixMilli(),
	} {
		b.postJSON(strings.ReplaceAll(`{"name":"g","gauge":{"dataPoints":[{"timeUnixNano":"AT","asDouble":1}]}}`,
			"AT", strconv.FormatUint(nanos, 10)))
		b.expect(func(r *row) { r.millis = millis })
		b.outside++
	}
	b.postJSON(`{"name":"g","gauge":{"dataPoints":[{"asDouble":1}]}}`)
	b.expect(func(r *row) { r.millis = 0 })
	b.outside++
}

// ClickHouse takes at most 100 partitions, here months, in one INSERT.
func (b *bad) sendManyMonths() {
	var sets []func(pmetric.Metric, pmetric.NumberDataPoint)
	for month := range 250 {
		at := time.Date(1980, time.Month(1+month), 15, 0, 0, 0, 0, time.UTC)
		sets = append(sets, func(_ pmetric.Metric, dp pmetric.NumberDataPoint) { dp.SetTimestamp(pcommon.NewTimestampFromTime(at)) })
		b.expect(func(r *row) { r.millis = at.UnixMilli() })
		b.outside++
	}
	b.postProto(sets...)
}

func (b *bad) sendNumbers() {
	var sets []func(pmetric.Metric, pmetric.NumberDataPoint)
	for _, value := range []float64{
		math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64,
	} {
		sets = append(sets, func(_ pmetric.Metric, dp pmetric.NumberDataPoint) {
			dp.SetDoubleValue(value)
			dp.Attributes().PutDouble("same", value)
		})
		b.expect(func(r *row) {
			r.value = number(value)
			r.tags = `{"same":` + r.value + `}`
			switch {
			case math.IsNaN(value):
				r.tags = `{"same":"NaN"}`
			case math.IsInf(value, 1):
				r.tags = `{"same":"Infinity"}`
			case math.IsInf(value, -1):
				r.tags = `{"same":"-Infinity"}`
			}
		})
	}
	b.postProto(sets...)
}

func (b *bad) sendInvalidUTF8() {
	b.postProto(func(m pmetric.Metric, dp pmetric.NumberDataPoint) {
		m.SetName("na\xffme")
		m.SetUnit("\xc3")
		dp.Attributes().PutStr("rl.run.id", "run\xe2\x98")
		dp.Attributes().PutStr("host.name", "\xf0\x9f\x98\x80\x80")
		dp.Attributes().PutStr("k\xfe", "a\xffb")
		dp.Attributes().PutEmptySlice("list").AppendEmpty().SetStr("\xed\xa0\x80")
	})
	// U+FFFD: once for each run of bad bytes in a column, once for each bad byte in tags.
	b.expect(func(r *row) {
		r.metric, r.unit, r.run, r.host = "na\uFFFDme", "\uFFFD", "run\uFFFD", "😀\uFFFD"
		r.tags = "{\"k\uFFFD\":\"a\uFFFDb\",\"list\":[\"\uFFFD\uFFFD\uFFFD\"]}"
	})
}

// The limits are the defaults: 1 KiB for a name, 16 KiB for an attribute's value, 64 KiB for all tags of a point.
func (b *bad) sendHuge() {
	huge := strings.Repeat("ä", 512<<10) // 1 MiB
	b.postProto(func(m pmetric.Metric, dp pmetric.NumberDataPoint) {
		dp.Attributes().PutStr("huge", huge)
		dp.Attributes().PutStr("rl.run.id", huge)
		m.SetName(huge)
		m.SetUnit(huge)
	}, func(_ pmetric.Metric, dp pmetric.NumberDataPoint) {
		for _, key := range []string{"a", "b", "c", "d", "e"} {
			dp.Attributes().PutStr(key, strings.Repeat("x", 16<<10))
		}
	})
	name := strings.Repeat("ä", 512)
	b.expect(func(r *row) {
		r.metric, r.unit, r.run = name, name, name
		r.tags = `{"huge":"` + strings.Repeat("ä", 8<<10) + `"}`
	})
	b.truncated += 4
	full := strings.Repeat("x", 16<<10)
	b.expect(func(r *row) { r.tags = `{"a":"` + full + `","b":"` + full + `","c":"` + full + `"}` })
	b.truncated += 2
}

// sendGarbage sends what is no OTLP: the answer says that it is the sender's mistake, so no sender tries it again.
func (b *bad) sendGarbage() {
	random := make([]byte, 4096)
	source := rand.NewChaCha8([32]byte{1})
	_, _ = source.Read(random) // never fails
	valid, err := pmetricotlp.NewExportRequestFromMetrics(pmetric.NewMetrics()).MarshalProto()
	require.NoError(b.t, err)
	var bomb bytes.Buffer
	zip := gzip.NewWriter(&bomb)
	_, err = zip.Write(make([]byte, 100<<20))
	require.NoError(b.t, err)
	require.NoError(b.t, zip.Close())
	for name, request := range map[string]struct {
		contentType string
		body        []byte
		headers     []string
	}{
		"not JSON":           {"application/json", []byte("loss=1"), nil},
		"JSON cut short":     {"application/json", []byte(`{"resourceMetrics":[{"scopeMetrics":[`), nil},
		"a time in words":    {"application/json", []byte(`{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"gauge":{"dataPoints":[{"timeUnixNano":"noon"}]}}]}]}]}`), nil},
		"random bytes":       {"application/x-protobuf", random, nil},
		"unknown type":       {"text/plain", valid, nil},
		"not gzip":           {"application/x-protobuf", random, []string{"Content-Encoding", "gzip"}},
		"unknown encoding":   {"application/x-protobuf", random, []string{"Content-Encoding", "rot13"}},
		"100 MiB compressed": {"application/json", bomb.Bytes(), []string{"Content-Encoding", "gzip"}},
	} {
		status, answer := postOTLP(b.t, b.c, "metrics", request.contentType, request.body, request.headers...)
		assert.True(b.t, status >= 400 && status < 500, "%s: %d %s", name, status, answer)
	}
}
