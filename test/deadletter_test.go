package test

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pitwall-otel/pitwall/internal/collectortest"
)

// TestDeadLetter: rows that the server will never take do not stop those that follow. They lie beside their reason, are
// counted, and can be inserted by hand, as the exporter's README says, once the reason is mended.
func TestDeadLetter(t *testing.T) {
	c := collectortest.New(t, "config/single-node.yaml", quiet)
	c.Start()
	ask(t, c.Query, "ALTER TABLE training_observability.metric_points ADD CONSTRAINT early CHECK step < 1")
	rejected := sendStep(t, c, 1)
	waitStored(t, c)
	ask(t, c.Query, "ALTER TABLE training_observability.metric_points DROP CONSTRAINT early")
	stored := sendStep(t, c, 2)
	waitStored(t, c)
	requireRows(t, []row{stored}, storedRows(t, c.Query, "1"))
	for name, want := range map[string]float64{"accepted": 2, "stored": 1, "dropped": 1, "queued": 0} {
		got, _ := telemetry(c, "otelcol_metricpoints_points_"+name)
		assert.InDelta(t, want, got, 0, name)
	}
	dropped, _ := telemetry(c, "otelcol_metricpoints_points_dropped", `reason="rejected"`)
	assert.InDelta(t, 1, dropped, 0)

	letters, err := filepath.Glob(filepath.Join(c.Dir, "data", "metricpoints-log", "dead-letter", "*.native"))
	require.NoError(t, err)
	require.Len(t, letters, 1)
	reason, err := os.ReadFile(letters[0] + ".reason")
	require.NoError(t, err)
	assert.Contains(t, string(reason), "VIOLATED_CONSTRAINT")
	lines := linesWith(c.Log(), "the server rejected points for good")
	require.Len(t, lines, 1)
	assert.Contains(t, lines[0], "VIOLATED_CONSTRAINT")
	assert.Contains(t, lines[0], filepath.Base(letters[0]))

	for range 2 { // the token makes a second try harmless
		replay(t, c, letters[0])
		requireRows(t, []row{rejected, stored}, storedRows(t, c.Query, "1"))
	}
}

// replay does what the README's curl does.
func replay(t *testing.T, c *collectortest.Collector, letter string) {
	t.Helper()
	block, err := os.Open(letter)
	require.NoError(t, err)
	defer block.Close()
	query := url.Values{
		"query":                      {"INSERT INTO training_observability.metric_points FORMAT Native"},
		"insert_deduplication_token": {strings.TrimSuffix(filepath.Base(letter), ".native")},
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+c.SQL+"/?"+query.Encode(), block)
	require.NoError(t, err)
	request.SetBasicAuth("default", c.Password)
	response, err := (&http.Client{Timeout: time.Minute}).Do(request)
	require.NoError(t, err)
	status, answer := read(t, response)
	require.Equal(t, http.StatusOK, status, answer)
}
