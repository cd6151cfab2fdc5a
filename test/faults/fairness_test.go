package faults

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// flood is the most that a few clients get in.
var flood = shape{clients: 8, points: 1000, every: time.Millisecond}

// delays are those of one well-behaved run's requests.
type delays struct{ acknowledged, visible []time.Duration }

// One run sends a hundred points a second while another sends as much as it can. How long does the first one wait, for
// its answers and, behind those, for its rows?
func TestFloodingRun(t *testing.T) { // not beside others, which would flood as well
	r := newRig(t, shippedBlocks)
	r.collector.Start()
	r.behaves(1) // the tables are made
	alone := r.behaves(rounds(50))
	before, began := r.record.points(acknowledged), time.Now()
	clients := r.send(flood)
	r.acknowledges(1)
	beside := r.behaves(rounds(50))
	rate := float64(r.record.points(acknowledged)-before) / time.Since(began).Seconds()
	clients.stop()
	r.finish(0)
	t.Logf("100 points/s alone:                        %s", alone)
	t.Logf("100 points/s beside %6.0f points/s:       %s", rate, beside)
}

// behaves sends requests of ten points, ten a second, and measures what becomes of each.
func (r *rig) behaves(requests int) delays {
	r.t.Helper()
	r.producers++
	producer := r.producers
	export, end := r.client(false, false)
	defer end()
	var seen atomic.Int64 // requests whose rows are in the table
	answered := make([]time.Time, requests)
	visible := make([]time.Time, requests)
	done := make(chan error, 1)
	go func() {
		for seen.Load() < int64(requests) {
			answer, err := r.engine.Exec(fmt.Sprintf("SELECT countDistinct(step) FROM %s WHERE rank = %d", table, producer))
			if err != nil {
				continue // no table yet
			}
			points, err := strconv.Atoi(strings.TrimSpace(answer))
			if err != nil {
				done <- err
				return
			}
			for now := time.Now(); seen.Load() < int64(points/pointsOfOne); seen.Add(1) {
				visible[seen.Load()] = now
			}
		}
		done <- nil
	}()
	var d delays
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for i := range requests {
		<-ticker.C
		q := request{producer: producer, first: i * pointsOfOne, points: pointsOfOne}
		began := time.Now()
		var err error
		q.outcome, err = export(r.record.export(q, 0))
		answered[i] = time.Now()
		require.Equal(r.t, acknowledged, q.outcome, err)
		r.record.add(q, err)
		d.acknowledged = append(d.acknowledged, answered[i].Sub(began))
	}
	select {
	case err := <-done:
		require.NoError(r.t, err)
	case <-time.After(within):
		require.Fail(r.t, "rows are not visible", "%d of %d requests are", seen.Load(), requests)
	}
	for i := range requests {
		d.visible = append(d.visible, max(0, visible[i].Sub(answered[i])))
	}
	return d
}

func (d delays) String() string {
	say := func(all []time.Duration) string {
		slices.Sort(all)
		return fmt.Sprintf("%.0f ms median, %.0f ms at most", ms(all[len(all)/2]), ms(all[len(all)-1]))
	}
	return "acknowledged after " + say(d.acknowledged) + "; visible after further " + say(d.visible)
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
