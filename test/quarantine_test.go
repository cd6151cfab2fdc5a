package test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pitwall-otel/pitwall/internal/collectortest"
)

const reasonTag = "pitwall.quarantine.reason"

// requireQuarantined compares what is in the table of quarantined points. Of a reason only the rule counts, the text
// before the colon; it must say more than the rule.
func requireQuarantined(t *testing.T, c *collectortest.Collector, want []row) {
	t.Helper()
	got := rowsOf(t, c.Query, "quarantined_points", "1")
	for i := range got {
		var tags map[string]any
		require.NoError(t, json.Unmarshal([]byte(got[i].tags), &tags), got[i])
		rule, detail, _ := strings.Cut(fmt.Sprint(tags[reasonTag]), ": ")
		require.NotEmpty(t, detail, got[i])
		tags[reasonTag] = rule
		got[i].tags = object(t, tags)
	}
	requireRows(t, want, got)
}

// TestQuarantinedPoints: what cannot be trusted is in a table of its own, as it came and with the reason, and the rest
// of the same request is where it belongs. The documentation's statement brings a repaired point back.
func TestQuarantinedPoints(t *testing.T) {
	c := collectortest.New(t, "config/single-node.yaml", quiet)
	c.Start()

	md := pmetric.NewMetrics()
	rm := md.ResourceMetrics().AppendEmpty()
	require.NoError(t, rm.Resource().Attributes().FromRaw(map[string]any{"rl.run.id": "my-run", "rl.rank": 3, "rl.role": "trainer", "note": "no tag"}))
	mixed := rm.ScopeMetrics().AppendEmpty().Metrics()
	tomorrow := rm.ScopeMetrics().AppendEmpty()
	tomorrow.SetSchemaUrl(schemas + "2.0.0")
	var good, bad []row
	send := func(to pmetric.MetricSlice, name, unit string, value float64, into *[]row, want row) {
		step := 1 + len(good) + len(bad)
		figure{name: name, sent: value}.add(to, stepStart, unit, map[string]any{"rl.step": step})
		want.millis, want.run, want.rank, want.device, want.step = stepStart/1_000_000, "my-run", 3, noDevice, uint64(step)
		*into = append(*into, want)
	}
	tags := func(rule string) string { return `{"pitwall.quarantine.reason":"` + rule + `","rl.role":"trainer"}` }
	const role = `{"rl.role":"trainer"}`
	send(mixed, "rl.step.duration", "s", 1.5, &good, row{metric: "rl.step.duration", unit: "s", value: "1.5", tags: role})
	send(mixed, "rl.step.duration", "By", 2.5, &bad, row{metric: "rl.step.duration", unit: "By", value: "2.5", tags: tags("unit")})
	send(mixed, "rl.step.duration", "ms", 3.5, &good, row{metric: "rl.step.duration", unit: "s", value: "0.0035", tags: role})
	send(mixed, "rl.loss.total", "W", 4.5, &bad, row{metric: "rl.loss.total", unit: "W", value: "4.5", tags: tags("unit")})
	send(mixed, " ", "", 5.5, &bad, row{metric: " ", value: "5.5", tags: tags("bad_name")})
	send(mixed, "nobody.knows.it", "furlong", 6.5, &good, row{metric: "nobody.knows.it", unit: "furlong", value: "6.5", tags: role})
	send(tomorrow.Metrics(), "rl.loss.total", "1", 7.5, &bad, row{metric: "rl.loss.total", unit: "1", value: "7.5", tags: tags("version_unknown")})
	send(tomorrow.Metrics(), "actor/loss", "", 8.5, &bad, row{metric: "actor/loss", value: "8.5", tags: tags("version_unknown")})
	postMetrics(t, c, md)
	waitStored(t, c)

	requireRows(t, good, storedRows(t, c.Query, "1"))
	requireQuarantined(t, c, bad)
	for rule, want := range map[string]float64{"unit": 2, "bad_name": 1, "version_unknown": 2} {
		got, _ := telemetry(c, "otelcol_schema_findings", `action="quarantine"`, `rule="`+rule+`"`)
		assert.InDelta(t, want, got, 0, rule)
	}
	quarantined, _ := telemetry(c, "otelcol_schema_quarantined")
	assert.InDelta(t, len(bad), quarantined, 0)

	statements := operationsSQL(t)
	require.Len(t, statements, 4)
	reasons := ask(t, c.Query, statements[0]+" FORMAT TabSeparated")
	assert.Contains(t, reasons, "version_unknown: "+schemas+"2.0.0\t")

	ask(t, c.Query, statements[2])
	ask(t, c.Query, statements[3])
	repaired := bad[0]
	repaired.value, repaired.unit, repaired.tags = "0.0025", "s", role
	requireRows(t, append(good, repaired), storedRows(t, c.Query, "1"))
	requireQuarantined(t, c, bad[1:])
}

// operationsSQL are the statements of the documentation's section on quarantine.
func operationsSQL(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "docs", "operations.md"))
	require.NoError(t, err)
	_, section, _ := strings.Cut(string(text), "\n## Quarantine")
	section, _, _ = strings.Cut(section, "\n## ")
	var statements []string
	for {
		_, rest, found := strings.Cut(section, "```sql\n")
		if !found {
			return statements
		}
		var statement string
		statement, section, _ = strings.Cut(rest, "```")
		statements = append(statements, strings.TrimSuffix(statement, ";\n"))
	}
}

// TestQuarantinedSpansAndRecords: they stay with the others, with the reason on their resource.
func TestQuarantinedSpansAndRecords(t *testing.T) {
	c := collectortest.New(t, "config/single-node.yaml", quiet)
	c.Start()
	const span = `"traceId":"5b8efff798038103d269b633813fc60c","startTimeUnixNano":"1772366400000000000","endTimeUnixNano":"1772366401000000000"`
	post(t, c, "/v1/traces", `{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"verl"}}]},"scopeSpans":[
		{"spans":[{`+span+`,"spanId":"eee19b7ec3c1b174","name":"update_actor"}]},
		{"schemaUrl":"`+schemas+`2.0.0","spans":[{`+span+`,"spanId":"eee19b7ec3c1b175","name":"update_actor"}]}]}]}`)
	post(t, c, "/v1/logs", `{"resourceLogs":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"verl"}}]},"scopeLogs":[
		{"logRecords":[{"timeUnixNano":"1772366400000000000","eventName":"rl.run.started"},
			{"timeUnixNano":"1772366400000000001","body":{"stringValue":"a line"}}]},
		{"schemaUrl":"`+schemas+`2.0.0","logRecords":[{"timeUnixNano":"1772366400000000002","eventName":"rl.run.started"}]}]}]}`)
	requireObjects(t, c, []string{
		`{"SpanId":"eee19b7ec3c1b174","SpanName":"rl.actor_update","phase":"actor_update","rule":""}`,
		`{"SpanId":"eee19b7ec3c1b175","SpanName":"update_actor","phase":"","rule":"version_unknown"}`,
	}, `SELECT SpanId, SpanName, SpanAttributes['rl.phase'] AS phase,
		splitByChar(':', ResourceAttributes['pitwall.quarantine.reason'])[1] AS rule
		FROM training_observability.otel_traces ORDER BY SpanId FORMAT JSONEachRow`)
	requireObjects(t, c, []string{
		`{"EventName":"rl.run.started","Body":"","rule":""}`,
		`{"EventName":"","Body":"a line","rule":""}`,
		`{"EventName":"rl.run.started","Body":"","rule":"version_unknown"}`,
	}, `SELECT EventName, Body, splitByChar(':', ResourceAttributes['pitwall.quarantine.reason'])[1] AS rule
		FROM training_observability.otel_logs ORDER BY Timestamp FORMAT JSONEachRow`)

	reason := "version_unknown: " + schemas + "2.0.0\tverl\t"
	answer := ask(t, c.Query, operationsSQL(t)[1]+" FORMAT TabSeparated")
	assert.ElementsMatch(t, []string{reason + "update_actor\t1", reason + "rl.run.started\t1"}, strings.Split(answer, "\n"))
}

// TestQuarantineThatIsFull: a request with something for it is refused whole, to be sent again; all others go on.
func TestQuarantineThatIsFull(t *testing.T) {
	c := collectortest.New(t, "config/single-node.yaml", quiet,
		"exporters: {metricpoints/quarantine: {log: {min_free_mib: '${env:MIN_FREE}'}}}")
	c.Env = []string{"MIN_FREE=1000000000"}
	c.Start()
	send := func(goodStep, badStep int) error {
		md := pmetric.NewMetrics()
		metrics := md.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics()
		figure{name: "rl.step.duration", sent: 1.5}.add(metrics, stepStart, "s", map[string]any{"rl.step": goodStep})
		if badStep > 0 {
			figure{name: "rl.step.duration", sent: 2.5}.add(metrics, stepStart, "By", map[string]any{"rl.step": badStep})
		}
		return sendMetrics(c, md)
	}
	require.NoError(t, send(1, 0))
	for range 3 {
		require.EqualError(t, send(2, 3), "503 Service Unavailable")
	}
	require.NoError(t, send(4, 0))
	c.Stop()
	c.Env = []string{"MIN_FREE=0"}
	c.Start()
	require.NoError(t, send(2, 3))
	waitStored(t, c)

	stored := row{millis: stepStart / 1_000_000, device: noDevice, metric: "rl.step.duration", value: "1.5", unit: "s"}
	var good []row
	for _, step := range []uint64{1, 2, 4} {
		stored.step = step
		good = append(good, stored)
	}
	requireRows(t, good, storedRows(t, c.Query, "1"))
	bad := stored
	bad.step, bad.value, bad.unit, bad.tags = 3, "2.5", "By", `{"pitwall.quarantine.reason":"unit"}`
	requireQuarantined(t, c, []row{bad})
}

// TestQuarantineLosesNothing: of many requests with data for both tables each point is stored once, in the right one.
func TestQuarantineLosesNothing(t *testing.T) {
	c := collectortest.New(t, "config/single-node.yaml", quiet)
	c.Start()
	const requests, points = 40, 50
	var good, bad []row
	var work sync.WaitGroup
	errs := make([]error, requests)
	for request := range requests {
		md := pmetric.NewMetrics()
		for i := range points {
			value := float64(request*points + i)
			if i%10 == 0 {
				rm := md.ResourceMetrics().AppendEmpty()
				rm.Resource().Attributes().PutStr("rl.run.id", "many")
				rm.ScopeMetrics().AppendEmpty()
			}
			to := md.ResourceMetrics().At(i / 10).ScopeMetrics().At(0).Metrics()
			stored := row{millis: stepStart / 1_000_000, run: "many", device: noDevice, metric: "rl.step.duration", unit: "s", value: number(value)}
			if (request+i)%3 == 0 {
				figure{name: stored.metric, sent: value}.add(to, stepStart, "By", nil)
				stored.unit, stored.tags = "By", `{"pitwall.quarantine.reason":"unit"}`
				bad = append(bad, stored)
			} else {
				figure{name: stored.metric, sent: value}.add(to, stepStart, "s", nil)
				good = append(good, stored)
			}
		}
		work.Go(func() { errs[request] = sendMetrics(c, md) })
	}
	work.Wait()
	require.NoError(t, errors.Join(errs...))
	waitStored(t, c)
	requireRows(t, good, storedRows(t, c.Query, "1"))
	requireQuarantined(t, c, bad)
}
