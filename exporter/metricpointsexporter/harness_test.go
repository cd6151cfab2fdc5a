package metricpointsexporter

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/pitwall-otel/pitwall/exporter/metricpointsexporter/internal/metadata"
	"github.com/pitwall-otel/pitwall/internal/enginetest"
)

const deadline = 20 * time.Second

// running is an exporter under test with what it tells the outside.
type running struct {
	exporter  exporter.Metrics
	logs      *observer.ObservedLogs
	telemetry *componenttest.Telemetry
	host      *statusHost
}

// statusHost keeps the component's status events.
type statusHost struct {
	mu     sync.Mutex
	events []*componentstatus.Event
}

func (*statusHost) GetExtensions() map[component.ID]component.Component { return nil }

func (h *statusHost) Report(event *componentstatus.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, event)
}

func (h *statusHost) statuses() []componentstatus.Status {
	h.mu.Lock()
	defer h.mu.Unlock()
	var all []componentstatus.Status
	for _, event := range h.events {
		all = append(all, event.Status())
	}
	return all
}

// config is the default one with short times, a fresh log and no ledger rows among the test's.
func config(t *testing.T, endpoint string, changes ...func(*Config)) *Config {
	c := createDefaultConfig().(*Config)
	c.ClientConfig.Endpoint = endpoint
	c.Log = LogConfig{Directory: t.TempDir(), MaxSizeMiB: 64}
	c.Insert.Interval = 20 * time.Millisecond
	c.Retry = RetryConfig{InitialInterval: 10 * time.Millisecond, MaxInterval: 50 * time.Millisecond}
	c.LedgerInterval = 0
	for _, change := range changes {
		change(c)
	}
	require.NoError(t, c.Validate())
	return c
}

func start(t *testing.T, c *Config) *running {
	t.Helper()
	core, logs := observer.New(zapcore.DebugLevel)
	r := &running{logs: logs, telemetry: componenttest.NewTelemetry(), host: &statusHost{}}
	set := exportertest.NewNopSettings(metadata.Type)
	set.TelemetrySettings = r.telemetry.NewTelemetrySettings()
	set.Logger = zap.New(core)
	var err error
	r.exporter, err = NewFactory().CreateMetrics(context.Background(), set, c)
	require.NoError(t, err)
	require.NoError(t, r.exporter.Start(context.Background(), r.host))
	t.Cleanup(func() { r.stop(t) })
	return r
}

func (r *running) stop(t *testing.T) {
	t.Helper()
	require.NoError(t, r.exporter.Shutdown(context.Background()))
}

// send exports one gauge point per value, with the value's index as its step.
func (r *running) send(t *testing.T, run string, values ...float64) {
	t.Helper()
	require.NoError(t, r.exporter.ConsumeMetrics(context.Background(), requestOf(run, values...)))
}

func requestOf(run string, values ...float64) pmetric.Metrics {
	metrics := pmetric.NewMetrics()
	rm := metrics.ResourceMetrics().AppendEmpty()
	rm.Resource().Attributes().PutStr("rl.run.id", run)
	m := rm.ScopeMetrics().AppendEmpty().Metrics().AppendEmpty()
	m.SetName("loss")
	gauge := m.SetEmptyGauge()
	for i, value := range values {
		dp := gauge.DataPoints().AppendEmpty()
		dp.SetTimestamp(pcommon.NewTimestampFromTime(time.Now()))
		dp.SetDoubleValue(value)
		dp.Attributes().PutInt("rl.step", int64(i))
	}
	return metrics
}

// eventuallyRows waits until the query gives the rows.
func eventuallyRows(t *testing.T, engine *enginetest.Engine, query string, want [][]string) {
	t.Helper()
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		text, err := engine.Exec(query + " FORMAT JSONCompactStrings")
		require.NoError(c, err)
		var answer struct {
			Data [][]string `json:"data"`
		}
		require.NoError(c, json.Unmarshal([]byte(text), &answer))
		assert.Equal(c, want, answer.Data)
	}, deadline, 20*time.Millisecond)
}

// proxy stands between exporter and engine. fault decides about inserts; it returns whether it answered itself.
type proxy struct {
	*httptest.Server
	inserts atomic.Int64
	fault   atomic.Pointer[func(w http.ResponseWriter, r *http.Request, forward http.Handler) bool]
}

func newProxy(t *testing.T, endpoint string) *proxy {
	target, err := url.Parse(endpoint)
	require.NoError(t, err)
	transport := &http.Transport{DisableKeepAlives: true}
	forward := httputil.NewSingleHostReverseProxy(target)
	forward.Transport = transport
	p := &proxy{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Query().Get("query"), "INSERT INTO `training_observability`.`metric_points`") {
			p.inserts.Add(1)
			if fault := p.fault.Load(); fault != nil && (*fault)(w, r, forward) {
				return
			}
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(p.Close)
	return p
}

func (p *proxy) set(fault func(http.ResponseWriter, *http.Request, http.Handler) bool) {
	if fault == nil {
		p.fault.Store(nil)
		return
	}
	p.fault.Store(&fault)
}
