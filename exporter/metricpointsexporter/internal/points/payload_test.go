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
	payload, _ := points.NewEncoder(newSettings(t)).Encode(nil, request(t, gauge(str("rl.run.id", "r"), "", str("tag", "x"))), points.BatchID{}, at)
	return payload
}

func identifiedPayload(t testing.TB, id points.BatchID) []byte {
	payload, _ := points.NewEncoder(newSettings(t)).Encode(nil, request(t, gauge(str("rl.run.id", "r"), "", str("tag", "x"))), id, at)
	return payload
}

// The id is 16 bytes more; without one a payload is what it always was, and is read as ever.
func TestParsePayload_BatchID(t *testing.T) {
	id := points.BatchID([]byte("0123456789abcdef"))
	plain, identified := samplePayload(t), identifiedPayload(t, id)
	assert.Equal(t, byte(1), plain[0])
	assert.Len(t, identified, len(plain)+16)
	for want, payload := range map[points.BatchID][]byte{{}: plain, id: identified} {
		p, err := points.ParsePayload(payload)
		require.NoError(t, err)
		assert.Equal(t, want, p.BatchID)
		assert.Equal(t, newSettings(t).Registry.Version(), p.SchemaVersion)
		assert.Equal(t, want, points.BatchIDOf(payload))
		assert.Equal(t, decode(t, plain), decode(t, payload))
	}
	for n := range identified {
		_, err := points.ParsePayload(identified[:n])
		require.Error(t, err, "cut at %d", n)
	}
	assert.Equal(t, points.BatchID{}, points.BatchIDOf(nil))
	assert.Equal(t, points.BatchID{}, points.BatchIDOf([]byte{2, 200, 1}))
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
	f.Add(identifiedPayload(f, points.BatchID{1, 2, 3}))
	f.Fuzz(func(t *testing.T, data []byte) {
		id := points.BatchIDOf(data)
		if p, err := points.ParsePayload(data); err == nil {
			require.Equal(t, p.BatchID, id)
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
		payload, counts := encoder.Encode(nil, metrics, points.BatchID{}, at)
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
