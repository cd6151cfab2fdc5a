package faults

import (
	"bytes"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const day = 24 * time.Hour

// The wall clock of the collector jumps under load, forward and back, with kill -9 in between. Nothing waits for it to catch
// up: requests are acknowledged, ranges cut and stored, and a request that is sent again within the window is recognised.
func TestClockSteps(t *testing.T) {
	t.Parallel()
	clock := newClock(t)
	r := newRig(t)
	clock.drives(r.collector)
	r.collector.Start()
	clients := r.send(usual)
	steps := 0
	for round := range rounds(2) {
		for _, offset := range []time.Duration{2 * time.Hour, -2 * time.Hour, -400 * day, 0, 400 * day, 0} {
			steps++
			kill := steps%3 == 0
			id := "step " + strconv.Itoa(steps)
			q := request{producer: 1000 + steps, points: 10}
			q.outcome = r.identified(q, id)
			require.Equal(t, acknowledged, q.outcome)
			r.record.add(q, nil)

			clock.set(offset)
			if kill {
				r.collector.Kill()
				r.collector.Start()
			}
			r.tells(offset)
			inserts := r.proxy.inserts.Load()
			r.acknowledges(2000)
			r.until(func() bool { return r.proxy.inserts.Load() >= inserts+3 }, "INSERTs in round %d at %s", round, offset)
			duplicates := r.now()["duplicate"]
			require.Equal(t, acknowledged, r.identified(q, id))
			assert.InDelta(t, duplicates+float64(q.points), r.now()["duplicate"], 0, "points of a repetition in round %d at %s, killed: %t", round, offset, kill)
		}
	}
	clients.stop()
	// Few points become a range by their age alone.
	for _, offset := range []time.Duration{2 * time.Hour, -400 * day} {
		r.drained()
		clock.set(offset)
		steps++
		q := request{producer: 1000 + steps, points: 10}
		q.outcome = r.identified(q, "")
		r.record.add(q, nil)
	}
	got := r.finish(0)
	assert.Zero(t, got.refused)
	t.Logf("%d steps of the clock; the collector asked it %d times", steps, clock.asked.Load())
}

// identified sends a request with a batch id.
func (r *rig) identified(q request, id string) outcome {
	r.t.Helper()
	body, err := r.record.export(q, 0).MarshalProto()
	require.NoError(r.t, err)
	request, err := http.NewRequestWithContext(r.t.Context(), http.MethodPost, "http://"+r.collector.HTTP+"/v1/metrics", bytes.NewReader(body))
	require.NoError(r.t, err)
	request.Header.Set("Content-Type", "application/x-protobuf")
	if id != "" {
		request.Header.Set("Pitwall-Batch-Id", id)
	}
	response, err := http.DefaultClient.Do(request)
	require.NoError(r.t, err)
	require.NoError(r.t, response.Body.Close())
	if response.StatusCode != http.StatusOK {
		return refused
	}
	return acknowledged
}

// tells requires that the collector goes by a clock that is so far from this machine's: its answers say when they were made.
func (r *rig) tells(offset time.Duration) {
	r.t.Helper()
	response, err := http.Get("http://" + r.collector.HTTP + "/")
	require.NoError(r.t, err)
	require.NoError(r.t, response.Body.Close())
	at, err := http.ParseTime(response.Header.Get("Date"))
	require.NoError(r.t, err)
	require.WithinDuration(r.t, time.Now().Add(offset), at, time.Hour)
}
