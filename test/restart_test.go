package test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pitwall-otel/pitwall/internal/collectortest"
)

// TestDataSurvivesRestarts stops the collector right after a point was acknowledged: the point is in the table after
// the next start at the latest, and so are those before it.
func TestDataSurvivesRestarts(t *testing.T) {
	c := collectortest.New(t, "config/single-node.yaml", quiet)
	var want []row
	for start := range 4 {
		c.Start()
		waitStored(t, c)
		if start > 0 {
			requireRows(t, want, storedRows(t, c.Query, "run_id = 'restart'"))
		} // else the table may not be there yet

		now := time.Now()
		status, answer := postOTLP(t, c, "metrics", "application/json", fmt.Appendf(nil, `{"resourceMetrics":[{
			"resource":{"attributes":[{"key":"rl.run.id","value":{"stringValue":"restart"}}]},"scopeMetrics":[{"metrics":[
			{"name":"loss","unit":"1","gauge":{"dataPoints":[{"timeUnixNano":"%d","asDouble":%d}]}}]}]}]}`, now.UnixNano(), start))
		require.Equal(t, http.StatusOK, status, answer)
		want = append(want, row{millis: now.UnixMilli(), run: "restart", device: noDevice, metric: "loss", value: strconv.Itoa(start), unit: "1"})

		began := time.Now()
		c.Stop() // SIGINT, as Ctrl-C sends; requires exit status 0
		require.Less(t, time.Since(began), 10*time.Second, "from Ctrl-C to the end")
	}
}

// TestKillsOfTheCollector kills it under load, as a crash or the kernel does, and starts it again: each acknowledged
// point is in the table once. A request without an answer is not sent again; it is there once or not at all.
func TestKillsOfTheCollector(t *testing.T) {
	c := collectortest.New(t, "config/single-node.yaml", quiet)
	c.Start()
	work := produce(c, 4)
	for kill := range 4 {
		goal := work.acknowledged() + 2000
		require.Eventually(t, func() bool { return work.acknowledged() > goal }, storedWithin, 10*time.Millisecond, "kill %d", kill)
		c.Kill()
		c.Start()
	}
	sent := work.stop()
	waitStored(t, c)
	requireOnce(t, c, sent)
}

// TestKillsOfTheEngine kills ClickHouse under load, again and again: points are accepted all the while and all arrive
// once, and the collector never ends.
func TestKillsOfTheEngine(t *testing.T) {
	c := collectortest.New(t, "config/single-node.yaml", quiet)
	c.Start()
	work := produce(c, 4)
	killed := map[int]bool{}
	for range 3 {
		require.Eventually(t, func() bool {
			engine := engineOf(c)
			if _, err := c.Query("SELECT 1"); err != nil || engine == 0 || killed[engine] {
				return false
			}
			killed[engine] = true
			return syscall.Kill(engine, syscall.SIGKILL) == nil
		}, storedWithin, 10*time.Millisecond, "no engine to kill")
		// Into the outage, and some of it acknowledged during it.
		goal := work.acknowledged() + 1000
		require.Eventually(t, func() bool { return work.acknowledged() > goal }, storedWithin, 10*time.Millisecond,
			"no points are accepted while ClickHouse is away")
	}
	sent := work.stop()
	require.Zero(t, sent.unanswered(), "requests refused or lost while ClickHouse was away")
	require.Eventually(t, func() bool { _, err := c.Query("SELECT 1"); return err == nil }, storedWithin, 50*time.Millisecond)
	waitStored(t, c)
	requireOnce(t, c, sent)
	require.Len(t, killed, 3)
}

// engineOf returns the process id of the collector's embedded engine, 0 when it has none at the moment.
func engineOf(c *collectortest.Collector) int {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", c.PID())) // the kernel lists them by thread
	for _, list := range lists {
		children, err := os.ReadFile(list)
		if err != nil {
			continue // the thread has ended
		}
		for child := range strings.FieldsSeq(string(children)) {
			if name, err := os.ReadFile("/proc/" + child + "/comm"); err == nil && strings.HasPrefix(string(name), "pitwall-clickho") {
				pid, _ := strconv.Atoi(child)
				return pid
			}
		}
	}
	return 0
}

// requireOnce compares the stamps of the points in the table with those of the points sent.
func requireOnce(t *testing.T, c *collectortest.Collector, sent sent) {
	t.Helper()
	stored, doubled := map[stamp]bool{}, []stamp(nil)
	for _, r := range storedRows(t, c.Query, "run_id = '"+stampRun+"'") {
		var s stamp
		_, err := fmt.Sscanf(r.tags, `{"producer":%d,"sequence":%d}`, &s.producer, &s.sequence)
		require.NoError(t, err, r.tags)
		if stored[s] {
			doubled = append(doubled, s)
		}
		stored[s] = true
		require.Equal(t, s.row(r.millis), r)
	}
	require.Empty(t, doubled, "points stored twice")
	var missing, unknown []stamp
	for s, answered := range sent {
		if answered && !stored[s] {
			missing = append(missing, s)
		}
	}
	for s := range stored {
		if _, known := sent[s]; !known {
			unknown = append(unknown, s)
		}
	}
	require.Empty(t, missing, "acknowledged points that are not stored")
	require.Empty(t, unknown, "points that nobody sent")
	t.Logf("%d points sent, %d of them not acknowledged, %d stored", len(sent), sent.unanswered(), len(stored))
}
