package dashboards

import (
	"cmp"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pitwall-otel/pitwall/dashboards/internal/lint"
	"github.com/pitwall-otel/pitwall/internal/clickhouse"
	"github.com/pitwall-otel/pitwall/internal/enginetest"
)

// BenchmarkPanels asks for every panel of the training dashboard, of one run with 20 metrics and 100,000 steps among runs of
// the same size: PITWALL_BENCH_ROWS rows in all, by default those of one run, 2 million. What is timed is the server with the
// whole answer read, without Grafana.
func BenchmarkPanels(b *testing.B) {
	rows := 2_000_000
	if text := os.Getenv("PITWALL_BENCH_ROWS"); text != "" {
		var err error
		rows, err = strconv.Atoi(text)
		require.NoError(b, err)
	}
	engine := enginetest.Start(b)
	client, err := clickhouse.NewClient(http.DefaultClient, engine.Endpoint(), "", nil)
	require.NoError(b, err)
	require.NoError(b, clickhouse.Migrate(b.Context(), client, clickhouse.Target{Database: clickhouse.DefaultDatabase, Table: clickhouse.DefaultTable}))

	text, err := os.ReadFile("training.json")
	require.NoError(b, err)
	board, err := lint.Parse("training.json", text)
	require.NoError(b, err)
	fill(b, client, metricsOf(board), rows/2_000_000)

	type timed struct {
		title string
		took  time.Duration
	}
	for b.Loop() {
		var all []timed
		before := cpu(b, engine.PID())
		for _, p := range board.Shown() {
			sql := expand(p.Targets[0].RawSQL, map[string]string{"run_id": "run-0", "interval": "100", "attempt": "latest"})
			// The run's own time, 100,000 seconds, and not the two hours of the cases.
			sql = strings.ReplaceAll(sql, base.Add(-time.Hour).Format(time.DateTime), base.Format(time.DateTime))
			sql = strings.ReplaceAll(sql, base.Add(time.Hour).Format(time.DateTime), base.Add(100_000*time.Second).Format(time.DateTime))
			for range 5 {
				start := time.Now()
				_, err := client.Query(b.Context(), sql, nil)
				require.NoError(b, err, p.Title)
				all = append(all, timed{p.Type + " " + p.Title, time.Since(start)})
			}
		}
		b.ReportMetric(float64((cpu(b, engine.PID())-before).Milliseconds())/float64(len(all)), "cpu-ms/query")
		slices.SortFunc(all, func(x, y timed) int { return cmp.Compare(x.took, y.took) })
		b.ReportMetric(float64(all[len(all)/2].took.Microseconds())/1000, "p50-ms")
		b.ReportMetric(float64(all[len(all)*95/100].took.Microseconds())/1000, "p95-ms")
		b.ReportMetric(float64(all[len(all)-1].took.Microseconds())/1000, "max-ms")
		b.Logf("%d million rows, %d queries, slowest: %s", rows/1_000_000, len(all), all[len(all)-1].title)
	}
}

// cpu is the processor time of a process so far: what other programs on the machine do not change.
func cpu(b *testing.B, pid int) time.Duration {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	require.NoError(b, err)
	_, after, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(after)
	user, err := strconv.Atoi(fields[11])
	require.NoError(b, err)
	system, err := strconv.Atoi(fields[12])
	require.NoError(b, err)
	return time.Duration(user+system) * 10 * time.Millisecond // ticks of 100 Hz
}

// metricsOf are 20 metrics that a dashboard asks for.
func metricsOf(board *lint.Board) []string {
	var names []string
	for _, r := range lint.References(board) {
		if r.Kind == "metric" && !slices.Contains(names, r.Name) && len(names) < 20 {
			names = append(names, r.Name)
		}
	}
	return names
}

// fill inserts runs of 100,000 steps, a second each, with attempt and role as the exporter writes them.
func fill(b *testing.B, client *clickhouse.Client, metrics []string, runs int) {
	b.Helper()
	for run := range runs {
		for _, metric := range metrics {
			require.NoError(b, client.Exec(b.Context(), fmt.Sprintf(`
				INSERT INTO training_observability.metric_points (event_time, run_id, host, step, metric, value, unit, tags_json)
				SELECT toDateTime64('%s', 3) + number, 'run-%d', 'train-0', number, '%s', exp(-number / 20000) + randCanonical() / 10, '1',
					'{"rl.horizon":1,"rl.role":"controller","rl.run.attempt":1,"rl.scope":"global","rl.stat":"mean","service.name":"trainer"}'
				FROM numbers(100000)`, base.Format(time.DateTime), run, metric), map[string]string{"max_insert_threads": "1"}))
		}
	}
}
