package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	rounds := flag.Int("rounds", 5, "counted rounds; one more comes before them")
	only := flag.String("only", "", "exporters, collectors, scrapes or targets; empty for all")
	flag.Parse()
	if err := run(context.Background(), *rounds, *only); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, rounds int, only string) error {
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(root, "bin", "pitwall-clickhouse")); err != nil {
		return fmt.Errorf("run make deps build first, and this in the repository's root: %w", err)
	}
	for _, part := range []struct {
		name  string
		bench func(context.Context, string, int) error
	}{{"exporters", benchExporters}, {"collectors", benchCollectors}, {"scrapes", benchScrapes}, {"targets", benchTargets}} {
		if only == "" || only == part.name {
			if err := part.bench(ctx, root, rounds); err != nil {
				return err
			}
		}
	}
	return nil
}
