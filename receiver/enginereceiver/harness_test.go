package enginereceiver

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/receivertest"

	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/metadata"
	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/targets"
)

const (
	// often is the interval of tests, within how long a test waits for what should happen at once.
	often  = 100 * time.Millisecond
	within = 20 * time.Second
)

// metricsPage is a page of an engine that nobody needs to know.
const metricsPage = `# HELP sglang:num_running_reqs The number of running requests
# TYPE sglang:num_running_reqs gauge
sglang:num_running_reqs{model_name="m"} 3
# TYPE something_else gauge
something_else 1
this line is bad
`

// lab is a receiver with what it emits.
type lab struct {
	t         *testing.T
	receiver  *engineReceiver
	sink      *consumertest.MetricsSink
	telemetry *componenttest.Telemetry
}

// newLab starts a receiver that scrapes often. Registration is on a free port.
func newLab(t *testing.T, next consumer.Metrics, configure func(*Config)) *lab {
	t.Helper()
	l := &lab{t: t, sink: &consumertest.MetricsSink{}, telemetry: componenttest.NewTelemetry()}
	t.Cleanup(func() { require.NoError(t, l.telemetry.Shutdown(context.WithoutCancel(t.Context()))) })
	if next == nil {
		next = l.sink
	}
	cfg := createDefaultConfig().(*Config)
	cfg.CollectionInterval, cfg.InitialDelay = often, 0
	cfg.HostName = "this-node"
	r := cfg.Targets.Registration.GetOrInsertDefault()
	r.NetAddr.Endpoint = "127.0.0.1:0"
	if configure != nil {
		configure(cfg)
	}
	require.NoError(t, cfg.Validate())
	set := receivertest.NewNopSettings(metadata.Type)
	set.ID = component.MustNewIDWithName("engine", "test")
	set.TelemetrySettings = l.telemetry.NewTelemetrySettings()
	l.receiver = start(t, set, cfg, next)
	return l
}

func start(t *testing.T, set receiver.Settings, cfg *Config, next consumer.Metrics) *engineReceiver {
	t.Helper()
	made, err := NewFactory().CreateMetrics(t.Context(), set, cfg, next)
	require.NoError(t, err)
	require.NoError(t, made.Start(t.Context(), componenttest.NewNopHost()))
	t.Cleanup(func() { require.NoError(t, made.Shutdown(context.WithoutCancel(t.Context()))) })
	return made.(*engineReceiver)
}

// register puts a target into the registration over HTTP.
func (l *lab) register(body string) {
	l.t.Helper()
	response, err := http.Post(l.registration(), "application/json", strings.NewReader(body))
	require.NoError(l.t, err)
	require.NoError(l.t, response.Body.Close())
	require.Equal(l.t, http.StatusOK, response.StatusCode)
}

func (l *lab) registration() string {
	return "http://" + l.receiver.listener.Addr().String() + targets.Path
}

// static makes a configuration with fixed targets.
func static(specs ...targets.Spec) func(*Config) {
	return func(c *Config) { c.Targets.Static = specs }
}

// values are the values of a metric over time, by target.
func (l *lab) values(metric, target string) []float64 {
	var all []float64
	for _, point := range l.points(metric, target) {
		if point.ValueType() == pmetric.NumberDataPointValueTypeInt {
			all = append(all, float64(point.IntValue()))
		} else {
			all = append(all, point.DoubleValue())
		}
	}
	return all
}

// last is the newest value, or -1.
func (l *lab) last(metric, target string) float64 {
	all := l.values(metric, target)
	if len(all) == 0 {
		return -1
	}
	return all[len(all)-1]
}

func (l *lab) points(metric, target string) []pmetric.NumberDataPoint {
	var all []pmetric.NumberDataPoint
	for _, md := range l.sink.AllMetrics() {
		for _, rm := range md.ResourceMetrics().All() {
			for _, sm := range rm.ScopeMetrics().All() {
				for _, m := range sm.Metrics().All() {
					if m.Name() == metric {
						all = append(all, of(m, target)...)
					}
				}
			}
		}
	}
	return all
}

func of(m pmetric.Metric, target string) (all []pmetric.NumberDataPoint) {
	points := pmetric.NewNumberDataPointSlice()
	switch m.Type() {
	case pmetric.MetricTypeGauge:
		points = m.Gauge().DataPoints()
	case pmetric.MetricTypeSum:
		points = m.Sum().DataPoints()
	}
	for _, p := range points.All() {
		if name, found := p.Attributes().Get("pitwall.target"); found && name.Str() == target {
			all = append(all, p)
		}
	}
	return all
}

func eventually(t *testing.T, condition func() bool, what string) {
	t.Helper()
	require.Eventually(t, condition, within, 10*time.Millisecond, what)
}

// engine is a server that counts who asks.
type engine struct {
	*httptest.Server
	asked, running, most atomic.Int64
	mu                   sync.Mutex
}

// startEngine serves the page, or what the handler does.
func startEngine(t *testing.T, handler http.HandlerFunc) *engine {
	t.Helper()
	e := &engine{}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.asked.Add(1)
		e.mu.Lock()
		e.most.Store(max(e.most.Load(), e.running.Add(1)))
		e.mu.Unlock()
		defer e.running.Add(-1)
		if handler != nil {
			handler(w, r)
			return
		}
		_, _ = w.Write([]byte(metricsPage))
	}))
	t.Cleanup(e.Close)
	return e
}

func (e *engine) name() string { return e.Listener.Addr().String() }

// hang answers nothing until the client gives up.
func hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
