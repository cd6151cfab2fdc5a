package enginereceiver

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestTurnsFollowFromTheNameAlone(t *testing.T) {
	const interval = 15 * time.Second
	start := time.Unix(1_790_000_000, 123_456_789)
	turn := nextTurn("10.0.0.3:30000", interval, start)
	assert.True(t, turn.After(start) && !turn.After(start.Add(interval)))
	assert.Equal(t, turn.Add(interval), nextTurn("10.0.0.3:30000", interval, turn), "the turn after a turn is one interval later")
	assert.Equal(t, turn, nextTurn("10.0.0.3:30000", interval, turn.Add(-time.Nanosecond)))
	// A restart later finds the same turns.
	assert.Equal(t, turn.Add(1000*interval), nextTurn("10.0.0.3:30000", interval, start.Add(1000*interval)))
}

func TestTurnsSpreadOverTheInterval(t *testing.T) {
	const interval, parts, each = 10 * time.Second, 10, 100
	var counts [parts]int
	start := time.Unix(1_790_000_000, 0)
	for i := range parts * each {
		turn := nextTurn(fmt.Sprintf("10.0.%d.%d:30000", i/250, i%250), interval, start)
		counts[(turn.Sub(start)-1)*parts/interval]++
	}
	for part, n := range counts {
		assert.InDelta(t, each, n, each/2, "targets in part %d of the interval", part)
	}
}
