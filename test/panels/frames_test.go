//go:build previews

package panels

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
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

// TestFrames writes UID.json for every dashboard, of an hour of the simulation. make previews runs it, with the tag.
func TestFrames(t *testing.T) {
	require.NotEmpty(t, *frames, "-frames FOLDER")
	s := startStack(t)
	source, run := s.dataSource(t), simulate(t, s)
	require.Eventually(t, func() bool {
		return s.run(t, "SELECT uniqExact(event_time) >= 5 FROM "+database+".metric_points WHERE metric = 'pitwall.points.accepted'") == "1"
	}, 5*time.Minute, time.Second, "the collector has said too little about itself")
	run.window.to = time.Now().Add(-3 * time.Second)
	for _, d := range dashboards(t) {
		seen, err := time.ParseDuration(strings.TrimPrefix(d.Time.From, "now-"))
		require.NoError(t, err, d.UID)
		w := window{run.window.to.Add(-min(seen, run.window.to.Sub(run.window.from))), run.window.to}
		v := look(t, source, d, w, run.chosen)
		drawn := picture{w.from, w.to, v.chosen, map[int]data.Frames{}}
		for _, p := range d.queried() {
			drawn.Panels[p.ID], err = v.ask(t, p)
			require.NoError(t, err, "%s: %s", d.UID, p.Title)
		}
		content, err := json.Marshal(drawn)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(*frames, d.UID+".json"), content, 0o600))
	}
}
