package telemetry

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/pitwall-otel/pitwall/test/demo/simulation"
)

// What is said of a state in a part of the time, in seconds since the state began: every moment once, however the time is cut.
func TestMoments(t *testing.T) {
	begin := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	seconds := func(s float64) time.Time { return begin.Add(time.Duration(s * float64(time.Second))) }
	f := func(end float64, cuts []float64, want string) {
		t.Helper()
		s := simulation.State{Begin: begin}
		if end > 0 {
			s.End = seconds(end)
		}
		var all []moment
		for i := 1; i < len(cuts); i++ {
			all = appendMoments(all, s, seconds(cuts[i-1]), seconds(cuts[i]))
		}
		var got []string
		for _, m := range all {
			got = append(got, fmt.Sprintf("%s %v", m.op, m.at.Sub(begin).Seconds()))
		}
		assert.Equal(t, want, strings.Join(got, ", "))
	}
	f(5, []float64{-1, 100}, "begin 0, end 5")
	f(25, []float64{-1, 100}, "begin 0, heartbeat 10, heartbeat 20, end 25")
	f(20, []float64{-1, 100}, "begin 0, heartbeat 10, end 20")
	f(25, []float64{-1, 0, 1, 9.5, 10, 10.5, 20, 24, 25, 26}, "begin 0, heartbeat 10, heartbeat 20, end 25")
	f(0, []float64{-1, 15, 35}, "begin 0, heartbeat 10, heartbeat 20, heartbeat 30") // nobody knows its end
	f(25, []float64{30, 100}, "")
	f(25, []float64{-100, -1}, "")
	f(0, []float64{3600, 3621}, "heartbeat 3610, heartbeat 3620")
}
