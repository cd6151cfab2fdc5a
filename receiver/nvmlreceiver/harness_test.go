package nvmlreceiver

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/receiver/receivertest"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/pitwall-otel/pitwall/internal/nvml"
	"github.com/pitwall-otel/pitwall/receiver/nvmlreceiver/internal/metadata"
)

var update = flag.Bool("update", false, "write the golden files")

// began is when every test's first collection is.
var began = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// script is a driver that answers with the snapshot that a test set last.
type script struct {
	mu       sync.Mutex
	answer   nvml.Snapshot
	requests []nvml.Request
	events   chan nvml.Event
	started  int
	stopped  int
}

func newScript() *script { return &script{events: make(chan nvml.Event, 64)} }

func (s *script) Start() { s.started++ }

func (s *script) Collect(_ context.Context, request nvml.Request) nvml.Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, request)
	answer := s.answer
	answer.Devices = slices.Clone(answer.Devices)
	for n := range answer.Devices {
		d := &answer.Devices[n]
		d.Readings = slices.DeleteFunc(slices.Clone(d.Readings), func(x nvml.Reading) bool { return x.Field.Class()&request.Classes == 0 })
		if request.Classes&nvml.ClassProcessUtilization == 0 {
			d.ProcessUtilization = nil
		}
	}
	return answer
}

func (s *script) Events() <-chan nvml.Event { return s.events }

func (*script) DroppedEvents() uint64 { return 0 }

func (s *script) Shutdown(context.Context) error {
	s.stopped++
	close(s.events)
	return nil
}

// bench is an instance on a scripted driver, with a clock that the test moves.
type bench struct {
	*instance
	t      *testing.T
	driver *script
	clock  time.Time
	logs   *consumertest.LogsSink
	said   *observer.ObservedLogs
}

func newBench(t *testing.T, configure func(*Config)) *bench {
	t.Helper()
	cfg := createDefaultConfig().(*Config)
	cfg.Attribution.ProcRoot = t.TempDir()
	if configure != nil {
		configure(cfg)
	}
	require.NoError(t, cfg.Validate())
	core, said := observer.New(zap.DebugLevel)
	set := receivertest.NewNopSettings(metadata.Type)
	set.ID = metadataID
	set.Logger = zap.New(core)
	driver := newScript()
	i, err := newInstance(cfg, set, driver)
	require.NoError(t, err)
	b := &bench{instance: i, t: t, driver: driver, clock: began, logs: new(consumertest.LogsSink), said: said}
	i.now = func() time.Time { return b.clock }
	i.records = newRecordQueue(b.logs, cfg.MaxEventsPerMinute, set.Logger)
	return b
}

// collectAfter moves the clock and collects what the driver then says.
func (b *bench) collectAfter(wait time.Duration, answer nvml.Snapshot) pmetric.Metrics {
	b.t.Helper()
	b.clock = b.clock.Add(wait)
	answer.Time = b.clock
	answer.Devices = slices.Clone(answer.Devices)
	for n := range answer.Devices {
		answer.Devices[n].Time = b.clock
	}
	b.driver.answer = answer
	metrics, err := b.collect(b.t.Context())
	require.NoError(b.t, err)
	return metrics
}

// events are the log records so far as lines: severity, event name, body.
func (b *bench) events() (lines []string) {
	b.t.Helper()
	for len(b.records.waiting) > 0 {
		b.records.hand(b.t.Context(), <-b.records.waiting)
	}
	for _, logs := range b.logs.AllLogs() {
		for _, rl := range logs.ResourceLogs().All() {
			for _, sl := range rl.ScopeLogs().All() {
				for _, record := range sl.LogRecords().All() {
					lines = append(lines, fmt.Sprintf("%s %s: %s", record.SeverityText(), record.EventName(), record.Body().AsString()))
				}
			}
		}
	}
	return lines
}

// render writes metrics as lines that people can compare: a resource, then its points, sorted.
func render(metrics pmetric.Metrics) string {
	blocks := map[string][]string{}
	for _, rm := range metrics.ResourceMetrics().All() {
		resource := "resource " + attributes(rm.Resource().Attributes())
		for _, sm := range rm.ScopeMetrics().All() {
			for _, m := range sm.Metrics().All() {
				blocks[resource] = append(blocks[resource], renderMetric(m)...)
			}
		}
	}
	var text strings.Builder
	var resources []string
	for resource := range blocks {
		resources = append(resources, resource)
	}
	slices.Sort(resources)
	for _, resource := range resources {
		lines := blocks[resource]
		slices.Sort(lines)
		text.WriteString(resource + "\n" + strings.Join(lines, "\n") + "\n")
	}
	return text.String()
}

func pointsOf(m pmetric.Metric) pmetric.NumberDataPointSlice {
	if m.Type() == pmetric.MetricTypeSum {
		return m.Sum().DataPoints()
	}
	return m.Gauge().DataPoints()
}

func renderMetric(m pmetric.Metric) (lines []string) {
	kind := "gauge"
	if m.Type() == pmetric.MetricTypeSum {
		kind = "sum"
		if m.Sum().IsMonotonic() {
			kind = "counter"
		}
	}
	for _, p := range pointsOf(m).All() {
		value := fmt.Sprintf("%.10g", p.DoubleValue())
		if p.ValueType() == pmetric.NumberDataPointValueTypeInt {
			value = fmt.Sprint(p.IntValue())
		}
		line := fmt.Sprintf("  %s%s = %s %s, %s", m.Name(), attributes(p.Attributes()), value, m.Unit(), kind)
		if p.StartTimestamp() != 0 {
			line += fmt.Sprintf(", since %s", p.StartTimestamp().AsTime().Format(time.TimeOnly))
		}
		lines = append(lines, line)
	}
	return lines
}

func attributes(m pcommon.Map) string {
	var parts []string
	for key, value := range m.All() {
		parts = append(parts, key+"="+value.AsString())
	}
	slices.Sort(parts)
	return "{" + strings.Join(parts, ", ") + "}"
}

// golden compares text with a file under testdata/golden.
func golden(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name)
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), text)
}

// value returns the one point of a metric whose line has all of parts in it.
func value(t *testing.T, metrics pmetric.Metrics, name string, parts ...string) (float64, bool) {
	t.Helper()
	var found []float64
	for _, rm := range metrics.ResourceMetrics().All() {
		for _, sm := range rm.ScopeMetrics().All() {
			for _, m := range sm.Metrics().All() {
				if m.Name() != name {
					continue
				}
				for _, p := range pointsOf(m).All() {
					text := attributes(p.Attributes())
					if slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(text, part) }) {
						continue
					}
					if p.ValueType() == pmetric.NumberDataPointValueTypeInt {
						found = append(found, float64(p.IntValue()))
					} else {
						found = append(found, p.DoubleValue())
					}
				}
			}
		}
	}
	require.LessOrEqual(t, len(found), 1, "points of %s with %s", name, parts)
	if len(found) == 0 {
		return 0, false
	}
	return found[0], true
}

func requireValue(t *testing.T, want float64, metrics pmetric.Metrics, name string, parts ...string) {
	t.Helper()
	got, ok := value(t, metrics, name, parts...)
	require.True(t, ok, "no %s with %s in\n%s", name, parts, render(metrics))
	require.InDelta(t, want, got, 1e-9, "%s with %s", name, parts)
}
