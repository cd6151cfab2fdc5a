// Command generate writes the dashboards: `go run ./dashboards/generate` in the repository's root, which `make generate`
// does. Each dashboard is one file here; what they share is in dashboards/internal.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

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
	for _, b := range boards() {
		text, err := b.JSON()
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, b.File()), text, 0o644); err != nil { //nolint:gosec // for everybody to read
			return err
		}
	}
	text, err := alerts.YAML(alerts.Rules())
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
