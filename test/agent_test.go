package test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pitwall-otel/pitwall/internal/collectortest"
)

// An agent beside a single node: its points go straight to the node's ClickHouse, its traces and logs to the node's
// OTLP port. What the agent took over while the node was away arrives once the node is back.
func TestAgentDeliversToAnotherNode(t *testing.T) {
	node := collectortest.New(t, "config/single-node.yaml")
	node.Start()
	require.Eventually(t, func() bool {
		answer, _ := node.Query("EXISTS training_observability.otel_logs")
		return answer == "1"
	}, time.Minute, 100*time.Millisecond, "the node's tables")
	node.Stop()

	agent := collectortest.New(t, "config/agent.yaml", everySecond)
	agent.Env = []string{
		"PITWALL_HOST=gpu-07",
		"PITWALL_CLICKHOUSE_ENDPOINT=http://" + node.SQL,
		"PITWALL_CLICKHOUSE_PASSWORD=" + node.Password,
		"PITWALL_OTLP_ENDPOINT=http://" + node.HTTP,
	}
	agent.Start()
	post(t, agent, "/v1/logs", `{"resourceLogs":[{"scopeLogs":[{"logRecords":[
		{"timeUnixNano":"1790000000000000000","eventName":"rl.run.started","body":{"stringValue":"while the node was away"}}]}]}]}`)
	post(t, agent, "/v1/traces", `{"resourceSpans":[{"scopeSpans":[{"spans":[
		{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","name":"rollout",
		 "startTimeUnixNano":"1790000000000000000","endTimeUnixNano":"1790000001000000000"}]}]}]}`)
	post(t, agent, "/v1/metrics", `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"loss","gauge":{"dataPoints":[
		{"timeUnixNano":"1790000000000000000","asDouble":0.5}]}}]}]}]}`)

	node.Start()
	arrives := func(sql, want string) {
		t.Helper()
		var answer string
		assert.Eventually(t, func() bool {
			answer, _ = node.Query(sql)
			return answer == want
		}, time.Minute, 200*time.Millisecond, sql)
		assert.Equal(t, want, answer)
	}
	arrives("SELECT value FROM training_observability.metric_points WHERE metric = 'loss'", "0.5")
	arrives("SELECT Body, EventName FROM training_observability.otel_logs", "while the node was away\trl.run.started")
	arrives("SELECT SpanName FROM training_observability.otel_traces", "rollout")
	for _, metric := range []string{"sys.cpu_percent", "pitwall.points.accepted"} {
		arrives("SELECT count() > 0 FROM training_observability.metric_points WHERE metric = '"+metric+"' AND host = 'gpu-07'", "1")
	}
}

// post sends OTLP as JSON and requires that it is accepted.
func post(t *testing.T, c *collectortest.Collector, path, body string) {
	t.Helper()
	response, err := http.Post("http://"+c.HTTP+path, "application/json", strings.NewReader(body))
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusOK, response.StatusCode)
}
