package panels

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// coverage says which panels of a dashboard show something of which sources: engine versions, or training frameworks.
type coverage struct {
	sources []string
	panels  []string // in the dashboard's order
	filled  map[string]map[string]bool
}

// cover opens the dashboard once for each source, whose name is that of its run.
func cover(t *testing.T, source *dataSource, uid string, w window, runs []string) coverage {
	t.Helper()
	boards := dashboards(t)
	at := slices.IndexFunc(boards, func(d dashboard) bool { return d.UID == uid })
	require.NotEqual(t, -1, at, uid)
	c := coverage{sources: runs, filled: map[string]map[string]bool{}}
	for _, run := range runs {
		v := look(t, source, boards[at], w, selection{"run_id": {encodeURIComponentStrict(run)}})
		for _, p := range boards[at].queried() {
			frames, err := v.ask(t, p)
			require.NoError(t, err, "%s: %s of %s", uid, p.Title, run)
			name := p.Title + " (" + p.Type + ")"
			if c.filled[name] == nil {
				c.panels, c.filled[name] = append(c.panels, name), map[string]bool{}
			}
			c.filled[name][run] = cells(frames) > 0
		}
	}
	return c
}

// without leaves out panels that show nothing of any source.
func (c coverage) without() coverage {
	c.panels = slices.DeleteFunc(slices.Clone(c.panels), func(panel string) bool {
		return !slices.ContainsFunc(c.sources, func(run string) bool { return c.filled[panel][run] })
	})
	return c
}

// String is a table, a column for each source.
func (c coverage) String() string {
	wide := 0
	for _, panel := range c.panels {
		wide = max(wide, len(panel))
	}
	var table strings.Builder
	row := func(name string, cell func(run string) string) {
		line := fmt.Sprintf("%-*s", wide, name)
		for _, run := range c.sources {
			line += fmt.Sprintf(" | %-*s", max(len(run), len("filled")), cell(run))
		}
		table.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	row("", func(run string) string { return run })
	for _, panel := range c.panels {
		row(panel, func(run string) string {
			if c.filled[panel][run] {
				return "filled"
			}
			return "blank"
		})
	}
	return table.String()
}

// lacks are the core panels that a source has nothing for, and why: "panel: reason", by source.
type lacks map[string]map[string]string

// requireCore requires that the core panels show every source's values, but for what the source lacks; and that it does
// lack that, so that the list stays true.
func (c coverage) requireCore(t *testing.T, core []string, lacking lacks) {
	t.Helper()
	for _, panel := range core {
		require.Contains(t, c.panels, panel)
		for _, run := range c.sources {
			reason := lacking[run][panel]
			assert.Equal(t, reason == "", c.filled[panel][run], "%q of %s shows something; known reason why it does not: %q", panel, run, reason)
		}
	}
}

// since is the window from a moment to now.
func since(from time.Time) window { return window{from, time.Now()} }
