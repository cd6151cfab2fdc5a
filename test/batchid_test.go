package test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pmetric/pmetricotlp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"github.com/pitwall-otel/pitwall/internal/collectortest"
)

const pointsOfABatch = 3

// batchOf is a request whose points are known by run and step.
func batchOf(run string) pmetricotlp.ExportRequest {
	md := pmetric.NewMetrics()
	rm := md.ResourceMetrics().AppendEmpty()
	rm.Resource().Attributes().PutStr("rl.run.id", run)
	m := rm.ScopeMetrics().AppendEmpty().Metrics().AppendEmpty()
	m.SetName("loss")
	points := m.SetEmptyGauge().DataPoints()
	for step := range pointsOfABatch {
		dp := points.AppendEmpty()
		dp.SetTimestamp(pcommon.NewTimestampFromTime(time.Now()))
		dp.SetDoubleValue(0.5)
		dp.Attributes().PutInt("rl.step", int64(step))
	}
	return pmetricotlp.NewExportRequestFromMetrics(md)
}

// overHTTP sends a run's request, with an id unless it is empty.
func overHTTP(ctx context.Context, c *collectortest.Collector, run, id string) error {
	response, err := http.DefaultTransport.RoundTrip(batchRequest(ctx, c, run, id))
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return errors.New(response.Status)
	}
	return nil
}

func batchRequest(ctx context.Context, c *collectortest.Collector, run, id string) *http.Request {
	body, err := batchOf(run).MarshalProto()
	if err != nil {
		panic(err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+c.HTTP+"/v1/metrics", bytes.NewReader(body))
	if err != nil {
		panic(err)
	}
	request.Header.Set("Content-Type", "application/x-protobuf")
	if id != "" {
		request.Header.Set("Pitwall-Batch-Id", id)
	}
	return request
}

// overGRPC is the same over the other protocol.
func overGRPC(ctx context.Context, c *collectortest.Collector, run, id string) error {
	connection, err := grpc.NewClient(c.GRPC, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer connection.Close()
	if id != "" {
		ctx = metadata.AppendToOutgoingContext(ctx, "pitwall-batch-id", id)
	}
	_, err = pmetricotlp.NewGRPCClient(connection).Export(ctx, batchOf(run))
	return err
}

// requireStored: of each run, each point is stored that many times.
func requireStored(t *testing.T, c *collectortest.Collector, want map[string]int) {
	t.Helper()
	waitStored(t, c)
	got := map[string]map[uint64]int{}
	for _, r := range storedRows(t, c.Query, "run_id LIKE 'batch-%'") {
		if got[r.run] == nil {
			got[r.run] = map[uint64]int{}
		}
		got[r.run][r.step]++
	}
	require.Len(t, got, len(want))
	for run, times := range want {
		for step := range uint64(pointsOfABatch) {
			require.Equal(t, times, got[run][step], "run %s, step %d", run, step)
		}
	}
}

func duplicates(c *collectortest.Collector) float64 {
	dropped, _ := telemetry(c, "otelcol_metricpoints_points_dropped", `reason="duplicate"`)
	return dropped
}

// TestRetriedRequests: what is sent again under the same id is acknowledged and stored once, over either protocol, also
// after a restart, and when the collector is killed with the answer under way. Without an id it is stored again.
func TestRetriedRequests(t *testing.T) {
	c := collectortest.New(t, "config/single-node.yaml", quiet)
	c.Start()
	want := map[string]int{}
	for name, send := range map[string]func(context.Context, *collectortest.Collector, string, string) error{"http": overHTTP, "grpc": overGRPC} {
		for range 3 {
			require.NoError(t, send(t.Context(), c, "batch-known-"+name, "id of "+name))
			require.NoError(t, send(t.Context(), c, "batch-unknown-"+name, ""))
		}
		require.NoError(t, send(t.Context(), c, "batch-other-"+name, "another id of "+name))
		want["batch-known-"+name], want["batch-unknown-"+name], want["batch-other-"+name] = 1, 3, 1
	}
	requireStored(t, c, want)
	assert.InDelta(t, 4*pointsOfABatch, duplicates(c), 0)

	c.Stop()
	c.Start()
	require.NoError(t, overGRPC(t.Context(), c, "batch-known-http", "id of http"))
	require.NoError(t, overHTTP(t.Context(), c, "batch-known-grpc", "id of grpc"))
	requireStored(t, c, want)
	assert.InDelta(t, 2*pointsOfABatch, duplicates(c), 0)

	// Nobody reads the answer, and the collector dies as soon as the points are accepted.
	before, _ := telemetry(c, "otelcol_metricpoints_points_accepted")
	connection, err := net.Dial("tcp", c.HTTP)
	require.NoError(t, err)
	require.NoError(t, batchRequest(t.Context(), c, "batch-lost", "lost").Write(connection))
	require.Eventually(t, func() bool {
		accepted, _ := telemetry(c, "otelcol_metricpoints_points_accepted")
		return accepted == before+pointsOfABatch
	}, storedWithin, time.Millisecond)
	c.Kill()
	require.NoError(t, connection.Close())
	c.Start()
	require.NoError(t, overHTTP(t.Context(), c, "batch-lost", "lost"))
	require.NoError(t, overHTTP(t.Context(), c, "batch-known-grpc", "id of grpc"))
	want["batch-lost"] = 1
	requireStored(t, c, want)
	assert.InDelta(t, 2*pointsOfABatch, duplicates(c), 0)
}

// TestRetriedRequestsUnderKills: clients that send each request until it is answered, as SDKs do, and a collector that
// is killed at any moment. Here also what was not answered is stored exactly once.
func TestRetriedRequestsUnderKills(t *testing.T) {
	c := collectortest.New(t, "config/single-node.yaml", quiet)
	c.Start()
	ctx, stop := context.WithCancel(t.Context())
	var mu sync.Mutex
	want, retries := map[string]int{}, 0
	answered := func() int { mu.Lock(); defer mu.Unlock(); return len(want) }
	var clients sync.WaitGroup
	for client := range 4 {
		clients.Go(func() {
			send := overHTTP
			if client%2 == 1 {
				send = overGRPC
			}
			for n := 0; ctx.Err() == nil; n++ {
				run := fmt.Sprintf("batch-%d-%d", client, n)
				for {
					err := send(t.Context(), c, run, run)
					mu.Lock()
					if err == nil {
						want[run] = 1
						mu.Unlock()
						break
					}
					retries++
					mu.Unlock()
					<-time.After(5 * time.Millisecond) // what an impatient SDK waits
				}
			}
		})
	}
	for kill := range 4 {
		goal := answered() + 100
		require.Eventually(t, func() bool { return answered() > goal }, storedWithin, time.Millisecond, "kill "+strconv.Itoa(kill))
		c.Kill()
		c.Start()
	}
	stop()
	clients.Wait()
	requireStored(t, c, want)
	t.Logf("%d requests, %d attempts without an answer; the last start found %.0f points again", len(want), retries, duplicates(c))
}
