package faults

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// 64 clients at once, half of them over gRPC, all reading their answers a few bytes at a time.
func TestManySlowClients(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.collector.Start()
	clients := r.send(shape{clients: 64, points: 20, every: 20 * time.Millisecond, slow: true})
	r.acknowledges(int64(rounds(50_000)))
	clients.stop()
	got := r.finish(0)
	assert.Zero(t, got.refused+got.unknown)
}

// The collector is asked to stop under load, with and without an engine that answers. What it acknowledged on the way
// is in its log for the next start.
func TestStopUnderLoad(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.collector.Start()
	clients := r.send(usual)
	for round := range rounds(4) {
		r.acknowledges(5000)
		if round%2 == 1 {
			met := r.proxy.broken.Load()
			r.proxy.inject(stall)
			r.until(func() bool { return r.proxy.broken.Load() > met }, "an INSERT without an answer")
		}
		began := time.Now()
		r.collector.Stop()
		t.Logf("stopped in %.2f s", time.Since(began).Seconds())
		r.proxy.heal()
		r.collector.Start()
	}
	r.acknowledges(1)
	clients.stop()
	r.finish(0)
}

// SIGHUP makes the collector read its configuration again: it stops and starts its pipelines in the same process.
func TestReloadUnderLoad(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.collector.Start()
	const ready = "Everything is ready."
	pid := r.collector.PID()
	clients := r.send(usual)
	for range rounds(6) {
		r.acknowledges(3000)
		starts := strings.Count(r.collector.Log(), ready)
		require.NoError(t, syscall.Kill(pid, syscall.SIGHUP))
		r.until(func() bool { return strings.Count(r.collector.Log(), ready) > starts }, "pipelines started again")
	}
	r.acknowledges(3000)
	clients.stop()
	r.finish(0)
	assert.Equal(t, pid, r.collector.PID())
}

// post sends an INSERT once more.
func (r *rig) post(i *insert) {
	r.t.Helper()
	request, err := http.NewRequestWithContext(r.t.Context(), http.MethodPost, r.proxy.server.URL+i.target, bytes.NewReader(i.body))
	require.NoError(r.t, err)
	request.Header = i.header.Clone()
	response, err := r.proxy.client.Do(request)
	require.NoError(r.t, err)
	defer response.Body.Close()
	said, err := io.ReadAll(response.Body)
	require.NoError(r.t, err)
	require.Equal(r.t, http.StatusOK, response.StatusCode, "%s", said)
}
