package test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pitwall-otel/pitwall/internal/collectortest"
	"github.com/pitwall-otel/pitwall/test/fleet"
)

// scrapedWithin is for a scrape to happen and its rows to be in the table on a machine busy with other tests.
const scrapedWithin = time.Minute

// watched is a collector whose engine receiver looks at a fleet.
type watched struct {
	t     *testing.T
	c     *collectortest.Collector
	fleet *fleet.Fleet
	stop  func()
}

// watch starts the collector with the targets, which are YAML of targets:, and with further YAML of configuration.
func watch(t *testing.T, f *fleet.Fleet, targets string, overrides ...string) *watched {
	t.Helper()
	engine := `
receivers:
  engine: {collection_interval: 500ms, initial_delay: 0s, timeout: 5s, max_body_size: 4194304, targets: {` + targets + `}}
`
	w := &watched{t: t, c: collectortest.New(t, "config/single-node.yaml", append([]string{quiet, engine}, overrides...)...), fleet: f}
	w.c.Start()
	return w
}

func startFleet(t *testing.T, options fleet.Options) *fleet.Fleet {
	t.Helper()
	f, err := fleet.Start(options)
	require.NoError(t, err)
	t.Cleanup(f.Close)
	return f
}

// drive lets virtual time run, speed times as fast as the clock, until freeze.
func (w *watched) drive(speed float64) {
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan struct{})
	go func() { defer close(done); w.fleet.Drive(ctx, speed) }()
	w.stop = func() { cancel(); <-done }
	w.t.Cleanup(w.stop)
}

// freeze stops the virtual time, and waits until what is counted by then has been scraped and stored.
func (w *watched) freeze(targets ...string) {
	w.t.Helper()
	w.stop()
	w.scraped(targets...)
}

// scraped waits for a scrape of each target that began after now, and for its rows.
func (w *watched) scraped(targets ...string) {
	w.t.Helper()
	since := time.Now()
	for _, target := range targets {
		require.Eventually(w.t, func() bool {
			answer, err := w.c.Query(fmt.Sprintf(`SELECT toUnixTimestamp64Milli(max(event_time)) FROM training_observability.metric_points
				WHERE metric = 'pitwall.scrape.up' AND value = 1 AND JSONExtractString(tags_json, 'pitwall.target') = '%s' FORMAT TabSeparated`, target))
			millis, _ := strconv.ParseInt(answer, 10, 64)
			return err == nil && time.UnixMilli(millis).After(since)
		}, scrapedWithin, 100*time.Millisecond, "%s has not been scraped", target)
	}
}

// address is the target's name of an engine.
func address(url string) string { return strings.TrimPrefix(url, "http://") }

// query returns the rows of an answer.
func (w *watched) query(sql string) [][]string {
	w.t.Helper()
	answer, err := w.c.Query(sql + " FORMAT TabSeparatedRaw")
	require.NoError(w.t, err)
	var rows [][]string
	for line := range strings.Lines(answer) {
		rows = append(rows, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
	}
	return rows
}

// number is the one value of an answer.
func (w *watched) number(sql string) float64 {
	w.t.Helper()
	rows := w.query(sql)
	require.Len(w.t, rows, 1, sql)
	value, err := strconv.ParseFloat(rows[0][0], 64)
	require.NoError(w.t, err, "%s gives %q", sql, rows[0][0])
	return value
}

// increases are the rows of a counter with what it grew by since the row before. A counter that is there at the first
// scrape of its engine began before, by nobody knows how much; one that appears later began at 0, and so did one that fell.
const increases = `(
	SELECT run_id, instance, tags_json, event_time,
		multiIf(before < 0 AND event_time = first, 0, before < 0 OR value < before, value, value - before) AS increase
	FROM (
		SELECT run_id, tags_json, event_time, value, JSONExtractString(tags_json, 'service.instance.id') AS instance,
			lagInFrame(value, 1, -1.) OVER (
				PARTITION BY run_id, tags_json ORDER BY event_time ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS before
		FROM training_observability.metric_points WHERE metric = '%[1]s'
	) AS counter
	JOIN (
		SELECT run_id AS run, JSONExtractString(tags_json, 'service.instance.id') AS engine, min(event_time) AS first
		FROM training_observability.metric_points WHERE metric = 'inference.engine.up' GROUP BY run, engine
	) AS engines ON run_id = run AND instance = engine
)`

// grown is what a counter grew by in all, of one instance where it is not empty, with all of the tags.
func (w *watched) grown(run, metric, instance string, tags ...string) float64 {
	w.t.Helper()
	return w.number(fmt.Sprintf("SELECT sum(increase) FROM "+increases+" WHERE run_id = '%[2]s'%[3]s", metric, run, where(instance, tags)))
}

// observed adds up rows that are differences already, those of histograms.
func (w *watched) observed(run, metric, instance string, tags ...string) float64 {
	w.t.Helper()
	return w.number(fmt.Sprintf(`SELECT sum(value) FROM (SELECT *, JSONExtractString(tags_json, 'service.instance.id') AS instance
		FROM training_observability.metric_points) WHERE metric = '%s' AND run_id = '%s'%s`, metric, run, where(instance, tags)))
}

// last is a gauge's newest value, added up over its series.
func (w *watched) last(run, metric, instance string, tags ...string) float64 {
	w.t.Helper()
	return w.number(fmt.Sprintf(`SELECT sum(newest) FROM (SELECT tags_json, JSONExtractString(tags_json, 'service.instance.id') AS instance,
		argMax(value, event_time) AS newest FROM training_observability.metric_points WHERE metric = '%s' AND run_id = '%s'
		GROUP BY tags_json) WHERE 1%s`, metric, run, where(instance, tags)))
}

// where filters by an instance and by tags "key=value".
func where(instance string, tags []string) string {
	var filter strings.Builder
	if instance != "" {
		fmt.Fprintf(&filter, " AND instance = '%s'", instance)
	}
	for _, tag := range tags {
		key, value, _ := strings.Cut(tag, "=")
		fmt.Fprintf(&filter, " AND JSONExtractString(tags_json, '%s') = '%s'", key, value)
	}
	return filter.String()
}

// requireNoFindings requires that all that the receiver emitted follows the schema, names that engines have and the
// registry does not aside.
func (w *watched) requireNoFindings() {
	w.t.Helper()
	for _, rule := range []string{"bad_name", "unit", "instrument", "attribute_unknown", "attribute_missing", "attribute_type", "attribute_value"} {
		findings, _ := telemetry(w.c, "otelcol_schema_findings", `rule="`+rule+`"`)
		assert.Zero(w.t, findings, "findings of rule %s", rule)
	}
	requireQuarantined(w.t, w.c, nil)
}

// register registers a target with the running collector.
func (w *watched) register(target map[string]any) {
	w.t.Helper()
	body, err := json.Marshal(target)
	require.NoError(w.t, err)
	response, err := http.Post("http://"+w.c.Engines+"/v1/targets", "application/json", strings.NewReader(string(body)))
	require.NoError(w.t, err)
	require.NoError(w.t, response.Body.Close())
	require.Equal(w.t, http.StatusOK, response.StatusCode)
}

// hostName is what host.name is of engines at loopback addresses.
func hostName(t *testing.T) string {
	t.Helper()
	host, err := os.Hostname()
	require.NoError(t, err)
	return host
}
