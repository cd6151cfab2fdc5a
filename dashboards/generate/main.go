// Command generate writes the dashboards: `go run ./dashboards/generate` in the repository's root, which `make generate`
// does. Each dashboard is one file here; what they share is in dashboards/internal.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/pitwall-otel/pitwall/dashboards/internal/alerts"
	"github.com/pitwall-otel/pitwall/dashboards/internal/board"
)

func main() {
	folder := flag.String("out", "dashboards", "`folder` that the JSON is written to")
	flag.Parse()
	if err := write(*folder); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func write(folder string) error {
	all := boards()
	for _, b := range all {
		text, err := b.JSON()
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, b.File()), text, 0o644); err != nil { //nolint:gosec // for everybody to read
			return err
		}
	}
	rules := alerts.Rules()
	for i, rule := range rules {
		at := slices.IndexFunc(all, func(b *board.Board) bool { return b.UID() == rule.Dashboard })
		if at < 0 {
			return fmt.Errorf("alert rule %s: no dashboard has the uid %s", rule.UID, rule.Dashboard)
		}
		var found bool
		if rules[i].PanelID, found = all[at].Panel(rule.Panel); !found {
			return fmt.Errorf("alert rule %s: %s has no panel %q", rule.UID, rule.Dashboard, rule.Panel)
		}
	}
	text, err := alerts.YAML(rules)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "alerts", "pitwall.yaml"), text, 0o644) //nolint:gosec // for everybody to read
}

func boards() []*board.Board {
	return []*board.Board{
		run(), training(), model(), system(), engines(), progress(), checkpoints(), timeline(), collector(),
	}
}
