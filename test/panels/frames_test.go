package panels

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/grafana/grafana-plugin-sdk-go/data"
	"github.com/stretchr/testify/require"
)

var frames = flag.String("frames", "", "a folder that TestFrames fills with what every panel is answered")

// picture is what dashboards/preview draws of a dashboard: the answers to its panels, by their ids.
type picture struct {
	From      time.Time           `json:"from"`
	To        time.Time           `json:"to"`
	Variables selection           `json:"variables"`
	Panels    map[int]data.Frames `json:"panels"`
}

// TestFrames writes UID.json for every dashboard, of an hour of the simulation. make previews runs it.
func TestFrames(t *testing.T) {
	if *frames == "" {
		t.Skip("writes files, asked for with -frames FOLDER")
	}
	s := startStack(t)
	source, run := s.dataSource(t), simulate(t, s)
	for _, d := range dashboards(t) {
		w := run.window
		if d.shortSighted() {
			w.from = w.to.Add(-15 * time.Minute)
		}
		v := look(t, source, d, w, run.chosen)
		drawn := picture{w.from, w.to, v.chosen, map[int]data.Frames{}}
		for _, p := range d.queried() {
			answer, err := v.ask(t, p)
			require.NoError(t, err, "%s: %s", d.UID, p.Title)
			drawn.Panels[p.ID] = answer
		}
		content, err := json.Marshal(drawn)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(*frames, d.UID+".json"), content, 0o600))
	}
}

// shortSighted dashboards are of minutes and not of hours: those with lanes.
func (d dashboard) shortSighted() bool {
	return slices.ContainsFunc(d.queried(), func(p panel) bool { return p.Type == "traces" })
}
