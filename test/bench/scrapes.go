package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/pitwall-otel/pitwall/test/fleet"
)

// scraper is bin/pitwall with one of two receivers and nothing behind it.
type scraper struct{ name, config string }

func scrapers() []scraper {
	const rest = `
exporters: {debug: {verbosity: basic}}
service:
  telemetry: {metrics: {level: none}}
  pipelines: {metrics: {receivers: [%[3]s], exporters: [debug]}}
`
	return []scraper{
		{"engine receiver", `
receivers: {engine: {collection_interval: %[2]s, targets: {max: 1000, static: [%[1]s]}}}
` + strings.ReplaceAll(rest, "%[3]s", "engine")},
		{"contrib prometheus receiver", `
receivers:
  prometheus: {config: {scrape_configs: [{job_name: engines, scrape_interval: %[2]s, static_configs: [{targets: [%[1]s]}]}]}}
` + strings.ReplaceAll(rest, "%[3]s", "prometheus")},
	}
}

func benchScrapes(ctx context.Context, root string, rounds int) error {
	for _, spec := range []fleet.Spec{
		{Name: "vLLM 0.26, 8 engines in one process, plain text", Version: fleet.VLLM026, DataRanks: 8},
		{Name: "SGLang, 24 data-parallel ranks, gzip", Version: fleet.SGLangMain, DataRanks: 24, TensorRanks: 24},
	} {
		p, err := record(ctx, spec, 40)
		if err != nil {
			return err
		}
		r := newReport(fmt.Sprintf("One scrape of %s, %.0f KB; 8 targets, each every second", spec.Name, p.size()))
		for round := range rounds + 1 {
			for _, s := range scrapers() {
				figures, err := measureScraper(ctx, root, s, p, 8, time.Second, 15*time.Second)
				if err != nil {
					return fmt.Errorf("%s: %w", s.name, err)
				}
				if round > 0 {
					r.add(s.name, map[string]float64{"CPU ms": figures["CPU ms"], "MB/s of CPU": figures["MB/s of CPU"], "points": figures["points"]})
				}
			}
		}
		r.print(os.Stdout)
	}
	return nil
}

// benchTargets is 64 engines of 300 KB, scraped each 5 s for a minute.
func benchTargets(ctx context.Context, root string, rounds int) error {
	p, err := record(ctx, fleet.Spec{Name: "vllm", Version: fleet.VLLM026, DataRanks: 10}, 15)
	if err != nil {
		return err
	}
	r := newReport(fmt.Sprintf("64 targets of %.0f KB each 5 s for a minute", p.size()))
	for range rounds {
		for _, s := range scrapers() {
			idle, err := measureScraper(ctx, root, s, p, 1, time.Hour, 20*time.Second)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			figures, err := measureScraper(ctx, root, s, p, 64, 5*time.Second, time.Minute)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			r.add(s.name, map[string]float64{
				"% of a core": figures["% of a core"], "RSS over idle MiB": figures["RSS MiB"] - idle["RSS MiB"],
				"anonymous over idle MiB": figures["anonymous MiB"] - idle["anonymous MiB"], "CPU ms a scrape": figures["CPU ms"],
			})
		}
	}
	r.print(os.Stdout)
	return nil
}

// measureScraper runs a collector until each target was scraped twice, and then measures it for that long.
func measureScraper(
	ctx context.Context, root string, s scraper, p *pages, targets int, interval, measured time.Duration,
) (map[string]float64, error) {
	dir, err := os.MkdirTemp("", "pitwall-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	engines, err := p.serve(targets)
	if err != nil {
		return nil, err
	}
	defer engines.close()
	config := filepath.Join(dir, "config.yaml")
	text := fmt.Appendf(nil, s.config, strings.Join(engines.addresses, ", "), interval)
	if err := os.WriteFile(config, text, 0o600); err != nil {
		return nil, err
	}
	collector, err := startProcess(dir, filepath.Join(root, "bin", "pitwall"), nil, "--config", config)
	if err != nil {
		return nil, err
	}
	defer func() { _ = collector.stop() }()
	if interval < time.Minute {
		err = waitFor(time.Minute, func() bool { return engines.answers.Load() >= int64(2*targets) })
	}
	before, err1 := collector.cpu()
	answersBefore, start := engines.answers.Load(), time.Now()
	select {
	case <-ctx.Done():
	case <-time.After(measured):
	}
	took := time.Since(start)
	after, err2 := collector.cpu()
	answers := float64(engines.answers.Load() - answersBefore)
	rss, err3 := collector.memory("VmRSS")
	anonymous, err4 := collector.memory("RssAnon")
	if err := errors.Join(err, err1, err2, err3, err4, ctx.Err()); err != nil {
		return nil, err
	}
	points, err := lastPoints(collector.log)
	if interval < time.Minute {
		switch wanted := float64(targets) * measured.Seconds() / interval.Seconds(); {
		case err != nil:
			return nil, err
		case answers < 0.9*wanted:
			return nil, fmt.Errorf("only %.0f of %.0f scrapes", answers, wanted)
		}
	}
	cpu := (after - before).Seconds()
	return map[string]float64{
		"CPU ms": 1000 * cpu / answers, "MB/s of CPU": p.size() / 1000 * answers / cpu, "% of a core": 100 * cpu / took.Seconds(),
		"RSS MiB": rss, "anonymous MiB": anonymous, "points": points,
	}, nil
}

// lastPoints is how many points the debug exporter saw last: a scrape that gives none costs nothing.
func lastPoints(log string) (float64, error) {
	text, err := os.ReadFile(log)
	if err != nil {
		return 0, err
	}
	found := regexp.MustCompile(`"data points": (\d+)`).FindAllSubmatch(text, -1)
	if len(found) == 0 {
		return 0, errors.New("no points arrived: " + string(text[max(0, len(text)-1000):]))
	}
	return strconv.ParseFloat(string(found[len(found)-1][1]), 64)
}
