package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pitwall-otel/pitwall/internal/collectortest"
	"github.com/pitwall-otel/pitwall/test/demo/simulation"
)

const simulated = "(host LIKE 'train-%' OR host LIKE 'rollout-%')"

// TestBackfill writes half an hour of three runs into the real collector and engine, and finds in the tables what the ledger
// says: every series with its count, sum and range, the checkpoints, the milestones, the states, the sick run's troubles.
func TestBackfill(t *testing.T) {
	c := collectortest.New(t, "config/single-node.yaml")
	c.Start()
	d, err := newDemo(options{otlp: "http://" + c.HTTP, past: 30 * time.Minute, step: 7500 * time.Millisecond, sick: true, seed: 1, texts: true}, time.Now())
	require.NoError(t, err)
	defer d.close()
	for _, p := range d.players {
		p.ledger.Keep = true
	}
	require.NoError(t, d.backfill(t.Context()))
	ledger, points, spans, records := simulation.NewLedger(), int64(0), int64(0), int64(0)
	for _, p := range d.players {
		assert.Equal(t, int64(len(p.ledger.Points)+len(p.ledger.Histograms)), p.client.Sent.Points)
		points, spans, records = points+p.client.Sent.Points, spans+p.client.Sent.Spans, records+p.client.Sent.Records
		ledger.Points = append(ledger.Points, p.ledger.Points...)
		ledger.Histograms = append(ledger.Histograms, p.ledger.Histograms...)
		ledger.States = append(ledger.States, p.ledger.States...)
		ledger.Events = append(ledger.Events, p.ledger.Events...)
		maps.Copy(ledger.Runs, p.ledger.Runs)
		maps.Copy(ledger.GPUs, p.ledger.GPUs)
	}

	ask := func(query string) [][]string {
		t.Helper()
		answer, err := c.Query(regexp.MustCompile(`FROM (\w)`).ReplaceAllString(query, "FROM training_observability.$1"))
		require.NoError(t, err, query)
		var rows [][]string
		for line := range strings.Lines(answer) {
			rows = append(rows, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
		}
		return rows
	}
	require.Eventually(t, func() bool {
		return number(t, ask("SELECT count() FROM metric_points WHERE " + simulated)[0][0]) >= float64(points) &&
			number(t, ask("SELECT count() FROM otel_logs WHERE ServiceName = 'pitwall-demo'")[0][0]) >= float64(records) &&
			number(t, ask("SELECT count() FROM otel_traces")[0][0]) >= float64(spans)
	}, 2*time.Minute, time.Second, "not everything has reached the tables")

	t.Run("series", func(t *testing.T) { series(t, ledger, ask) })
	t.Run("steps", func(t *testing.T) { steps(t, ledger, ask) })
	t.Run("lists", func(t *testing.T) { lists(t, ledger, ask) })
	t.Run("states", func(t *testing.T) { states(t, ledger, ask, spans) })
	t.Run("troubles", func(t *testing.T) { troubles(t, ledger, ask) })
	t.Run("schema", func(t *testing.T) {
		assert.Zero(t, number(t, ask("SELECT count() FROM quarantined_points")[0][0]))
		assert.Empty(t, findings(t, c), "the simulation follows the registry")
	})
}

type asker func(query string) [][]string

type identity struct {
	run, metric, host string
	rank, device      int64
}

type total struct {
	count, unfinite     int64
	sum, size           float64
	firstStep, lastStep int64
	firstTime, lastTime int64 // Unix ms
}

func (w *total) add(p simulation.Point, value float64) {
	w.count++
	if math.IsNaN(value) || math.IsInf(value, 0) {
		w.unfinite++
	} else {
		w.sum += value
		w.size += math.Abs(value)
	}
	w.firstStep, w.lastStep = min(w.firstStep, p.Step), max(w.lastStep, p.Step)
	w.firstTime, w.lastTime = min(w.firstTime, p.Time.UnixMilli()), max(w.lastTime, p.Time.UnixMilli())
}

// series compares every series of the table with the points of the ledger.
func series(t *testing.T, ledger *simulation.Ledger, ask asker) {
	want := map[identity]*total{}
	add := func(p simulation.Point, name string, value float64) {
		id := identity{p.By.Run, name, p.By.Host, p.By.Rank, 65535}
		for _, a := range p.Attributes {
			if a.Key == "rl.device.index" {
				id.device, _ = a.Value.(int64)
			}
		}
		if want[id] == nil {
			want[id] = &total{firstStep: math.MaxInt64, firstTime: math.MaxInt64}
		}
		want[id].add(p, value)
	}
	for _, p := range ledger.Points {
		name, scale := tableName(p)
		add(p, name, p.Value*scale)
	}
	for _, h := range ledger.Histograms { // count, sum, and a row for each bucket with something in it
		p, count := simulation.Point{By: h.By, Time: h.Time}, uint64(0)
		for _, n := range h.Counts {
			count += n
			if n > 0 {
				add(p, h.Metric+".bucket", float64(n))
			}
		}
		add(p, h.Metric+".count", float64(count))
		add(p, h.Metric+".sum", h.Sum)
	}
	rows := ask(`SELECT run_id, metric, host, rank, device, count(), countIf(NOT isFinite(value)), sumIf(value, isFinite(value)),
		min(step), max(step), toUnixTimestamp64Milli(min(event_time)), toUnixTimestamp64Milli(max(event_time))
		FROM metric_points WHERE ` + simulated + ` GROUP BY run_id, metric, host, rank, device`)
	assert.Len(t, rows, len(want))
	for _, row := range rows {
		id := identity{row[0], row[1], row[2], whole(t, row[3]), whole(t, row[4])}
		w := want[id]
		if !assert.NotNil(t, w, "%+v is in the table, not in the ledger", id) {
			continue
		}
		got := []int64{whole(t, row[5]), whole(t, row[6]), whole(t, row[8]), whole(t, row[9]), whole(t, row[10]), whole(t, row[11])}
		assert.Equal(t, []int64{w.count, w.unfinite, w.firstStep, w.lastStep, w.firstTime, w.lastTime}, got, "%+v", id)
		assert.InDelta(t, w.sum, number(t, row[7]), 1e-9*w.size+1e-12, "%+v", id)
	}
}

// steps compares single values: the loss of each step and attempt, exactly.
func steps(t *testing.T, ledger *simulation.Ledger, ask asker) {
	for id, run := range ledger.Runs {
		for _, attempt := range run.Attempts {
			want := ledger.Values(id, attempt.Number, "controller", 0, "rl.loss.total")
			rows := ask(fmt.Sprintf(`SELECT step, value FROM metric_points WHERE run_id = '%s' AND metric = 'loss'
				AND JSONExtractInt(tags_json, 'rl.run.attempt') = %d`, id, attempt.Number))
			assert.Len(t, rows, len(want))
			assert.Len(t, want, int(attempt.LastStep-attempt.FirstStep+1))
			for _, row := range rows {
				value, ok := want[whole(t, row[0])]
				assert.True(t, ok, "%s has a step %s", id, row[0])
				assert.Equal(t, math.Float64bits(value) == math.Float64bits(math.NaN()) || math.IsNaN(value), math.IsNaN(number(t, row[1])))
				if !math.IsNaN(value) {
					assert.InDelta(t, value, number(t, row[1]), 0, "%s step %s", id, row[0])
				}
			}
		}
		rows := ask(fmt.Sprintf(`SELECT toUInt64(argMax(value, event_time)), argMax(step, event_time) FROM metric_points
			WHERE run_id = '%s' AND metric = 'train.tokens_total'`, id))
		assert.Equal(t, []string{strconv.FormatInt(run.Tokens, 10), strconv.FormatInt(run.LastStep, 10)}, rows[0], id)
	}
	healthy := ledger.Runs["qwen3-30b-grpo-07"]
	require.Len(t, healthy.Attempts, 2, "it was resumed")
	assert.Less(t, healthy.Attempts[1].FirstStep, healthy.Attempts[0].LastStep, "from a checkpoint, so steps repeat")
}

func lists(t *testing.T, ledger *simulation.Ledger, ask asker) {
	for id, run := range ledger.Runs {
		where := " WHERE run_id = '" + id + "'"
		rows := ask("SELECT checkpoint_id, step, size_bytes, url, status FROM run_checkpoints" + where + " ORDER BY step")
		require.Len(t, rows, len(run.Checkpoints), id)
		require.NotEmpty(t, rows)
		for i, c := range run.Checkpoints {
			status := "complete"
			if c.Deleted {
				status = "deleted"
			}
			assert.Equal(t, []string{c.ID, strconv.FormatInt(c.Step, 10), strconv.FormatInt(c.Size, 10), c.URL, status}, rows[i], id)
			for _, row := range ask("SELECT task, score FROM run_benchmarks" + where + " AND checkpoint_id = '" + c.ID + "'") {
				assert.InDelta(t, c.Scores[row[0]], number(t, row[1]), 1e-12)
			}
		}
		milestones := ask("SELECT milestone, target_tokens, isNotNull(reached_at), toUnixTimestamp64Milli(toDateTime64(assumeNotNull(reached_at), 3)) FROM run_milestones" + where)
		assert.Len(t, milestones, len(simulation.Milestones()), id)
		for _, row := range milestones {
			at, reached := run.Reached[row[0]]
			assert.Equal(t, reached, row[2] == "1", "%s %s", id, row[0])
			if reached {
				assert.Equal(t, at.UnixMilli(), whole(t, row[3]), "%s %s", id, row[0])
			}
		}
		samples := ask("SELECT count(), uniqExact(sample_id), countIf(prompt = ''), any(text_policy), countIf(trace_id = '') FROM run_samples" + where)
		count := strconv.FormatInt(run.Samples, 10)
		assert.Equal(t, []string{count, count, "0", "full", "0"}, samples[0], id)
	}
}

func states(t *testing.T, ledger *simulation.Ledger, ask asker, spans int64) {
	assert.Equal(t, strconv.FormatInt(spans, 10), ask("SELECT count() FROM otel_traces")[0][0])
	got := map[string]int64{}
	for _, row := range ask("SELECT trimRight(concat(event, ' ', LogAttributes['rl.state.op'])), count() FROM otel_logs WHERE ServiceName = 'pitwall-demo' GROUP BY 1") {
		got[row[0]] = whole(t, row[1])
	}
	assert.Equal(t, saidOf(ledger), got)
	lanes, open := 0, 0
	for _, s := range ledger.States {
		if !s.Umbrella {
			lanes++
		}
		if s.End.IsZero() {
			open++
		}
	}
	assert.Equal(t, []string{strconv.Itoa(lanes), strconv.Itoa(open)},
		ask("SELECT count(), countIf(NOT ended) " + fmt.Sprintf(eachState, ""))[0])
}

// saidOf counts what must have been said: every event once; of a state its begin, its end where there is one, and every 10 s
// between.
func saidOf(ledger *simulation.Ledger) map[string]int64 {
	want := map[string]int64{}
	for _, e := range ledger.Events {
		want[e.Name]++
	}
	for _, s := range ledger.States {
		if s.Umbrella {
			continue
		}
		want["rl.state begin"]++
		last := s.End
		if last.IsZero() {
			last = ledger.Runs[s.By.Run].Spec.End.Add(1)
		} else {
			want["rl.state end"]++
		}
		if lasted := last.Sub(s.Begin); lasted > 0 {
			want["rl.state heartbeat"] += int64((lasted - 1) / (10 * time.Second))
		}
	}
	return want
}

// eachState is one row for a state of a lane, and whether anybody said that it ended.
const eachState = `FROM (SELECT LogAttributes['rl.state.id'], countIf(LogAttributes['rl.state.op'] = 'end') = 1 AS ended
	FROM otel_logs WHERE event = 'rl.state' %s GROUP BY 1)`

// troubles: what a dashboard of the sick run must show, and that the healthy run does not.
func troubles(t *testing.T, ledger *simulation.Ledger, ask asker) {
	sick, healthy := ledger.Runs["qwen3-30b-grpo-08-sick"], ledger.Runs["qwen3-30b-grpo-07"]
	since := sick.Spec.Sick.UTC().Format("2006-01-02 15:04:05")
	for _, test := range []struct {
		run  *simulation.RunLedger
		sick bool
	}{{sick, true}, {healthy, false}} {
		id := test.run.Spec.ID
		where := fmt.Sprintf(" FROM metric_points WHERE run_id = '%s' AND event_time > '%s' AND ", id, since)
		says := func(what, query string) {
			assert.Equal(t, test.sick, ask("SELECT " + query)[0][0] == "1", "%s: %s", id, what)
		}
		says("NaN loss", fmt.Sprintf("countIf(isNaN(value)) = %d AND count() > 0", len(sick.Nonfinite))+where+"metric = 'loss'")
		says("a slow rank", fmt.Sprintf("avgIf(value, rank = %d) > 1.7 * avg(value)", simulation.SlowRank)+where+
			"metric = 'rl.phase.duration' AND JSONExtractString(tags_json, 'rl.state.name') = 'update_actor' AND JSONExtractString(tags_json, 'rl.role') = 'trainer'")
		says("a long tail", fmt.Sprintf("avgIf(value, rank = %d) > 1.5 * avg(value)", simulation.TailReplica)+where+
			"metric = 'rl.phase.duration' AND JSONExtractString(tags_json, 'rl.state.name') = 'generate'")
		says("an idle GPU", "countIf(value > 0) = 0 FROM metric_points WHERE host = '"+test.run.Spec.EngineHost+
			fmt.Sprintf("' AND metric = 'sys.gpu.%d.util_percent' AND event_time > '%s'", simulation.IdleDevice, since))
		says("a hot GPU", "max(value) = 1 FROM metric_points WHERE host = '"+test.run.Spec.Hosts[0]+
			fmt.Sprintf("' AND metric = 'sys.gpu.%d.throttle.hw_thermal_slowdown'", simulation.HotDevice))
		says("a failed GPU", "count() = 1 FROM run_events WHERE event = 'nvidia.gpu.xid' AND run_id = '"+id+"'")
		says("a lost GPU", "count() = 1 FROM run_events WHERE event = 'nvidia.gpu.lost' AND run_id = '"+id+"'")
		says("a jump of the loss", "maxIf(value, isFinite(value)) > 0.6"+where+"metric = 'loss'")
		says("an engine that is down", "min(value) = 0"+where+"metric = 'inference.engine.up'")
		says("a full KV cache", fmt.Sprintf("avgIf(value, JSONExtractInt(tags_json, 'rl.replica.id') = %d) > 0.95", simulation.FullReplica)+where+
			"metric = 'inference.kv_cache.usage'")
		says("a queue that grows", fmt.Sprintf("maxIf(value, JSONExtractInt(tags_json, 'rl.replica.id') = %d) > 1000", simulation.QueueReplica)+where+
			"metric = 'inference.requests.waiting'")
		says("a hung phase", fmt.Sprintf("countIf(NOT ended) = %d ", len(sick.Open))+fmt.Sprintf(eachState, "AND ResourceAttributes['rl.run.id'] = '"+id+"'"))
	}
	assert.Len(t, sick.Open, 17, "the controller and all ranks")
	for device, gpu := range ledger.GPUs {
		rows := ask(fmt.Sprintf("SELECT argMax(value, event_time) FROM metric_points WHERE host = '%s' AND metric = 'sys.gpu.%d.idle_s'", device.Host, device.Index))
		assert.InDelta(t, gpu.IdleSeconds, number(t, rows[0][0]), 1e-6, "%+v", device)
	}
}

// findings are the collector's own counts of what did not follow the schema.
func findings(t *testing.T, c *collectortest.Collector) (found []string) {
	t.Helper()
	checked := false
	for line := range strings.Lines(get(t, "http://"+c.Telemetry+"/metrics")) {
		checked = checked || strings.HasPrefix(line, "otelcol_schema_checked")
		if strings.HasPrefix(line, "otelcol_schema_findings") {
			found = append(found, strings.TrimSpace(line))
		}
	}
	assert.True(t, checked, "the collector says what it has checked")
	return found
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	value, err := strconv.ParseFloat(text, 64)
	require.NoError(t, err)
	return value
}

func whole(t *testing.T, text string) int64 {
	t.Helper()
	value, err := strconv.ParseInt(text, 10, 64)
	require.NoError(t, err)
	return value
}

func get(t *testing.T, url string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return string(body)
}
