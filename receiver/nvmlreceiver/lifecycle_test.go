package nvmlreceiver

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/receiver/receivertest"
	"go.uber.org/zap"

	"github.com/pitwall-otel/pitwall/internal/nvml"
	"github.com/pitwall-otel/pitwall/receiver/nvmlreceiver/internal/metadata"
)

// drivers counts what the factory opens.
type drivers struct{ opened []*script }

func (d *drivers) open(*Config, *zap.Logger) source {
	s := newScript()
	s.answer = answer(h100(0))
	d.opened = append(d.opened, s)
	return s
}

func fastConfig(t *testing.T) *Config {
	cfg := createDefaultConfig().(*Config)
	cfg.CollectionInterval, cfg.InitialDelay = 10*time.Millisecond, 0
	cfg.Attribution.ProcRoot = t.TempDir()
	return cfg
}

// A metrics and a logs pipeline have one driver between them, until both have stopped; then the receiver can start again.
func TestPipelinesShareOneDriver(t *testing.T) {
	var d drivers
	factory := newFactory(d.open)
	cfg := fastConfig(t)
	set := receivertest.NewNopSettings(metadata.Type)
	for round := range 2 {
		metrics, logs := new(consumertest.MetricsSink), new(consumertest.LogsSink)
		m, err := factory.CreateMetrics(t.Context(), set, cfg, metrics)
		require.NoError(t, err)
		l, err := factory.CreateLogs(t.Context(), set, cfg, logs)
		require.NoError(t, err)
		require.Len(t, d.opened, round+1)
		driver := d.opened[round]
		require.NoError(t, l.Start(t.Context(), componenttest.NewNopHost()))
		require.NoError(t, m.Start(t.Context(), componenttest.NewNopHost()))
		require.Eventually(t, func() bool { return metrics.DataPointCount() > 0 }, 10*time.Second, time.Millisecond)
		driver.events <- happened(nvml.EventXid, 79)
		require.Eventually(t, func() bool { return logs.LogRecordCount() >= 2 }, 10*time.Second, time.Millisecond)
		require.NoError(t, m.Shutdown(t.Context()))
		assert.Zero(t, driver.stopped)
		require.NoError(t, l.Shutdown(t.Context()))
		assert.Equal(t, 1, driver.started)
		assert.Equal(t, 1, driver.stopped)
	}
}

func TestLogsWithoutMetrics(t *testing.T) {
	var d drivers
	logs := new(consumertest.LogsSink)
	l, err := newFactory(d.open).CreateLogs(t.Context(), receivertest.NewNopSettings(metadata.Type), fastConfig(t), logs)
	require.NoError(t, err)
	require.NoError(t, l.Start(t.Context(), componenttest.NewNopHost()))
	// Throttling is seen by looking.
	require.Eventually(t, func() bool { return logs.LogRecordCount() >= 2 }, 10*time.Second, time.Millisecond)
	require.NoError(t, l.Shutdown(t.Context()))
}

// stuck is a driver that does not end.
type stuck struct{ *script }

func (stuck) Shutdown(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestShutdownDoesNotWaitLongerThanItMay(t *testing.T) {
	open := func(*Config, *zap.Logger) source { return stuck{newScript()} }
	l, err := newFactory(open).CreateLogs(t.Context(), receivertest.NewNopSettings(metadata.Type), fastConfig(t), consumertest.NewNop())
	require.NoError(t, err)
	require.NoError(t, l.Start(t.Context(), componenttest.NewNopHost()))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, l.Shutdown(ctx), context.Canceled)
}

func TestTwoReceiversHaveTwoDrivers(t *testing.T) {
	var d drivers
	factory := newFactory(d.open)
	for range 2 {
		m, err := factory.CreateMetrics(t.Context(), receivertest.NewNopSettings(metadata.Type), fastConfig(t), consumertest.NewNop())
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, m.Shutdown(t.Context())) })
	}
	assert.Len(t, d.opened, 2)
}

func BenchmarkCollect(b *testing.B) {
	for name, snapshot := range map[string]nvml.Snapshot{
		"8xH100": answer(h100(0), h100(1), h100(2), h100(3), h100(4), h100(5), h100(6), h100(7)),
		"16x7MIG": answerOf(func() (list []nvml.Device) {
			for index := range 16 {
				list = append(list, migs(h100(index), 7)...)
			}
			return list
		}()),
	} {
		b.Run(name, func(b *testing.B) {
			cfg := createDefaultConfig().(*Config)
			cfg.Attribution.ProcRoot = b.TempDir()
			driver := newScript()
			driver.answer = snapshot
			i, err := newInstance(cfg, receivertest.NewNopSettings(metadata.Type), driver)
			require.NoError(b, err)
			clock := began
			i.now = func() time.Time { return clock }
			b.ReportAllocs()
			var points int
			// On a machine that does something else as well, the thread's own time says more than the clock's.
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			began := threadTime()
			for b.Loop() {
				clock = clock.Add(10 * time.Second)
				metrics, _ := i.collect(b.Context())
				points = metrics.DataPointCount()
			}
			b.ReportMetric(float64(threadTime()-began)/float64(b.N), "cpu-ns/op")
			b.ReportMetric(float64(points), "points")
		})
	}
}

// reporter is a host that hears of the receiver's status.
type reporter struct {
	component.Host
	mu     sync.Mutex
	events []*componentstatus.Event
}

func (r *reporter) Report(event *componentstatus.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, event)
}

func (r *reporter) said() (lines []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, event := range r.events {
		line := event.Status().String()
		if event.Err() != nil {
			line += ": " + event.Err().Error()
		}
		lines = append(lines, line)
	}
	return lines
}

func TestEveryPipelineHearsTheStatus(t *testing.T) {
	var d drivers
	factory := newFactory(d.open)
	cfg := fastConfig(t)
	set := receivertest.NewNopSettings(metadata.Type)
	m, err := factory.CreateMetrics(t.Context(), set, cfg, consumertest.NewNop())
	require.NoError(t, err)
	l, err := factory.CreateLogs(t.Context(), set, cfg, consumertest.NewNop())
	require.NoError(t, err)
	driver := d.opened[0]
	tell := func(s nvml.Snapshot) {
		driver.mu.Lock()
		defer driver.mu.Unlock()
		driver.answer = s
	}
	tell(answer(h100(0), staleGPU(1, nvml.DeviceStale)))
	hosts := []*reporter{{Host: componenttest.NewNopHost()}, {Host: componenttest.NewNopHost()}}
	require.NoError(t, l.Start(t.Context(), hosts[0]))
	require.NoError(t, m.Start(t.Context(), hosts[1]))
	t.Cleanup(func() {
		require.NoError(t, m.Shutdown(context.Background()))
		require.NoError(t, l.Shutdown(context.Background()))
	})
	hear := func(want ...string) {
		t.Helper()
		for _, host := range hosts {
			require.Eventually(t, func() bool { return slices.Equal(host.said(), want) }, 10*time.Second, time.Millisecond, "%s", host.said())
		}
	}
	const trouble = "StatusRecoverableError: GPU 1 is stale: timeout"
	hear(trouble)
	tell(answer(h100(0), h100(1)))
	hear(trouble, "StatusOK")
}
