package panels

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write testdata/ anew")

// quiet are panels of counters that exist only once something has gone wrong, which in the simulation it does not.
var quiet = []string{"Failed INSERTs/s", "Names that the schema does not know", "Failures/s between prefill and decode"}

func TestPanels(t *testing.T) {
	s := startStack(t)
	source := s.dataSource(t)
	boards := dashboards(t)

	now := time.Now()
	t.Run("an empty database: gray, and no error", func(t *testing.T) {
		for _, d := range boards {
			v := look(t, source, d, window{now.AddDate(-5, 0, 0), now.AddDate(-5, 0, 1)}, nil)
			for _, p := range d.queried() {
				_, err := v.ask(t, p)
				assert.NoError(t, err, "%s: %s", d.UID, p.Title)
			}
		}
	})

	run := simulate(t, s)
	t.Run("a simulated run: no panel is blank", func(t *testing.T) {
		for _, d := range boards {
			t.Run(d.UID, func(t *testing.T) {
				v := look(t, source, d, run.window, run.chosen)
				var described strings.Builder
				for _, p := range d.queried() {
					frames, err := v.ask(t, p)
					if !assert.NoError(t, err, p.Title) {
						continue
					}
					if !slices.Contains(quiet, p.Title) {
						assert.NotZero(t, cells(frames), "%s: panel %d %q shows nothing", d.UID, p.ID, p.Title)
					}
					fmt.Fprintf(&described, "%s (%s, %s): %s\n", p.Title, p.Type, p.FieldConfig.Defaults.Unit, columns(frames))
				}
				golden(t, d.UID, described.String())
			})
		}
	})

	t.Run("a panel with one number shows the ledger's", func(t *testing.T) { checkNumbers(t, source, boards, run) })

	one := onePoint(t, s, run)
	t.Run("one point of each series", func(t *testing.T) {
		for _, d := range boards {
			v := look(t, source, d, one.window, one.chosen)
			for _, p := range d.queried() {
				_, err := v.ask(t, p)
				assert.NoError(t, err, "%s: %s", d.UID, p.Title)
			}
		}
	})

	strange := oddNames(t, s, run)
	t.Run("names with quotes, backslashes, per cent and 200 characters", func(t *testing.T) {
		for _, d := range boards {
			plain := look(t, source, d, run.window, run.chosen)
			v := look(t, source, d, strange.window, strange.chosen)
			for _, p := range d.queried() {
				want, err := plain.ask(t, p)
				require.NoError(t, err, "%s: %s", d.UID, p.Title)
				got, err := v.ask(t, p)
				if assert.NoError(t, err, "%s: %s", d.UID, p.Title) {
					assert.Equal(t, cells(want), cells(got), "%s: %s: as many cells as with ordinary names", d.UID, p.Title)
				}
			}
		}
	})

	t.Run("a crafted address shows nothing", func(t *testing.T) {
		for _, d := range boards {
			for _, crafted := range []string{`x\' OR 1=1 -- `, `%27}') OR 1=1 -- `} {
				chosen := selection{}
				for _, variable := range d.Templating.List {
					if variable.Type == "query" {
						chosen[variable.Name] = []string{crafted}
					}
				}
				if _, byRun := chosen["run_id"]; !byRun {
					continue
				}
				v := look(t, source, d, run.window, chosen)
				for _, p := range d.queried() {
					if !p.asksFor("run_id") {
						continue // a list of all runs
					}
					frames, err := v.ask(t, p)
					assert.NoError(t, err, "%s: %s: %s", d.UID, p.Title, crafted)
					for _, row := range values(frames) {
						assert.NotContains(t, row, run.id, "%s: %s: %s", d.UID, p.Title, crafted)
					}
				}
			}
		}
	})

	// Last, because it breaks the table: a column that goes away is found by each panel that needs it.
	t.Run("a column that is dropped fails its panels", func(t *testing.T) {
		s.run(t, "ALTER TABLE "+database+".metric_points DROP COLUMN tags_json")
		failed := 0
		for _, d := range boards {
			for _, p := range d.queried() {
				v := &viewer{source, run.window, everything(d), map[string]bool{}}
				_, err := v.ask(t, p)
				if slices.ContainsFunc(p.Targets, func(q target) bool { return strings.Contains(q.RawSQL, "tags_json") }) {
					assert.ErrorContains(t, err, "tags_json", "%s: %s", d.UID, p.Title)
					failed++
				} else {
					assert.NoError(t, err, "%s: %s", d.UID, p.Title)
				}
			}
		}
		assert.Greater(t, failed, 50)
	})
}

// everything chooses one value for each variable without asking for options.
func everything(d dashboard) selection {
	chosen := selection{}
	for _, variable := range d.Templating.List {
		chosen[variable.Name] = []string{"*"}
	}
	return chosen
}

// golden compares with testdata/NAME.golden, or writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err, "go test . -update writes it")
	assert.Equal(t, string(want), got, "%s: look at what changed, then go test . -update", file)
}
