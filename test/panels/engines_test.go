package panels

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestEngineVersions scrapes live engines of every version, and says which panels of the engines' dashboard each fills.
func TestEngineVersions(t *testing.T) {
	s := startStack(t, "receivers::engine: {collection_interval: 1s, initial_delay: 0s}")
	start := time.Now()
	versions := serveEngines(t, s)
	require.Eventually(t, func() bool {
		return s.run(t, `SELECT uniqExact(run_id) FROM (
			SELECT run_id, JSONExtractString(tags_json, 'service.instance.id') AS engine FROM `+database+`.metric_points
			WHERE metric = 'inference.engine.up' GROUP BY run_id, engine HAVING count() >= 20)`) == "6"
	}, 2*time.Minute, time.Second, "not every engine has been scraped 20 times")

	c := cover(t, s.dataSource(t), "pitwall-engines", since(start), versions)
	golden(t, "coverage-engines", c.String())
	c.requireCore(t, []string{
		"Running (stat)", "Waiting (stat)", "Fullest KV cache (stat)", "Running requests (timeseries)", "Waiting requests (timeseries)",
		"KV cache in use (timeseries)", "Token/s generated (timeseries)", "Token/s of prompts (timeseries)", "Time to the first token (timeseries)", "Time of requests (timeseries)",
	}, nil)
}

// serveEngines starts test/fleet/serve and returns the versions, which are the runs' names too.
func serveEngines(t *testing.T, s *stack) []string {
	t.Helper()
	binary, err := filepath.Abs(filepath.Join(t.TempDir(), "serve"))
	require.NoError(t, err)
	build := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "./test/fleet/serve")
	build.Dir = root
	said, err := build.CombinedOutput()
	require.NoError(t, err, "%s", said)

	serve := exec.Command(binary, "-registration", "http://"+s.engines, "-rate", "2", "-speed", "2")
	serve.Stderr = os.Stderr
	serve.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	out, err := serve.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, serve.Start())
	t.Cleanup(func() {
		_ = serve.Process.Signal(syscall.SIGTERM)
		_ = serve.Wait()
	})
	var versions []string
	lines := bufio.NewScanner(out)
	for range 14 { // engines
		require.True(t, lines.Scan(), "it ended too early")
		var registered struct{ Run string }
		require.NoError(t, json.NewDecoder(strings.NewReader(lines.Text())).Decode(&registered))
		if !slices.Contains(versions, registered.Run) {
			versions = append(versions, registered.Run)
		}
	}
	return versions
}
