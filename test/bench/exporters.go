package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
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
}

// contenders are handed requests of 50,000 points, the best case for contrib's exporter, which makes one INSERT of each.
func contenders(e *engine, dir string) []contender {
	return []contender{
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

// measureExporter sends the requests once and waits until they are rows.
func measureExporter(ctx context.Context, e *engine, c contender, requests []pmetric.Metrics) (cost, error) {
	before, err := e.query(ctx, c.count)
	if err != nil {
		before = "0" // the first round makes the table
	}
	var already int
	if _, err := fmt.Sscan(before, &already); err != nil {
		return cost{}, err
	}
	config := c.factory.CreateDefaultConfig()
	if err := confmap.NewFromStringMap(c.settings).Unmarshal(config); err != nil {
		return cost{}, err
	}
	x, err := c.factory.CreateMetrics(ctx, exportertest.NewNopSettings(c.factory.Type()), config)
	if err != nil {
		return cost{}, err
	}
	if err := x.Start(ctx, componenttest.NewNopHost()); err != nil {
		return cost{}, err
	}
	points := 0
	for _, request := range requests {
		points += request.DataPointCount()
	}
	runtime.GC()
	var start, end runtime.MemStats
	runtime.ReadMemStats(&start)
	own, err := ownCPU()
	if err != nil {
		return cost{}, err
	}
	engineBefore, err := e.cpu()
	if err != nil {
		return cost{}, err
	}
	for _, request := range requests {
		if err := x.ConsumeMetrics(ctx, request); err != nil {
			return cost{}, err
		}
	}
	if err := e.rows(ctx, c.count, already+points); err != nil {
		return cost{}, err
	}
	ownAfter, err := ownCPU()
	if err != nil {
		return cost{}, err
	}
	runtime.ReadMemStats(&end)
	engineAfter, err := e.cpu()
	if err != nil {
		return cost{}, err
	}
	result := cost{
		clientCPU: (ownAfter - own) / time.Duration(points), engineCPU: (engineAfter - engineBefore) / time.Duration(points),
		allocations: float64(end.Mallocs-start.Mallocs) / float64(points),
	}
	return result, x.Shutdown(ctx)
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
	requests := merged(newRequests(500), 50)
	report := newReport("From pdata to an answered POST, per point (500,000 points a round)")
	for round := range rounds + 1 {
		for _, c := range contenders(e, dir) {
			result, err := measureExporter(ctx, e, c, requests)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			if round > 0 { // the first makes tables and warms caches
				report.add(c.name, result.figures())
			}
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
