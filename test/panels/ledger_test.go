package panels

import (
	"encoding/json"
	"math"
	"os"
	"testing"
	"time"

	"github.com/grafana/grafana-plugin-sdk-go/data"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ledger is what the simulation says must be seen, added up from what it did and not from what was stored.
type ledger struct {
	Runs map[string]struct {
		LastStep    int64 `json:"last_step"`
		Tokens      float64
		Throughput  float64
		Loss        *float64
		Checkpoints []struct {
			Size        float64 `json:"size_bytes"`
			SaveSeconds float64 `json:"save_seconds"`
			URL         string
			Deleted     bool
		}
		Reached map[string]time.Time `json:"milestones_reached"`
		Engines []struct{ Running, Waiting int }
	}
}

func readLedger(t *testing.T, file string) ledger {
	t.Helper()
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	var l ledger
	require.NoError(t, json.Unmarshal(content, &l))
	return l
}

// checkNumbers compares the panels that show one number with the ledger, for the run that was resumed.
func checkNumbers(t *testing.T, source *dataSource, boards []dashboard, run dataset) {
	t.Helper()
	truth := run.ledger.Runs[healthy]
	require.NotEmpty(t, truth.Checkpoints)
	kept, hosted := 0, 0
	for _, c := range truth.Checkpoints {
		if !c.Deleted {
			kept++
			if c.URL != "" {
				hosted++
			}
		}
	}
	running, waiting := 0, 0
	for _, engine := range truth.Engines {
		running += engine.Running
		waiting += engine.Waiting
	}
	latest := truth.Checkpoints[len(truth.Checkpoints)-1]
	for _, want := range []struct {
		board, panel string
		value        float64
	}{
		{"pitwall-training", "Loss", *truth.Loss},
		{"pitwall-training", "Step", float64(truth.LastStep)},
		{"pitwall-training", "Tokens trained", truth.Tokens},
		{"pitwall-training", "Token/s", truth.Throughput},
		{"pitwall-progress", "Step", float64(truth.LastStep)},
		{"pitwall-progress", "Tokens trained", truth.Tokens},
		{"pitwall-progress", "Milestones reached", float64(len(truth.Reached))},
		{"pitwall-checkpoints", "Checkpoints", float64(kept)},
		{"pitwall-checkpoints", "Hosted", float64(hosted)},
		{"pitwall-checkpoints", "Latest size", latest.Size},
		{"pitwall-checkpoints", "Latest save", latest.SaveSeconds},
		{"pitwall-engines", "Running", float64(running)},
		{"pitwall-engines", "Waiting", float64(waiting)},
		{"pitwall-collector", "Not accounted for", 0},
		{"pitwall-collector", "Dropped", 0},
	} {
		d, p := find(t, boards, want.board, want.panel)
		frames, err := look(t, source, d, run.window, selection{"run_id": {healthy}}).ask(t, p)
		require.NoError(t, err)
		got := shownNumber(t, frames)
		assert.InDelta(t, want.value, got, math.Abs(want.value)*1e-9+1e-9, "%s: %s", want.board, want.panel)
	}
}

// find returns the panel of that title that shows one number.
func find(t *testing.T, boards []dashboard, uid, title string) (dashboard, panel) {
	t.Helper()
	for _, d := range boards {
		for _, p := range d.queried() {
			if d.UID == uid && p.Title == title && p.Type == "stat" {
				return d, p
			}
		}
	}
	require.FailNow(t, "no such panel", "%s: %s", uid, title)
	return dashboard{}, panel{}
}

// shownNumber is what a panel for one number shows: the last value that is there; NaN for none.
func shownNumber(t *testing.T, frames data.Frames) float64 {
	t.Helper()
	shown := math.NaN()
	for _, frame := range frames {
		for _, field := range frame.Fields {
			if !field.Type().Numeric() {
				continue
			}
			for i := range field.Len() {
				value, err := field.NullableFloatAt(i)
				require.NoError(t, err)
				if value != nil {
					shown = *value
				}
			}
		}
	}
	return shown
}
