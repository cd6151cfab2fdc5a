package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"go.opentelemetry.io/collector/pdata/pmetric"
)

// pipeline is a whole collector: bin/pitwall with one of two configurations.
type pipeline struct {
	name, config, count string
}

// Both collectors are the same program, with the same receiver, so the difference is the way behind it. Contrib's has
// the settings that its README and the collector's recommend for not losing data: a persistent queue with batches.
func pipelines() []pipeline {
	return []pipeline{
		{
			name:  "metricpoints",
			count: "SELECT count() FROM ours.metric_points",
			config: `
receivers: {otlp: {protocols: {http: {endpoint: %[1]s}}}}
exporters:
  metricpoints:
    endpoint: http://%[2]s
    database: ours
    ledger_interval: 0s
    log: {directory: %[3]s/log}
service:
  telemetry: {metrics: {level: none}}
  pipelines: {metrics: {receivers: [otlp], exporters: [metricpoints]}}
`,
		},
		{
			name:  "metricpoints behind the shipped processors",
			count: "SELECT count() FROM ours.metric_points",
			config: `
receivers: {otlp: {protocols: {http: {endpoint: %[1]s}}}}
processors:
  retry_delay: {}
  memory_limiter: {check_interval: 1s, limit_mib: 1024, spike_limit_mib: 256}
  rlschema: {}
connectors: {quarantine: {quarantine: [metrics/quarantine]}}
exporters:
  metricpoints: &points
    endpoint: http://%[2]s
    database: ours
    ledger_interval: 0s
    log: {directory: %[3]s/log}
  metricpoints/quarantine:
    <<: *points
    table: quarantined_points
    log: {directory: %[3]s/quarantine-log}
service:
  telemetry: {metrics: {level: none}}
  pipelines:
    metrics: {receivers: [otlp], processors: [retry_delay, memory_limiter, rlschema], exporters: [quarantine]}
    metrics/stored: {receivers: [quarantine], exporters: [metricpoints]}
    metrics/quarantine: {receivers: [quarantine], exporters: [metricpoints/quarantine]}
`,
		},
		{
			name:  "contrib clickhouse, persistent queue",
			count: "SELECT count() FROM contrib.otel_metrics_gauge",
			config: `
receivers: {otlp: {protocols: {http: {endpoint: %[1]s}}}}
extensions: {file_storage: {directory: %[3]s/queue, create_directory: true, fsync: true}}
exporters:
  clickhouse:
    endpoint: http://%[2]s
    database: contrib
    async_insert: false
    timeout: 60s
    sending_queue:
      storage: file_storage
      queue_size: 100000
      batch: {sizer: items, flush_timeout: 1s, min_size: 10000, max_size: 50000}
    retry_on_failure: {max_elapsed_time: 0s}
service:
  telemetry: {metrics: {level: none}}
  extensions: [file_storage]
  pipelines: {metrics: {receivers: [otlp], exporters: [clickhouse]}}
`,
		},
	}
}

const (
	requestsPerRound = 1000
	clients          = 8
)

func benchCollectors(ctx context.Context, root string, rounds int) error {
	bodies, err := marshal(newRequests(requestsPerRound))
	if err != nil {
		return err
	}
	r := newReport(fmt.Sprintf("From OTLP/HTTP to rows, CPU seconds per million points (requests of %d points, %d clients)", pointsPerRequest, clients))
	for round := range rounds + 1 {
		for _, p := range pipelines() {
			figures, err := measureCollector(ctx, root, p, bodies)
			if err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
			if round > 0 {
				r.add(p.name, figures)
			}
		}
	}
	r.print(os.Stdout)
	return nil
}

// measureCollector runs one collector with an engine of its own, from start to the last row.
func measureCollector(ctx context.Context, root string, p pipeline, bodies [][]byte) (map[string]float64, error) {
	dir, err := os.MkdirTemp("", "pitwall-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	e, err := startEngine(root, dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = e.stop() }()
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	config := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(config, fmt.Appendf(nil, p.config, address, e.address, dir), 0o600); err != nil {
		return nil, err
	}
	collector, err := startProcess(dir, filepath.Join(root, "bin", "pitwall"), nil, "--config", config)
	if err != nil {
		return nil, err
	}
	defer func() { _ = collector.stop() }()
	url := "http://" + address + "/v1/metrics"
	// One request more makes the tables and connections; it is counted neither as points nor as time.
	if err := waitFor(time.Minute, func() bool { return post(ctx, url, bodies[0]) == nil }); err != nil {
		return nil, err
	}
	if err := e.rows(ctx, p.count, pointsPerRequest); err != nil {
		return nil, err
	}
	collectorBefore, err1 := collector.cpu()
	engineBefore, err2 := e.cpu()
	start := time.Now()
	if err := errors.Join(err1, err2, postAll(ctx, url, bodies)); err != nil {
		return nil, err
	}
	answered := time.Since(start)
	points := len(bodies) * pointsPerRequest
	if err := e.rows(ctx, p.count, points+pointsPerRequest); err != nil {
		return nil, err
	}
	stored := time.Since(start)
	collectorAfter, err1 := collector.cpu()
	engineAfter, err2 := e.cpu()
	peak, err3 := collector.memory("VmHWM")
	millions := float64(points) / 1e6
	return map[string]float64{
		"collector CPU s": (collectorAfter - collectorBefore).Seconds() / millions,
		"engine CPU s":    (engineAfter - engineBefore).Seconds() / millions,
		"answered in s":   answered.Seconds() / millions,
		"stored in s":     stored.Seconds() / millions,
		"peak RSS MiB":    peak,
	}, errors.Join(err1, err2, err3)
}

func marshal(requests []pmetric.Metrics) ([][]byte, error) {
	bodies := make([][]byte, len(requests))
	for i, request := range requests {
		body, err := (&pmetric.ProtoMarshaler{}).MarshalMetrics(request)
		if err != nil {
			return nil, err
		}
		bodies[i] = body
	}
	return bodies, nil
}

func postAll(ctx context.Context, url string, bodies [][]byte) error {
	var (
		group sync.WaitGroup
		mu    sync.Mutex
		errs  []error
	)
	next := make(chan []byte)
	for range clients {
		group.Go(func() {
			for body := range next {
				if err := post(ctx, url, body); err != nil {
					mu.Lock()
					errs = append(errs, err)
					mu.Unlock()
				}
			}
		})
	}
	for _, body := range bodies {
		next <- body
	}
	close(next)
	group.Wait()
	return errors.Join(errs...)
}

func post(ctx context.Context, url string, body []byte) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/x-protobuf")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", response.Status, answer)
	}
	return err
}
