package metricpointsexporter

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pitwall-otel/pitwall/exporter/metricpointsexporter/internal/points"
)

// What a flood needed is given back after eight ranges that need little of it, and not for one between great ones.
func TestSender_GivesMemoryBack(t *testing.T) {
	payloadOf := func(rows int) []byte {
		request := requestOf(strings.Repeat("long", 100), make([]float64, rows)...)
		for _, dp := range request.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).Gauge().DataPoints().All() {
			dp.Attributes().PutStr("tag", strings.Repeat("x", 200))
		}
		e, err := newMetricPoints(nopSettings(), config(t, "http://127.0.0.1:1"))
		require.NoError(t, err)
		var payload []byte
		e.encode(&payload, request, points.Request{})
		return payload
	}
	great, small := payloadOf(30_000), payloadOf(100)
	s := &sender{}
	f := func(payload []byte, holds bool) {
		t.Helper()
		s.builder.Reset()
		require.NoError(t, s.builder.Add(payload))
		s.relax()
		assert.Equal(t, holds, s.held() > idleBytes)
	}
	for range 20 {
		f(great, true)
		for range smallRanges - 1 {
			f(small, true)
		}
	}
	f(small, false)
}
