package panels

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// dataset is what a dashboard is opened on.
type dataset struct {
	id     string // of a run that it holds
	window window
	chosen selection
	ledger ledger
}

const (
	healthy = "qwen3-30b-grpo-07" // resumed once
	sick    = "qwen3-30b-grpo-08-sick"
)

// simulate backfills an hour of three runs through the collector, as make demo does.
func simulate(t *testing.T, s *stack) dataset {
	t.Helper()
	end := time.Now()
	file, err := filepath.Abs(filepath.Join(t.TempDir(), "ledger.json"))
	require.NoError(t, err)
	demo := exec.CommandContext(t.Context(), "go", "run", "./test/demo", "-otlp", "http://"+s.otlp, "-backfill", "1h", "-live=false", "-speed", "1.5", "-sick", "-texts", "-ledger", file)
	demo.Dir = root
	output, err := demo.CombinedOutput()
	require.NoError(t, err, "%s", output)
	t.Logf("%s", output)
	s.settle(t)
	// This machine's own metrics go on; the window ends before those that are still on their way.
	return dataset{healthy, window{end.Add(-time.Hour - time.Minute), time.Now().Add(-3 * time.Second)}, selection{"run_id": {healthy, sick}}, readLedger(t, file)}
}

// settle waits until what was sent is in the tables: no new rows for three seconds.
func (s *stack) settle(t *testing.T) {
	t.Helper()
	before, since := "", time.Now()
	require.Eventually(t, func() bool {
		counted := s.run(t, `SELECT (SELECT count() FROM training_observability.metric_points WHERE host LIKE 'train-%' OR host LIKE 'rollout-%'),
			(SELECT count() FROM training_observability.otel_traces), (SELECT count() FROM training_observability.otel_logs)`)
		if counted != before {
			before, since = counted, time.Now()
		}
		// The ledger is written every ten seconds, and a rate takes two of its rows.
		said := s.run(t, `SELECT uniqExact(event_time) >= 3 FROM training_observability.metric_points WHERE metric = 'pitwall.points.accepted'`)
		return time.Since(since) > 3*time.Second && strings.TrimSpace(said) == "1"
	}, 2*time.Minute, 500*time.Millisecond)
}

const database = "training_observability"

// day moves a copy of the data out of sight of the original.
const day = 24 * time.Hour

// onePoint copies the last row of each series, ten days back, under a run of its own.
func onePoint(t *testing.T, s *stack, of dataset) dataset {
	t.Helper()
	const run = "one-point"
	s.run(t, fmt.Sprintf(`INSERT INTO %[1]s.metric_points
		SELECT * REPLACE (event_time - INTERVAL 10 DAY AS event_time, if(run_id = '', '', '%[2]s') AS run_id)
		FROM (
			SELECT * FROM %[1]s.metric_points WHERE run_id IN ('', %[3]s)
			ORDER BY event_time DESC LIMIT 1 BY metric, host, rank, device, tags_json
		)`, database, run, quoted(of.id)))
	return dataset{run, window{of.window.from.Add(-10 * day), of.window.to.Add(-10 * day)}, selection{"run_id": {run}}, ledger{}}
}

// odd are names that break what does not quote; each stands for one of the simulation's.
var odd = map[string]string{
	healthy: `it's "50%" of \'everything\'; DROP TABLE x -- {a,b} ${run_id} $__timeFilter(x) Zoë 日本`,
	sick:    strings.Repeat(`\`, 199) + `'`,
}

// oddNames copies all data twenty days back, with odd names of runs and, around them, of hosts.
func oddNames(t *testing.T, s *stack, of dataset) dataset {
	t.Helper()
	run := func(column string) string {
		return fmt.Sprintf("transform(%s, [%s, %s], [%s, %s], %[1]s)", column, quoted(healthy), quoted(sick), quoted(odd[healthy]), quoted(odd[sick]))
	}
	host := func(column string) string { return fmt.Sprintf(`if(%s = '', '', concat('o\'d%%\\', %[1]s))`, column) }
	attributes := func(column string) string {
		return fmt.Sprintf(`mapApply((k, v) -> (k, multiIf(k = 'rl.run.id', %s, k = 'host.name', %s, v)), %s)`, run("v"), host("v"), column)
	}
	since := "fromUnixTimestamp64Milli(" + strconv.FormatInt(of.window.from.UnixMilli(), 10) + ")"
	// From a subquery: in WHERE a name would mean what SELECT makes of it.
	copied := func(table, time string, replaced ...string) {
		s.run(t, fmt.Sprintf("INSERT INTO %[1]s.%[2]s SELECT * REPLACE (%[3]s - INTERVAL 20 DAY AS %[3]s, %[4]s) FROM (SELECT * FROM %[1]s.%[2]s WHERE %[3]s >= %[5]s)",
			database, table, time, strings.Join(replaced, ", "), since))
	}
	copied("metric_points", "event_time", run("run_id")+" AS run_id", host("host")+" AS host")
	copied("otel_logs", "Timestamp", attributes("ResourceAttributes")+" AS ResourceAttributes", attributes("LogAttributes")+" AS LogAttributes")
	copied("otel_traces", "Timestamp", attributes("ResourceAttributes")+" AS ResourceAttributes", attributes("SpanAttributes")+" AS SpanAttributes")
	return dataset{odd[healthy], window{of.window.from.Add(-20 * day), of.window.to.Add(-20 * day)}, selection{"run_id": {encodeURIComponentStrict(odd[healthy]), encodeURIComponentStrict(odd[sick])}}, ledger{}}
}

// quoted is text as a string of ClickHouse.
func quoted(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text) + "'"
}
