package points_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pitwall-otel/pitwall/exporter/metricpointsexporter/internal/points"
)

// gauge is a request with one gauge point; each argument is a list of OTLP/JSON attributes.
func gauge(resource, scope, point string) string {
	return fmt.Sprintf(`{"resourceMetrics":[{"resource":{"attributes":[%s]},"scopeMetrics":[{"scope":{"attributes":[%s]},
		"metrics":[{"name":"loss","unit":"nat","gauge":{"dataPoints":[{"timeUnixNano":"1790000000123456789","asDouble":0.5,"attributes":[%s]}]}}]}]}]}`,
		resource, scope, point)
}

func str(key, value string) string {
	return fmt.Sprintf(`{"key":%q,"value":{"stringValue":%q}}`, key, value)
}

func integer(key string, value int64) string {
	return fmt.Sprintf(`{"key":%q,"value":{"intValue":"%d"}}`, key, value)
}

func double(key string, value float64) string {
	return fmt.Sprintf(`{"key":%q,"value":{"doubleValue":%g}}`, key, value)
}

func list(attributes ...string) string { return strings.Join(attributes, ",") }

func TestEncoder_ColumnsFromAttributes(t *testing.T) {
	plain := row{millis: 1790000000123, device: 65535, metric: "loss", value: 0.5, unit: "nat"}
	f := func(name, request_ string, change func(*row)) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			want := plain
			change(&want)
			got, _ := encode(t, newSettings(t), request(t, request_))
			assert.Equal(t, []row{want}, got)
		})
	}
	f("a point without identity is a valid row", gauge("", "", ""), func(*row) {})
	f("canonical names", gauge(
		list(str("rl.run.id", "r1"), str("host.name", "n1"), integer("rl.rank.global", 7)), "", list(integer("rl.step", 12), integer("rl.device.index", 3))),
		func(r *row) { r.run, r.host, r.rank, r.step, r.device = "r1", "n1", 7, 12, 3 })
	f("aliases", gauge(
		list(str("wandb.run.id", "w"), integer("dl.rank", 9)), "", list(integer("global_step", 5), integer("gpu", 1))),
		func(r *row) { r.run, r.rank, r.step, r.device = "w", 9, 5, 1 })
	f("the canonical name beats the alias beside it, which stays a tag", gauge("", "",
		list(str("run_id", "alias"), str("rl.run.id", "canonical"))),
		func(r *row) { r.run, r.tags = "canonical", `{"run_id":"alias"}` })
	f("point beats scope beats resource, even by an alias", gauge(
		list(str("rl.run.id", "resource"), integer("rl.step", 1)), list(str("rl.run.id", "scope"), integer("rl.step", 2)), integer("step", 3)),
		func(r *row) { r.run, r.step = "scope", 3 })
	f("numbers in text and in floats", gauge("", "", list(str("rank", "17"), double("step", 4000))),
		func(r *row) { r.rank, r.step = 17, 4000 })
	f("what is no rank stays a tag", gauge("", "", list(integer("rank", -1), str("step", "warm-up"), double("gpu", 1.5))),
		func(r *row) { r.tags = `{"gpu":1.5,"rank":-1,"step":"warm-up"}` })
	f("a rank beyond 32 bits and a device beyond 16 stay tags", gauge("", "", list(integer("rank", 1<<32), integer("gpu", 1<<16))),
		func(r *row) { r.tags = `{"gpu":65536,"rank":4294967296}` })
	f("an unusable value leaves the outer level's", gauge(integer("rank", 3), "", str("rank", "x")),
		func(r *row) { r.rank, r.tags = 3, `{"rank":"x"}` })
	f("an empty run is no run", gauge(str("rl.run.id", "r1"), "", str("rl.run.id", "")),
		func(r *row) { r.run, r.tags = "r1", `{"rl.run.id":""}` })
	f("configured resource attributes are tags, others are not", gauge(
		list(str("service.name", "trainer"), str("telemetry.sdk.name", "otel"), str("rl.role", "actor")), str("scope.attribute", "x"), ""),
		func(r *row) { r.tags = `{"rl.role":"actor","service.name":"trainer"}` })
	f("a point's own attribute beats the resource's", gauge(str("service.name", "outer"), "", str("service.name", "inner")),
		func(r *row) { r.tags = `{"service.name":"inner"}` })
	f("invalid UTF-8 in a column is replaced", strings.ReplaceAll(gauge(str("rl.run.id", "RUN"), "", ""), "RUN", "a\xffb"),
		func(r *row) { r.run = "a\uFFFDb" })
}

func TestEncoder_Tags(t *testing.T) {
	f := func(name string, put func(pcommon.Map), want string, truncated int) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			metrics := request(t, gauge("", "", ""))
			put(firstPoint(metrics).Attributes())
			rows, counts := encode(t, newSettings(t), metrics)
			assert.Equal(t, want, rows[0].tags)
			assert.Equal(t, truncated, counts.Truncated)
			if want != "" {
				assert.JSONEq(t, want, rows[0].tags) // and it is JSON at all
			}
		})
	}
	f("every type", func(m pcommon.Map) {
		m.PutStr("s", "x")
		m.PutInt("i", -5)
		m.PutDouble("d", 0.25)
		m.PutBool("b", true)
		m.PutEmpty("e")
		m.PutEmptyBytes("y").FromRaw([]byte{0, 255, 1})
	}, `{"b":true,"d":0.25,"e":null,"i":-5,"s":"x","y":"AP8B"}`, 0)
	f("nested values stay JSON, sorted", func(m pcommon.Map) {
		inner := m.PutEmptyMap("m")
		inner.PutInt("z", 1)
		inner.PutEmptySlice("a").AppendEmpty().SetStr("q\"")
	}, `{"m":{"a":["q\""],"z":1}}`, 0)
	f("doubles that JSON has not", func(m pcommon.Map) {
		m.PutDouble("n", math.NaN())
		m.PutDouble("p", math.Inf(1))
		m.PutDouble("m", math.Inf(-1))
	}, `{"m":"-Infinity","n":"NaN","p":"Infinity"}`, 0)
	f("control characters, quotes and invalid UTF-8", func(m pcommon.Map) {
		m.PutStr("k\n\"", "a\\b\t\x01\r\xc3(é")
	}, "{\"k\\n\\\"\":\"a\\\\b\\t\\u0001\\r\uFFFD(é\"}", 0)
	f("a long value is cut between runes", func(m pcommon.Map) {
		m.PutStr("v", strings.Repeat("é", 20)) // 40 bytes, the limit is 32
	}, `{"v":"`+strings.Repeat("é", 16)+`"}`, 1)
	f("10 MB are cut", func(m pcommon.Map) { m.PutStr("v", strings.Repeat("x", 10<<20)) },
		`{"v":"`+strings.Repeat("x", 32)+`"}`, 1)
	f("long bytes are cut to whole groups", func(m pcommon.Map) {
		m.PutEmptyBytes("y").FromRaw(make([]byte, 100))
	}, `{"y":"`+strings.Repeat("A", 32)+`"}`, 1)
	f("cut nested values are kept as text", func(m pcommon.Map) {
		s := m.PutEmptySlice("l")
		for range 40 {
			s.AppendEmpty().SetInt(7)
		}
	}, `{"l":"[7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7"}`, 1)
	f("tags beyond the limit are left out, others stay", func(m pcommon.Map) {
		for i := range 9 {
			m.PutStr(fmt.Sprintf("tag%d", i), strings.Repeat("x", 30)) // 40 bytes each with key, quotes and comma
		}
		m.PutInt("z", 1)
	}, strings.ReplaceAll(`{"tag0":"X","tag1":"X","tag2":"X","tag3":"X","tag4":"X","tag5":"X","z":1}`, "X", strings.Repeat("x", 30)), 3)
}

func firstPoint(m pmetric.Metrics) pmetric.NumberDataPoint {
	return m.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).Gauge().DataPoints().At(0)
}

func TestEncoder_EventTime(t *testing.T) {
	f := func(name string, policy points.TimePolicy, nanos uint64, want []int64, outside int) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			settings := newSettings(t)
			settings.TimePolicy = policy
			metrics := request(t, gauge("", "", ""))
			firstPoint(metrics).SetTimestamp(pcommon.Timestamp(nanos))
			rows, counts := encode(t, settings, metrics)
			var got []int64
			for _, r := range rows {
				got = append(got, r.millis)
			}
			assert.Equal(t, want, got)
			assert.Equal(t, outside, counts.TimeOutside)
			assert.Equal(t, 1-len(want), counts.TimeDropped)
		})
	}
	nanos := func(d time.Duration) uint64 { return uint64(at.Add(d).UnixNano()) }
	millis := func(d time.Duration) []int64 { return []int64{at.Add(d).UnixMilli()} }
	const day = 24 * time.Hour
	f("inside", points.TimeDrop, nanos(-399*day), millis(-399*day), 0)
	f("slightly ahead", points.TimeDrop, nanos(59*time.Minute), millis(59*time.Minute), 0)
	f("too old, kept", points.TimeKeep, nanos(-401*day), millis(-401*day), 1)
	f("too old, clamped", points.TimeClamp, nanos(-401*day), millis(-400*day), 1)
	f("too old, dropped", points.TimeDrop, nanos(-401*day), nil, 1)
	f("ahead, clamped", points.TimeClamp, nanos(2*time.Hour), millis(time.Hour), 1)
	f("absent, kept as the epoch", points.TimeKeep, 0, []int64{0}, 1)
	f("absent, dropped", points.TimeDrop, 0, nil, 1)
	f("beyond what the column shows", points.TimeKeep, math.MaxUint64, []int64{10413791999999}, 1)
}

func TestEncoder_ValuesAsTheyAre(t *testing.T) {
	for _, want := range []float64{0, math.Copysign(0, -1), 1.5, math.MaxFloat64, math.SmallestNonzeroFloat64, math.Inf(1), math.Inf(-1), math.NaN()} {
		metrics := request(t, gauge("", "", ""))
		firstPoint(metrics).SetDoubleValue(want)
		rows, _ := encode(t, newSettings(t), metrics)
		assert.Equal(t, math.Float64bits(want), math.Float64bits(rows[0].value), "%v", want)
	}
	metrics := request(t, gauge("", "", ""))
	firstPoint(metrics).SetIntValue(-42)
	rows, _ := encode(t, newSettings(t), metrics)
	assert.Equal(t, -42.0, rows[0].value)
}

func TestEncoder_PointsWithoutValueMakeNoRow(t *testing.T) {
	metrics := request(t, `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[
		{"name":"empty"},
		{"name":"no points","gauge":{"dataPoints":[]}},
		{"name":"g","gauge":{"dataPoints":[{"timeUnixNano":"1790000000123000000","flags":1},{"timeUnixNano":"1790000000123000000"}]}},
		{"name":"h","histogram":{"dataPoints":[{"timeUnixNano":"1790000000123000000","flags":1}]}},
		{"name":"kept","sum":{"dataPoints":[{"timeUnixNano":"1790000000123000000","asInt":"3"}]}}]}]}]}`)
	rows, counts := encode(t, newSettings(t), metrics)
	require.Len(t, rows, 1)
	assert.Equal(t, "kept", rows[0].metric)
	assert.Equal(t, 3, counts.NoRecordedValue)
}

func TestEncoder_LongNamesAreCutAndNotRemembered(t *testing.T) {
	encoder := points.NewEncoder(newSettings(t))
	metrics := request(t, gauge("", "", ""))
	metric := metrics.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0)
	metric.SetName(strings.Repeat("n", 1<<20))
	payload, counts := encoder.Encode(nil, metrics, points.Request{}, at)
	assert.Equal(t, strings.Repeat("n", 64), decode(t, payload)[0].metric)
	assert.Equal(t, 1, counts.Truncated)
}

func TestEncoder_BucketsDoNotMultiplyHugeTags(t *testing.T) {
	settings := newSettings(t)
	settings.MaxAttributeBytes, settings.MaxTagsBytes = 60_000, 64_000
	metrics := pmetric.NewMetrics()
	histogram := metrics.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics().AppendEmpty().SetEmptyHistogram()
	dp := histogram.DataPoints().AppendEmpty()
	dp.SetTimestamp(pcommon.NewTimestampFromTime(at))
	dp.Attributes().PutStr("huge", strings.Repeat("x", 50_000))
	const buckets = 10_000 // with these tags half a GB
	for i := range buckets {
		dp.ExplicitBounds().Append(float64(i))
		dp.BucketCounts().Append(1)
	}
	payload, counts := points.NewEncoder(settings).Encode(nil, metrics, points.Request{}, at)
	assert.Less(t, len(payload), 40<<20)
	rows := decode(t, payload)
	require.Len(t, rows, buckets+1) // and the count
	assert.True(t, strings.HasPrefix(rows[1].tags, `{"huge":"x`))
	assert.JSONEq(t, `{"le":"9999"}`, rows[buckets].tags)
	whole := 0
	for _, r := range rows {
		if len(r.tags) > 50_000 {
			whole++
		}
	}
	assert.Equal(t, buckets+1-whole, counts.Truncated)
}

func TestEncoder_RequestsDoNotLeakIntoEachOther(t *testing.T) {
	encoder := points.NewEncoder(newSettings(t))
	first := request(t, gauge(list(str("rl.run.id", "one"), str("service.name", "a")), "", str("tag", "1")))
	second := request(t, gauge("", "", ""))
	want, _ := encode(t, newSettings(t), second)
	encoder.Encode(nil, first, points.Request{}, at)
	payload, _ := encoder.Encode(nil, second, points.Request{}, at)
	assert.Equal(t, want, decode(t, payload))
}

func TestEncoder_RemembersABoundedNumberOfNames(t *testing.T) {
	encoder := points.NewEncoder(newSettings(t))
	metrics := request(t, gauge("", "", ""))
	metric := metrics.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0)
	for i := range 100_000 {
		metric.SetName(fmt.Sprintf("metric-%d", i))
		payload, _ := encoder.Encode(nil, metrics, points.Request{}, at)
		if i%9999 == 0 {
			require.Equal(t, metric.Name(), decode(t, payload)[0].metric)
		}
	}
	assert.Less(t, encoder.Remembered(), 40_000)
}
