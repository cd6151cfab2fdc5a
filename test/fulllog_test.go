package test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pmetric/pmetricotlp"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/pitwall-otel/pitwall/internal/collectortest"
	"github.com/pitwall-otel/pitwall/internal/enginetest"
)

// TestFullLog starts an agent while ClickHouse is away, which it says, and fills its log: what does not fit is refused,
// with a delay after which the sender may try again, and everything accepted arrives once ClickHouse is there.
func TestFullLog(t *testing.T) {
	engine := enginetest.Start(t)
	engine.Stop()
	c := collectortest.New(t, "config/agent.yaml", quiet,
		"exporters: {metricpoints: {create_schema: true, log: {max_size_mib: 16, min_free_mib: 0}}}")
	c.Env = []string{
		"PITWALL_CLICKHOUSE_ENDPOINT=" + engine.Endpoint(), "PITWALL_CLICKHOUSE_PASSWORD=", "PITWALL_CLICKHOUSE_USER=default",
		"PITWALL_OTLP_ENDPOINT=http://127.0.0.1:1",
	}
	c.Start()
	require.Eventually(t, func() bool { return len(linesWith(c.Log(), complaint)) > 0 }, storedWithin, 50*time.Millisecond)
	assert.Contains(t, linesWith(c.Log(), complaint)[0], engine.Address())

	accepted, refused := 0, (*http.Response)(nil)
	for refused == nil {
		require.Less(t, accepted, 100, "requests of about a MiB into a log of 16")
		response, err := http.Post("http://"+c.HTTP+"/v1/metrics", "application/x-protobuf", bytes.NewReader(bulk(t, accepted)))
		require.NoError(t, err)
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
		if response.StatusCode == http.StatusOK {
			accepted++
		} else {
			refused = response
		}
	}
	assert.Equal(t, http.StatusServiceUnavailable, refused.StatusCode)
	assert.Equal(t, "5", refused.Header.Get("Retry-After"))
	assert.Equal(t, 5*time.Second, refusedOverGRPC(t, c))
	assert.Greater(t, accepted, 10)
	counter, _ := telemetry(c, "otelcol_metricpoints_points_refused")
	assert.InDelta(t, 2*bulkPoints, counter, 0)

	engine.Restart()
	waitStored(t, c)
	assert.Equal(t, [][]string{{fmt.Sprint(accepted * bulkPoints), fmt.Sprint(accepted * bulkPoints), fmt.Sprint(accepted - 1)}},
		engine.Query("SELECT count(), uniqExact(step, rank), max(rank) FROM training_observability.metric_points"))
	post(t, c, "/v1/metrics", `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"loss","gauge":{"dataPoints":[{"asDouble":1}]}}]}]}]}`)
}

const bulkPoints = 2000

// bulk is a request with points that do not compress: about a MiB in the log.
func bulk(t *testing.T, rank int) []byte {
	t.Helper()
	body, err := bulkRequest(rank).MarshalProto()
	require.NoError(t, err)
	return body
}

func bulkRequest(rank int) pmetricotlp.ExportRequest {
	metrics := pmetric.NewMetrics()
	m := metrics.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics().AppendEmpty()
	m.SetName("bulk")
	points := m.SetEmptyGauge().DataPoints()
	for step := range bulkPoints {
		dp := points.AppendEmpty()
		dp.SetTimestamp(pcommon.NewTimestampFromTime(time.Now()))
		dp.SetIntValue(int64(step))
		dp.Attributes().PutInt("rl.step", int64(step))
		dp.Attributes().PutInt("rl.rank.global", int64(rank))
		dp.Attributes().PutStr("text", strings.Repeat(fmt.Sprintf("%d.%d.", rank, step), 50))
	}
	return pmetricotlp.NewExportRequestFromMetrics(metrics)
}

// refusedOverGRPC returns the delay that a refused sender is told.
func refusedOverGRPC(t *testing.T, c *collectortest.Collector) time.Duration {
	t.Helper()
	connection, err := grpc.NewClient(c.GRPC, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	defer connection.Close()
	_, err = pmetricotlp.NewGRPCClient(connection).Export(t.Context(), bulkRequest(99))
	require.Equal(t, codes.Unavailable, status.Code(err), err)
	for _, detail := range status.Convert(err).Details() {
		if retry, ok := detail.(*errdetails.RetryInfo); ok {
			return retry.GetRetryDelay().AsDuration()
		}
	}
	return 0
}
