package faults

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// shippedBlocks are the INSERTs of the shipped configurations.
const shippedBlocks = "exporters: {metricpoints: {timeout: 30s, insert: {interval: 1s, rows: 50000}}}"

// crowd wants to send two and a half million points a second, more than ten times what two cores take: each client has
// a request under way at any moment.
var crowd = shape{clients: 256, points: 1000, every: 100 * time.Millisecond, pad: 200}

// Ten times more is offered than the collector can take. What it takes is stored, its memory stays bounded; when the
// limit is low, it refuses, perhaps everything, and what it refuses is not stored. Afterwards it takes points as ever.
func TestOverload(t *testing.T) { // by itself: it takes the whole machine
	for name, limits := range map[string]string{
		"as shipped":      "{}",
		"short of memory": "processors: {memory_limiter: {check_interval: 50ms, limit_mib: 140, spike_limit_mib: 60}}",
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, shippedBlocks, limits)
			r.collector.Start()
			began := time.Now()
			clients := r.send(crowd)
			<-time.After(time.Duration(rounds(5)) * time.Second)
			clients.stop()
			took := time.Since(began).Seconds()
			clients = r.send(usual)
			r.acknowledges(2000)
			clients.stop()
			got := r.finish(0)
			offered := float64(crowd.clients*crowd.points) / crowd.every.Seconds()
			t.Logf("%s: %.0f points/s wanted, %.0f acknowledged, %.0f refused, over %.0f s; %.0f MiB resident at most",
				name, offered, float64(got.acknowledged)/took, float64(got.refused)/took, took, r.sampler.peak["rss"]/(1<<20))
			if name == "short of memory" {
				assert.Positive(t, got.refused)
			}
			assert.Zero(t, got.unknown)
		})
	}
}

// The engine is away while points arrive as fast as clients of this machine can send them: 50,000 a second.
func TestOutageUnderHighLoad(t *testing.T) {
	r := newRig(t, shippedBlocks, "exporters: {metricpoints: {retry: {initial_interval: 500ms, max_interval: 5s}}}")
	r.collector.Start()
	clients := r.send(shape{clients: 5, points: 500, every: 50 * time.Millisecond})
	r.acknowledges(1)
	r.engine.Kill()
	outage := 10 * time.Second
	if soaking() {
		outage = 10 * time.Minute
	}
	began, before := time.Now(), r.record.points(acknowledged)
	<-time.After(outage)
	clients.stop()
	backlog := float64(r.record.points(acknowledged) - before)
	arrived := backlog / time.Since(began).Seconds()
	r.engine.Restart()
	restarted := time.Now()
	r.drained()
	drained := backlog / time.Since(restarted).Seconds()
	t.Logf("outage of %s at %.0f points/s; %.0f points drained in %.1f s: %.1f times arrival",
		outage, arrived, backlog, time.Since(restarted).Seconds(), drained/arrived)
	got := r.finish(0)
	assert.Zero(t, got.refused+got.unknown)
}
