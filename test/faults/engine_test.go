package faults

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// Every way an INSERT can fail without the engine being gone. While it lasts, clients are answered as ever; afterwards
// every point is there once.
func TestBrokenInserts(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.collector.Start()
	clients := r.send(usual)
	f := func(name string, broken fault, meets int64) {
		t.Helper()
		before, began := r.proxy.broken.Load(), time.Now()
		r.proxy.inject(broken)
		r.until(func() bool { return r.proxy.broken.Load() >= before+meets }, "%s: %d INSERTs broken", name, meets)
		r.proxy.heal()
		t.Logf("%-40s %3d INSERTs broken in %.1f s", name, r.proxy.broken.Load()-before, time.Since(began).Seconds())
		inserts := r.proxy.inserts.Load()
		r.until(func() bool { return r.proxy.inserts.Load() > inserts }, "%s: INSERTs go on", name)
	}
	f("connection cut before the INSERT", cut, 10)
	f("connection cut in the INSERT", cutRequest, 10)
	f("a bit flipped on the way", corrupt, 10)
	f("answer lost after the INSERT", loseAnswer, 10)
	f("half an answer after the INSERT", halfAnswer, 10)
	f("every second answer lost", every(2, loseAnswer), 20)
	f("answers delayed by 300 ms", delayed(300*time.Millisecond), 5)
	f("500 of a balancer", fails(http.StatusInternalServerError, 0, "oops"), 10)
	f("503 of a balancer", fails(http.StatusServiceUnavailable, 0, "no backend"), 10)
	f("memory limit", fails(http.StatusInternalServerError, 241, "(total) memory limit exceeded. (MEMORY_LIMIT_EXCEEDED)"), 10)
	f("too many parts", fails(http.StatusInternalServerError, 252, "Too many parts (3000). (TOO_MANY_PARTS)"), 10)
	f("disk of the engine full", fails(http.StatusInternalServerError, 243, "Cannot reserve 1.00 MiB. (NOT_ENOUGH_SPACE)"), 10)
	f("password refused for a while", fails(http.StatusForbidden, 516, "default: Authentication failed. (AUTHENTICATION_FAILED)"), 10)
	f("table gone for a while", fails(http.StatusNotFound, 60, "Table does not exist. (UNKNOWN_TABLE)"), 5)
	f("error that repeats the credentials", echo, 5)
	clients.stop()
	got := r.finish(0)
	assert.Zero(t, got.refused+got.unknown, "points not acknowledged: trouble with the engine must not reach clients")
}

// The engine takes INSERTs and never answers: each attempt ends at the exporter's timeout.
func TestEngineNeverAnswers(t *testing.T) {
	t.Parallel()
	r := newRig(t, "exporters: {metricpoints: {timeout: 1s}}")
	r.collector.Start()
	clients := r.send(usual)
	r.acknowledges(1)
	r.proxy.inject(stall)
	r.until(func() bool { return r.proxy.broken.Load() >= int64(rounds(6)) }, "INSERTs taken without an answer")
	r.proxy.heal()
	clients.stop()
	got := r.finish(0)
	assert.Zero(t, got.refused+got.unknown)
}

// An outage with the retry settings as they are shipped; other exporters give up after minutes, this one never. Then the
// collector dies as well, and starts with the backlog.
func TestEngineGone(t *testing.T) {
	t.Parallel()
	r := newRig(t, `
exporters:
  metricpoints: {timeout: 30s, retry: {initial_interval: 500ms, max_interval: 5s}, insert: {interval: 1s, rows: 50000}}`)
	r.collector.Start()
	clients := r.send(usual)
	r.acknowledges(1)
	r.engine.Kill()
	outage := time.Duration(rounds(30)) * time.Second
	began, before := time.Now(), r.record.points(acknowledged)
	r.until(func() bool { return time.Since(began) > outage/2 }, "half of the outage")
	r.collector.Kill()
	r.collector.Launch()
	r.until(func() bool { return time.Since(began) > outage }, "the outage")
	arrived := float64(r.record.points(acknowledged)-before) / time.Since(began).Seconds()
	clients.stop()

	r.collector.Kill()
	r.engine.Restart()
	inserts, restarted := r.proxy.inserts.Load(), time.Now()
	r.collector.Launch()
	r.until(func() bool { return r.proxy.inserts.Load() > inserts }, "an INSERT")
	first := time.Since(restarted)
	r.drained()
	whole := time.Since(restarted)
	backlog := float64(r.record.points(acknowledged) - before)
	t.Logf("outage of %s at %.0f points/s; first INSERT %.2f s after the restart, %.0f points drained in %.1f s: %.0f times arrival",
		outage, arrived, first.Seconds(), backlog, whole.Seconds(), backlog/whole.Seconds()/arrived)
	r.finish(0)
}
