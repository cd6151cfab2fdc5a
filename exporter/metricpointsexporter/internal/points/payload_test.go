package points_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pitwall-otel/pitwall/exporter/metricpointsexporter/internal/points"
)

func samplePayload(t testing.TB) []byte {
	payload, _ := points.NewEncoder(newSettings(t)).Encode(nil, request(t, gauge(str("rl.run.id", "r"), "", str("tag", "x"))), points.Request{}, at)
	return payload
}

func payloadOf(t testing.TB, r points.Request) []byte {
	payload, _ := points.NewEncoder(newSettings(t)).Encode(nil, request(t, gauge(str("rl.run.id", "r"), "", str("tag", "x"))), r, at)
	return payload
}

// What is said of the request stands before the rows; without it a payload is what it always was, and is read as ever.
func TestParsePayload_Request(t *testing.T) {
	plain := samplePayload(t)
	assert.Equal(t, byte(1), plain[0])
	f := func(r points.Request, added int) {
		t.Helper()
		payload := payloadOf(t, r)
		assert.Len(t, payload, len(plain)+added)
		p, err := points.ParsePayload(payload)
		require.NoError(t, err)
		assert.Equal(t, r.ID, p.Request.ID)
		assert.Equal(t, string(r.States), string(p.Request.States))
		assert.Equal(t, newSettings(t).Registry.Version(), p.SchemaVersion)
		alone, version := points.RequestOf(payload)
		assert.Equal(t, p.Request, alone)
		if added > 0 {
			assert.Equal(t, p.SchemaVersion, version)
		}
		assert.Equal(t, decode(t, plain), decode(t, payload))
		for n := range payload {
			_, err := points.ParsePayload(payload[:n])
			require.Error(t, err, "cut at %d", n)
		}
	}
	f(points.Request{}, 0)
	f(points.Request{ID: points.BatchID([]byte("0123456789abcdef"))}, 16+4)
	f(points.Request{States: []byte("states")}, 16+4+6)
	f(points.Request{ID: points.BatchID{1}, States: []byte("states")}, 16+4+6)

	for _, damaged := range [][]byte{nil, {2, 200, 1}} {
		r, _ := points.RequestOf(damaged)
		assert.Zero(t, r.ID)
		assert.Empty(t, r.States)
	}
}

// A request without rows may have states all the same.
func TestEncode_StatesWithoutRows(t *testing.T) {
	encoder := points.NewEncoder(newSettings(t))
	payload, counts := encoder.Encode(nil, pmetric.NewMetrics(), points.Request{ID: points.BatchID{1}}, at)
	assert.Empty(t, payload)
	assert.Zero(t, counts.Rows)
	payload, _ = encoder.Encode(nil, pmetric.NewMetrics(), points.Request{States: []byte("states")}, at)
	p, err := points.ParsePayload(payload)
	require.NoError(t, err)
	assert.Zero(t, p.Rows)
	assert.Equal(t, "states", string(p.Request.States))
}

func TestParsePayload_Truncated(t *testing.T) {
	payload := samplePayload(t)
	for n := range payload {
		_, err := points.ParsePayload(payload[:n])
		require.Error(t, err, "cut at %d of %d", n, len(payload))
	}
	_, err := points.ParsePayload(append(payload, 0))
	require.Error(t, err)
}

func TestParsePayload_CarriesTheSchemaVersion(t *testing.T) {
	p, err := points.ParsePayload(samplePayload(t))
	require.NoError(t, err)
	assert.Equal(t, newSettings(t).Registry.Version(), p.SchemaVersion)
}

// Whatever bytes come back from a disk, a payload that parses can be read to its last row.
func FuzzParsePayload(f *testing.F) {
	f.Add(samplePayload(f))
	f.Add(payloadOf(f, points.Request{ID: points.BatchID{1, 2, 3}, States: []byte("states")}))
	f.Fuzz(func(t *testing.T, data []byte) {
		alone, _ := points.RequestOf(data)
		if p, err := points.ParsePayload(data); err == nil {
			require.Equal(t, p.Request, alone)
			decode(t, data)
		}
	})
}

// Whatever OTLP a producer sends, tags are JSON with sorted, distinct keys or empty, and all text is UTF-8.
func FuzzEncode(f *testing.F) {
	for _, seed := range []string{
		gauge(str("service.name", "a"), str("x", "y"), list(str("", ""), integer("rank", -3), double("step", 1e300))),
		`{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"h","histogram":{"dataPoints":[{"count":"1","bucketCounts":["1","2"]}]}}]}]}]}`,
	} {
		proto, err := (&pmetric.ProtoMarshaler{}).MarshalMetrics(request(f, seed))
		require.NoError(f, err)
		f.Add(proto)
	}
	encoder := points.NewEncoder(newSettings(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		metrics, err := (&pmetric.ProtoUnmarshaler{}).UnmarshalMetrics(data)
		if err != nil {
			return
		}
		payload, counts := encoder.Encode(nil, metrics, points.Request{}, at)
		rows := decode(t, payload)
		require.Len(t, rows, counts.Rows)
		for _, r := range rows {
			for _, text := range []string{r.run, r.host, r.metric, r.unit, r.tags} {
				require.True(t, utf8.ValidString(text), "%q", text)
			}
			if r.tags != "" {
				requireSortedObject(t, r.tags)
			}
		}
	})
}

func requireSortedObject(t *testing.T, text string) {
	t.Helper()
	require.True(t, json.Valid([]byte(text)), "%q", text)
	decoder := json.NewDecoder(strings.NewReader(text))
	_, err := decoder.Token()
	require.NoError(t, err)
	previous, first := "", true
	for decoder.More() {
		token, err := decoder.Token()
		require.NoError(t, err)
		key := token.(string)
		require.True(t, first || previous < key, "%q before %q", previous, key)
		previous, first = key, false
		var value json.RawMessage
		require.NoError(t, decoder.Decode(&value))
	}
}
