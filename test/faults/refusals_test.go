package faults

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/pmetric/pmetricotlp"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
)

// A collector that is short of memory tells the senders of every signal, over HTTP and gRPC, when to come again.
func TestRefusalsSayWhen(t *testing.T) {
	t.Parallel()
	r := newRig(t, "processors: {memory_limiter: {check_interval: 10ms, limit_mib: 2, spike_limit_mib: 1}}")
	r.collector.Start()
	r.until(func() bool { return strings.Contains(r.collector.Log(), "Refusing data") }, "memory_limiter refuses")
	connection, err := grpc.NewClient(r.collector.GRPC, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	defer connection.Close()
	points := r.record.export(request{producer: 1, points: 10}, 0)
	spans, records := ptrace.NewTraces(), plog.NewLogs()
	spans.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty().SetName("step")
	records.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty().Body().SetStr("line")
	traces, logs := ptraceotlp.NewExportRequestFromTraces(spans), plogotlp.NewExportRequestFromLogs(records)

	overHTTP := func(signal, contentType string, marshal func() ([]byte, error)) {
		t.Helper()
		body, err := marshal()
		require.NoError(t, err)
		response, err := http.Post("http://"+r.collector.HTTP+"/v1/"+signal, contentType, bytes.NewReader(body))
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		assert.Equal(t, http.StatusServiceUnavailable, response.StatusCode, signal)
		assert.Equal(t, "5", response.Header.Get("Retry-After"), signal)
	}
	for signal, marshal := range map[string][2]func() ([]byte, error){
		"metrics": {points.MarshalProto, points.MarshalJSON},
		"traces":  {traces.MarshalProto, traces.MarshalJSON},
		"logs":    {logs.MarshalProto, logs.MarshalJSON},
	} {
		overHTTP(signal, "application/x-protobuf", marshal[0])
		overHTTP(signal, "application/json", marshal[1])
	}
	overGRPC := func(err error) {
		t.Helper()
		assert.Equal(t, codes.Unavailable, status.Code(err), err)
		details := status.Convert(err).Details()
		if assert.Len(t, details, 1) {
			assert.Equal(t, int64(5), details[0].(*errdetails.RetryInfo).GetRetryDelay().GetSeconds())
		}
	}
	_, err = pmetricotlp.NewGRPCClient(connection).Export(context.Background(), points)
	overGRPC(err)
	_, err = ptraceotlp.NewGRPCClient(connection).Export(context.Background(), traces)
	overGRPC(err)
	_, err = plogotlp.NewGRPCClient(connection).Export(context.Background(), logs)
	overGRPC(err)
	assert.Zero(t, r.now()["points_accepted"])
	r.sampler.stop()
}

// The quarantine's log is full, because its table is not there, and the other one is not: only requests that bring
// something for the quarantine are refused, and of those nothing is stored.
func TestFullQuarantine(t *testing.T) {
	t.Parallel()
	r := newRig(t, "exporters: {metricpoints/quarantine: {create_schema: false, log: {max_size_mib: 16}}}")
	r.collector.Start()
	clients := r.send(usual)
	export, end := r.client(false, false)
	defer end()
	r.producers++
	producer, next := r.producers, 0
	mixed := func() outcome {
		q := request{producer: producer, first: next, points: 1000}
		next += q.points
		both := r.record.export(q, 100)
		both.Metrics().ResourceMetrics().At(0).CopyTo(both.Metrics().ResourceMetrics().AppendEmpty())
		both.Metrics().ResourceMetrics().At(1).Resource().Attributes().PutStr("pitwall.quarantine.reason", "test: told to")
		var err error
		q.outcome, err = export(both)
		r.record.add(q, err)
		return q.outcome
	}
	r.until(func() bool { return mixed() == refused }, "the quarantine is full")
	for range 10 {
		require.Equal(t, refused, mixed())
	}
	r.acknowledges(2000)
	clients.stop()
	got := r.finish(0)
	assert.Equal(t, int64(11_000), got.refused)
	assert.Zero(t, got.unknown)
}

// Signals that an operator or a terminal sends twice, or that stop the process for a while, and a configuration that
// is broken when SIGHUP comes.
func TestSignals(t *testing.T) {
	t.Parallel()
	r := newRig(t, "exporters: {metricpoints: {timeout: 1s}}")
	r.collector.Start()
	clients := r.send(usual)
	send := func(signals ...syscall.Signal) {
		t.Helper()
		r.acknowledges(2000)
		for _, signal := range signals {
			require.NoError(t, syscall.Kill(r.collector.PID(), signal))
		}
	}
	send(syscall.SIGSTOP)
	<-time.After(3 * time.Second) // longer than an INSERT may take
	require.NoError(t, syscall.Kill(r.collector.PID(), syscall.SIGCONT))
	send(syscall.SIGTERM, syscall.SIGTERM)
	require.NoError(t, r.collector.Wait(), "after SIGTERM twice")
	r.collector.Launch()
	send(syscall.SIGQUIT)
	require.Error(t, r.collector.Wait(), "after SIGQUIT, which prints all stacks")
	r.collector.Launch()
	broken := filepath.Join(r.collector.Dir, "configb.yaml")
	good, err := os.ReadFile(broken)
	require.NoError(t, err)
	r.acknowledges(2000)
	require.NoError(t, os.WriteFile(broken, []byte("exporters: {metricpoints: {insert: {rows: -1}}}"), 0o600))
	send(syscall.SIGHUP)
	require.Error(t, r.collector.Wait(), "after SIGHUP with a broken configuration")
	require.NoError(t, os.WriteFile(broken, good, 0o600))
	r.collector.Launch()
	r.acknowledges(2000)
	clients.stop()
	r.finish(0)
}
