package test

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pitwall-otel/pitwall/internal/collectortest"
)

// TestOTLPJSON posts OTLP as a program without an SDK would write it and expects exactly these rows.
func TestOTLPJSON(t *testing.T) {
	c := collectortest.New(t, "config/single-node.yaml", quiet, observing)
	c.Start()
	now := time.Now().Truncate(time.Millisecond)
	millis := now.UnixMilli()
	wanted := 0
	// f posts a resource (its attributes) with metrics and compares the rows of the run, whose id is the case's name.
	f := func(name, resource, metrics string, want ...row) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			body := strings.NewReplacer("NOW", strconv.FormatInt(now.UnixNano()+999_999, 10), "RUN", name).Replace(
				`{"resourceMetrics":[{"resource":{"attributes":[` + resource + `]},"scopeMetrics":[{"metrics":[` + metrics + `]}]}]}`)
			status, answer := postOTLP(t, c, "metrics", "application/json", []byte(body))
			require.Equal(t, http.StatusOK, status, answer)
			require.JSONEq(t, `{"partialSuccess":{}}`, answer)
			waitStored(t, c)
			for i := range want {
				want[i].run, want[i].millis = name, millis
			}
			requireRows(t, want, storedRows(t, c.Query, "run_id = '"+name+"'"))
			wanted += len(want)
		})
	}
	const run = `{"key":"rl.run.id","value":{"stringValue":"RUN"}}`
	const gauge = `{"name":"g","gauge":{"dataPoints":[{"timeUnixNano":"NOW","asDouble":1,"attributes":[ATTRIBUTES]}]}}`
	attributes := func(list string) string { return strings.Replace(gauge, "ATTRIBUTES", list, 1) }
	one := func(tags string) row { return row{device: noDevice, metric: "g", value: "1", tags: tags} }

	f("all types", run+`,{"key":"host.name","value":{"stringValue":"h"}}`, `
		{"name":"loss","unit":"nat","gauge":{"dataPoints":[{"timeUnixNano":"NOW","asDouble":0.1},{"timeUnixNano":"NOW","asInt":"-9007199254740993"}]}},
		{"name":"tokens","unit":"{token}","sum":{"aggregationTemporality":2,"isMonotonic":true,"dataPoints":[{"timeUnixNano":"NOW","asInt":"7"}]}},
		{"name":"queue","sum":{"aggregationTemporality":1,"dataPoints":[{"timeUnixNano":"NOW","asInt":3}]}},
		{"name":"step","unit":"s","histogram":{"aggregationTemporality":1,"dataPoints":[{"timeUnixNano":"NOW",
			"count":"6","sum":12.5,"min":0.25,"max":8,"explicitBounds":[1e-7,0.5,2],"bucketCounts":["1","2","0","3"]}]}},
		{"name":"bare","histogram":{"aggregationTemporality":1,"dataPoints":[{"timeUnixNano":"NOW","count":2}]}},
		{"name":"reward","exponentialHistogram":{"aggregationTemporality":1,"dataPoints":[{"timeUnixNano":"NOW",
			"count":"10","sum":1,"scale":1,"zeroCount":"4","zeroThreshold":0.125,
			"positive":{"offset":1,"bucketCounts":["1","0","2"]},"negative":{"offset":-2,"bucketCounts":["3"]}}]}},
		{"name":"latency","unit":"s","summary":{"dataPoints":[{"timeUnixNano":"NOW","count":"5","sum":2.5,
			"quantileValues":[{"quantile":0.5,"value":0.25},{"quantile":0.99,"value":1}]}]}}`,
		row{host: "h", device: noDevice, metric: "loss", value: "0.1", unit: "nat"},
		row{host: "h", device: noDevice, metric: "loss", value: number(-9007199254740992), unit: "nat"}, // what Float64 holds of it
		row{host: "h", device: noDevice, metric: "tokens", value: "7", unit: "{token}"},
		row{host: "h", device: noDevice, metric: "queue", value: "3"},
		row{host: "h", device: noDevice, metric: "step.count", value: "6", unit: "1"},
		row{host: "h", device: noDevice, metric: "step.sum", value: "12.5", unit: "s"},
		row{host: "h", device: noDevice, metric: "step.min", value: "0.25", unit: "s"},
		row{host: "h", device: noDevice, metric: "step.max", value: "8", unit: "s"},
		row{host: "h", device: noDevice, metric: "step.bucket", value: "1", unit: "1", tags: `{"le":"1e-07"}`},
		row{host: "h", device: noDevice, metric: "step.bucket", value: "2", unit: "1", tags: `{"le":"0.5"}`},
		row{host: "h", device: noDevice, metric: "step.bucket", value: "3", unit: "1", tags: `{"le":"+Inf"}`},
		row{host: "h", device: noDevice, metric: "bare.count", value: "2", unit: "1"},
		row{host: "h", device: noDevice, metric: "reward.count", value: "10", unit: "1"},
		row{host: "h", device: noDevice, metric: "reward.sum", value: "1"},
		// The base is 2^(1/2). Positive buckets 1 and 3 end at base^2 and base^4; negative bucket -2 is [-base^-1, -base^-2).
		row{host: "h", device: noDevice, metric: "reward.bucket", value: "3", unit: "1", tags: `{"le":"-0.5"}`},
		row{host: "h", device: noDevice, metric: "reward.bucket", value: "4", unit: "1", tags: `{"le":"0.125"}`},
		row{host: "h", device: noDevice, metric: "reward.bucket", value: "1", unit: "1", tags: `{"le":"2"}`},
		row{host: "h", device: noDevice, metric: "reward.bucket", value: "2", unit: "1", tags: `{"le":"4"}`},
		row{host: "h", device: noDevice, metric: "latency.count", value: "5", unit: "1"},
		row{host: "h", device: noDevice, metric: "latency.sum", value: "2.5", unit: "s"},
		row{host: "h", device: noDevice, metric: "latency.quantile", value: "0.25", unit: "s", tags: `{"quantile":"0.5"}`},
		row{host: "h", device: noDevice, metric: "latency.quantile", value: "1", unit: "s", tags: `{"quantile":"0.99"}`},
	)

	f("attributes of every type", run, attributes(`
		{"key":"z","value":{"stringValue":""}}, {"key":"yes","value":{"boolValue":true}},
		{"key":"int","value":{"intValue":"9223372036854775807"}}, {"key":"double","value":{"doubleValue":1e21}},
		{"key":"bytes","value":{"bytesValue":"AP8="}}, {"key":"none","value":{}}, {"key":"absent"},
		{"key":"list","value":{"arrayValue":{"values":[{"stringValue":"a"},{"intValue":"1"},{},{"arrayValue":{}}]}}},
		{"key":"map","value":{"kvlistValue":{"values":[{"key":"b","value":{"doubleValue":-0.5}},{"key":"a","value":{"kvlistValue":{}}}]}}},
		{"key":"a.twice","value":{"intValue":"1"}}, {"key":"a.twice","value":{"intValue":"2"}}, {"key":"","value":{"intValue":"0"}}`),
		one(`{"":0,"a.twice":1,"absent":null,"bytes":"AP8=","double":1e+21,"int":9223372036854775807,"list":["a",1,null,[]],`+
			`"map":{"a":{},"b":-0.5},"none":null,"yes":true,"z":""}`))

	f("awkward UTF-8", run, attributes(`
		{"key":"\u0000\u001f\n\t\"\\","value":{"stringValue":"\u0000\u001f\r\n\t\"\\\/\u007f"}},
		{"key":"ключ","value":{"stringValue":"größer ☃ 😀 \ud83d\ude00 \u2028"}},
		{"key":"lone","value":{"stringValue":"<\ud800>"}}`),
		one(`{"\u0000\u001f\n\t\"\\":"\u0000\u001f\r\n\t\"\\/`+"\x7f"+`","lone":"<`+"\uFFFD"+`>","ключ":"größer ☃ 😀 😀 `+"\u2028"+`"}`))

	columns := func(host string, rank uint32, device uint16, step uint64, tags string) row {
		return row{host: host, rank: rank, device: device, step: step, metric: "g", value: "1", tags: tags}
	}
	f("the point before the resource", run+`,
		{"key":"host.name","value":{"stringValue":"outer"}}, {"key":"rl.rank","value":{"intValue":"1"}},
		{"key":"service.name","value":{"stringValue":"outer"}}, {"key":"os.type","value":{"stringValue":"linux"}}`, attributes(`
		{"key":"host.name","value":{"stringValue":"inner"}}, {"key":"rl.rank.global","value":{"intValue":"2"}},
		{"key":"service.name","value":{"stringValue":"inner"}}, {"key":"step","value":{"intValue":"3"}}`),
		columns("inner", 2, noDevice, 3, `{"service.name":"inner"}`))
	f("aliases by precedence", run, attributes(`
		{"key":"rank","value":{"intValue":"4"}}, {"key":"dl.rank","value":{"intValue":"3"}}, {"key":"rl.rank","value":{"intValue":"2"}},
		{"key":"gpu","value":{"stringValue":"6"}}, {"key":"global_step","value":{"intValue":"9"}}, {"key":"step","value":{"intValue":"8"}}`),
		columns("", 2, 6, 8, `{"dl.rank":3,"global_step":9,"rank":4}`))
	f("the greatest identity", run, attributes(`
		{"key":"rl.rank.global","value":{"intValue":"4294967295"}}, {"key":"rl.device.index","value":{"doubleValue":65534}},
		{"key":"rl.step","value":{"stringValue":"18446744073709551615"}}`),
		columns("", 4294967295, 65534, 18446744073709551615, ""))
	f("what fits no column stays a tag", run, attributes(`
		{"key":"rl.rank.global","value":{"intValue":"4294967296"}}, {"key":"rl.device.index","value":{"intValue":"-1"}},
		{"key":"rl.step","value":{"doubleValue":1.5}}, {"key":"host.name","value":{"stringValue":""}}`),
		columns("", 0, noDevice, 0, `{"host.name":"","rl.device.index":-1,"rl.rank.global":4294967296,"rl.step":1.5}`))

	t.Run("no resource, no attributes, no unit", func(t *testing.T) {
		status, answer := postOTLP(t, c, "metrics", "application/json", []byte(`{"resourceMetrics":[{"scopeMetrics":[{"metrics":[
			{"name":"alone","gauge":{"dataPoints":[{"timeUnixNano":"`+strconv.FormatInt(now.UnixNano(), 10)+`","asDouble":-2.5}]}}]}]}]}`))
		require.Equal(t, http.StatusOK, status, answer)
		waitStored(t, c)
		requireRows(t, []row{{millis: millis, device: noDevice, metric: "alone", value: "-2.5"}}, storedRows(t, c.Query, "run_id = ''"))
		wanted++
	})
	t.Run("nothing else", func(t *testing.T) {
		assert.Len(t, storedRows(t, c.Query, "1"), wanted)
		accepted, _ := telemetry(c, "otelcol_metricpoints_points_accepted")
		assert.InDelta(t, wanted, accepted, 0)
		stored, _ := telemetry(c, "otelcol_metricpoints_points_stored")
		assert.InDelta(t, wanted, stored, 0)
	})
}

// postOTLP sends one request to /v1/SIGNAL as a program without an SDK does.
func postOTLP(t *testing.T, c *collectortest.Collector, signal, contentType string, body []byte, headers ...string) (status int, answer string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+c.HTTP+"/v1/"+signal, bytes.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("Content-Type", contentType)
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, string(content)
}
