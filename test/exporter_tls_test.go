package test

import (
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pitwall-otel/pitwall/internal/collectortest"
)

// complaint is how the exporter's one line begins when points must wait.
const complaint = "the table takes no points; they wait in the log"

// TestExporterOverTLS runs an agent against a ClickHouse with a certificate of its own authority, a user and a
// password. Each mistake in its configuration costs one clear line and no point: what was accepted meanwhile waits in
// the same log and arrives once the mistake is mended.
func TestExporterOverTLS(t *testing.T) {
	s := startSecured(t)
	seedTable := seedFile(t, "seed_table.sql")
	c := collectortest.New(t, "config/agent.yaml", quiet,
		// It tries often, so that a line for each attempt would show.
		"exporters: {metricpoints: {create_schema: false, retry: {initial_interval: 10ms, max_interval: 20ms}}}")
	var want []row
	// f starts the agent with an environment, sends it a point, and requires the line that says why the point waits.
	f := func(name string, environment map[string]string, says ...string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			c.Env = s.environment(environment)
			before := 0
			if len(want) > 0 {
				before = len(c.Log())
			}
			c.Start()
			want = append(want, sendStep(t, c, len(want)))
			var lines []string
			require.Eventually(t, func() bool {
				lines = ofPoints(linesWith(c.Log()[before:], complaint))
				return len(lines) > 0
			}, storedWithin, 50*time.Millisecond, "the exporter says nothing")
			for _, text := range append(says, s.address) {
				assert.Contains(t, lines[0], text)
			}
			assert.Len(t, lines, 1, "it says so once a minute")
			assert.Contains(t, componentStatus(t, c), `"StatusRecoverableError"`)
			accepted, _ := telemetry(c, "otelcol_metricpoints_points_queued")
			assert.InDelta(t, len(want), accepted, 0, "points that wait")
			c.Stop()
		})
	}
	f("no authority", map[string]string{"PITWALL_CLICKHOUSE_CA_FILE": ""}, "certificate signed by unknown authority", `"class": "configuration"`)
	f("another authority", map[string]string{"PITWALL_CLICKHOUSE_CA_FILE": newAuthority(t).file}, "certificate signed by unknown authority")
	f("wrong password", map[string]string{"PITWALL_CLICKHOUSE_PASSWORD": "guessed-secret"}, "writer", `"class": "configuration"`)
	f("unknown user", map[string]string{"PITWALL_CLICKHOUSE_USER": "nobody"}, "nobody", `"class": "configuration"`)
	f("plain HTTP", map[string]string{"PITWALL_CLICKHOUSE_ENDPOINT": "http://" + s.address}, "HTTPS")
	f("no database", nil, "database training_observability does not exist", `"class": "configuration"`)
	s.requireWriter("CREATE DATABASE training_observability")
	f("no table", nil, "table training_observability.metric_points does not exist", `"class": "configuration"`)
	s.requireWriter(strings.Replace(seedTable, "`value` Float64", "`value` Float32", 1))
	f("a column of another type", nil, "column value is Float32, want Float64", `"class": "configuration"`)
	s.requireWriter("DROP TABLE training_observability.metric_points SYNC")
	s.requireWriter(seedTable)
	f("an account that may not write", map[string]string{
		"PITWALL_CLICKHOUSE_USER": "reader", "PITWALL_CLICKHOUSE_PASSWORD": readerPassword,
	}, "reader", `"class": "configuration"`)

	t.Run("mended while it runs", func(t *testing.T) {
		s.requireWriter("DROP TABLE training_observability.metric_points SYNC")
		c.Env = s.environment(nil)
		before := len(c.Log())
		c.Start()
		want = append(want, sendStep(t, c, len(want)))
		require.Eventually(t, func() bool { return len(linesWith(c.Log()[before:], complaint)) > 0 }, storedWithin, 50*time.Millisecond)
		s.createSchema()
		waitStored(t, c)
		requireRows(t, want, storedRows(t, s.query, "1"))
		assert.Len(t, ofPoints(linesWith(c.Log()[before:], "the table takes points again")), 1)
		require.Eventually(t, func() bool { return !strings.Contains(componentStatus(t, c), `"StatusRecoverableError"`) },
			storedWithin, 50*time.Millisecond, "the exporter of quarantined points, too, has its table")
		c.Stop()
	})
	t.Run("passwords are not in the log", func(t *testing.T) {
		for _, secret := range []string{"guessed-secret", writerPassword, readerPassword, "w&=?#", "r&=?#", "w%26", "r%26"} {
			assert.NotContains(t, c.Log(), secret)
		}
	})
}

// environment is what config/agent.yaml needs, with changes.
func (s secured) environment(changes map[string]string) []string {
	environment := []string{
		"PITWALL_CLICKHOUSE_ENDPOINT=https://" + s.address,
		"PITWALL_CLICKHOUSE_CA_FILE=" + s.ca.file,
		"PITWALL_CLICKHOUSE_USER=writer",
		"PITWALL_CLICKHOUSE_PASSWORD=" + writerPassword,
		"PITWALL_OTLP_ENDPOINT=http://127.0.0.1:1", // no traces and logs here
	}
	for name, value := range changes {
		environment = append(environment, name+"="+value) // the last one counts
	}
	return environment
}

func (s secured) query(sql string) (string, error) {
	status, answer := s.curl("writer", writerPassword, sql)
	if status != http.StatusOK {
		return "", errors.New(answer)
	}
	return answer, nil
}

// createSchema makes the tables as the documentation says to with create_schema: false.
func (s secured) createSchema() {
	s.t.Helper()
	for _, table := range []string{"metric_points", "quarantined_points"} {
		sql, err := exec.Command(filepath.Join("..", "bin", "pitwall-schema"), "--table", table).Output()
		require.NoError(s.t, err, "run make build first")
		for statement := range strings.SplitSeq(string(sql), ";\n") {
			if strings.TrimSpace(statement) != "" {
				s.requireWriter(statement)
			}
		}
	}
}

// sendStep sends the point of one step and returns its row.
func sendStep(t *testing.T, c *collectortest.Collector, step int) row {
	t.Helper()
	now := time.Now()
	post(t, c, "/v1/metrics", fmt.Sprintf(`{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"loss","unit":"1","gauge":{"dataPoints":[
		{"timeUnixNano":"%d","asDouble":0.5,"attributes":[{"key":"rl.step","value":{"intValue":%d}}]}]}}]}]}]}`, now.UnixNano(), step))
	return row{millis: now.UnixMilli(), device: noDevice, step: uint64(step), metric: "loss", value: "0.5", unit: "1"}
}

// ofPoints leaves out what the exporter of quarantined points says about the same server.
func ofPoints(lines []string) []string {
	return slices.DeleteFunc(lines, func(line string) bool { return strings.Contains(line, `"metricpoints/quarantine"`) })
}

func linesWith(text, part string) []string {
	var found []string
	for line := range strings.Lines(text) {
		if strings.Contains(line, part) {
			found = append(found, line)
		}
	}
	return found
}

// componentStatus is what the health check says about every component.
func componentStatus(t *testing.T, c *collectortest.Collector) string {
	t.Helper()
	response, err := http.Get("http://" + c.Health + "/status?verbose")
	require.NoError(t, err)
	code, answer := read(t, response)
	require.Equal(t, http.StatusOK, code, answer) // 500 only after five minutes
	return answer
}
