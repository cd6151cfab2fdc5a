package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/open-telemetry/opentelemetry-collector-contrib/exporter/clickhouseexporter"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pitwall-otel/pitwall/exporter/metricpointsexporter"
)

// cost is what one round took, per point.
type cost struct {
	clientCPU, engineCPU time.Duration
	allocations          float64
}

func (c cost) figures() map[string]float64 {
	return map[string]float64{
		"client CPU ns": float64(c.clientCPU.Nanoseconds()), "engine CPU ns": float64(c.engineCPU.Nanoseconds()), "allocations": c.allocations,
	}
}

// contender is an exporter with the query that counts what it stored.
type contender struct {
	name     string
	factory  exporter.Factory
	settings map[string]any
	count    string

	exporter exporter.Metrics
	sent     int
}

// contenders are handed requests of 50,000 points, the best case for contrib's exporter, which makes one INSERT of each.
func contenders(e *engine, dir string) []*contender {
	return []*contender{
		{
			name: "metricpoints, lz4", factory: metricpointsexporter.NewFactory(),
			settings: map[string]any{
				"endpoint": "http://" + e.address, "database": "ours", "ledger_interval": 0,
				"log": map[string]any{"directory": filepath.Join(dir, "log")},
			},
			count: "SELECT count() FROM ours.metric_points",
		},
		{
			name: "contrib clickhouse, lz4", factory: clickhouseexporter.NewFactory(),
			settings: map[string]any{
				"endpoint": "http://" + e.address, "database": "contrib", "async_insert": false,
				"sending_queue": map[string]any{"enabled": false},
			},
			count: "SELECT count() FROM contrib.otel_metrics_gauge",
		},
	}
}

// start makes the contender ready for any number of rounds: both sides are measured warm, as a collector runs.
func (c *contender) start(ctx context.Context) error {
	config := c.factory.CreateDefaultConfig()
	if err := confmap.NewFromStringMap(c.settings).Unmarshal(config); err != nil {
		return err
	}
	var err error
	if c.exporter, err = c.factory.CreateMetrics(ctx, exportertest.NewNopSettings(c.factory.Type()), config); err != nil {
		return err
	}
	return c.exporter.Start(ctx, componenttest.NewNopHost())
}

// measure sends the requests once and waits until they are rows.
func (c *contender) measure(ctx context.Context, e *engine, requests []pmetric.Metrics) (cost, error) {
	points := 0
	for _, request := range requests {
		points += request.DataPointCount()
	}
	runtime.GC()
	var start, end runtime.MemStats
	runtime.ReadMemStats(&start)
	own, err1 := ownCPU()
	engineBefore, err2 := e.cpu()
	if err := errors.Join(err1, err2); err != nil {
		return cost{}, err
	}
	for _, request := range requests {
		if err := c.exporter.ConsumeMetrics(ctx, request); err != nil {
			return cost{}, err
		}
	}
	c.sent += points
	if err := e.rows(ctx, c.count, c.sent); err != nil {
		return cost{}, err
	}
	ownAfter, err1 := ownCPU()
	engineAfter, err2 := e.cpu()
	runtime.ReadMemStats(&end)
	return cost{
		clientCPU: (ownAfter - own) / time.Duration(points), engineCPU: (engineAfter - engineBefore) / time.Duration(points),
		allocations: float64(end.Mallocs-start.Mallocs) / float64(points),
	}, errors.Join(err1, err2)
}

func benchExporters(ctx context.Context, root string, rounds int) error {
	dir, err := os.MkdirTemp("", "pitwall-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	e, err := startEngine(root, dir)
	if err != nil {
		return err
	}
	defer func() { _ = e.stop() }()
	// One request, sent ten times: ten of them would make the collector of garbage the largest part of both figures.
	requests := slices.Repeat(merged(newRequests(50), 50), 10)
	all := contenders(e, dir)
	for _, c := range all {
		if err := c.start(ctx); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	report := newReport("From pdata to an answered POST, per point (500,000 points a round)")
	for round := range rounds + 1 {
		for _, c := range all {
			result, err := c.measure(ctx, e, requests)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			if round > 0 { // the first makes connections and warms caches
				report.add(c.name, result.figures())
			}
		}
	}
	for _, c := range all {
		if err := c.exporter.Shutdown(ctx); err != nil {
			return err
		}
	}
	report.print(os.Stdout)
	return nil
}

// merged joins each n requests into one.
func merged(requests []pmetric.Metrics, n int) []pmetric.Metrics {
	var joined []pmetric.Metrics
	for i, request := range requests {
		if i%n == 0 {
			joined = append(joined, pmetric.NewMetrics())
		}
		request.ResourceMetrics().MoveAndAppendTo(joined[len(joined)-1].ResourceMetrics())
	}
	return joined
}
