package enginereceiver

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/receiver/receivertest"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/metadata"
	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/scrape"
	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/targets"
)

// counter adds up a counter's points, those with a label of this value where it is not empty.
func (l *lab) counter(name, label string) (sum float64) {
	m, err := l.telemetry.GetMetric(name)
	if err != nil {
		return 0
	}
	data, _ := m.Data.(metricdata.Sum[int64])
	return added(data.DataPoints, label)
}

func (l *lab) gauge(name, label string) float64 {
	m, err := l.telemetry.GetMetric(name)
	if err != nil {
		return -1
	}
	data, _ := m.Data.(metricdata.Gauge[int64])
	return added(data.DataPoints, label)
}

func added(points []metricdata.DataPoint[int64], label string) (sum float64) {
	for _, p := range points {
		fits := label == ""
		for _, kv := range p.Attributes.ToSlice() {
			fits = fits || kv.Value.AsString() == label
		}
		if fits {
			sum += float64(p.Value)
		}
	}
	return sum
}

func TestTelemetry(t *testing.T) {
	good, slow := startEngine(t, nil), startEngine(t, hang)
	l := newLab(t, nil, func(c *Config) {
		static(targets.Spec{Endpoint: good.URL}, targets.Spec{Endpoint: slow.URL}, targets.Spec{Endpoint: "127.0.0.1:1"})(c)
		c.Targets.Max = 2
		c.ClientConfig.Timeout = 3 * often
	})
	eventually(t, func() bool {
		return l.counter("otelcol_engine_scrapes", "ok") > 1 && l.counter("otelcol_engine_scrapes", "skipped") > 0
	}, "scrapes")
	assert.Positive(t, l.counter("otelcol_engine_bad_lines", "syntax"))
	assert.Equal(t, 2.0, l.gauge("otelcol_engine_targets", "static"))
	assert.Equal(t, 0.0, l.gauge("otelcol_engine_targets", "router"))
	assert.Equal(t, 1.0, l.gauge("otelcol_engine_targets_left_out", ""))
	assert.Positive(t, l.counter("otelcol_receiver_accepted_metric_points", "engine/test"))
}

func TestTroublesAreSaidOnceAMinute(t *testing.T) {
	core, logs := observer.New(zap.WarnLevel)
	tr := newTroubles(zap.New(core))
	now := time.Unix(1_790_000_000, 0)
	tr.now = func() time.Time { return now }
	tr.add("a:1: refused")
	require.Equal(t, 1, logs.Len(), "the first at once")
	assert.Equal(t, []any{"a:1: refused: 1"}, logs.TakeAll()[0].ContextMap()["troubles"])
	for i := range 3 * keptTroubles {
		tr.add("b:1: refused")
		tr.add(string(rune('a'+i%26)) + time.Duration(i).String())
	}
	assert.Zero(t, logs.Len())
	now = now.Add(troublesEvery)
	tr.add("b:1: refused")
	require.Equal(t, 1, logs.Len())
	fields := logs.TakeAll()[0].ContextMap()
	named := fields["troubles"].([]any)
	assert.Len(t, named, namedTroubles)
	assert.Equal(t, "b:1: refused: 301", named[0])
	assert.Equal(t, int64(3*keptTroubles-(namedTroubles-1)), fields["others"])
	tr.add("late")
	tr.flush()
	assert.Equal(t, 1, logs.Len(), "what the last minute left is said at the end")
	tr.flush()
	assert.Equal(t, 1, logs.Len())
}

// What is left out of a page is in the log, with the key that would let it in.
func TestLinesThatAreLeftOutAreSaid(t *testing.T) {
	f := func(body string, change func(*LimitsConfig), limited, bad int64, want string) {
		t.Helper()
		core, logs := observer.New(zap.WarnLevel)
		set := receivertest.NewNopSettings(metadata.Type)
		set.Logger = zap.New(core)
		cfg := createDefaultConfig().(*Config)
		if change != nil {
			change(&cfg.Limits)
		}
		r, err := newReceiver(set, cfg, consumertest.NewNop())
		require.NoError(t, err)
		p := newPage(r, newTestPage(t).target)
		r.scraper = scrape.NewClient(http.DefaultClient, scrape.DefaultOptions())
		o := outcome{at: time.Now()}
		p.read(&scrape.Page{Body: []byte(body), ContentType: "text/plain"}, &o)
		p.count(t.Context(), &o)
		assert.Equal(t, limited, p.total.limited)
		assert.Equal(t, bad, p.total.badLines)
		assert.Equal(t, []any{"10.0.0.3:30000: " + want + ": 1"}, logs.TakeAll()[0].ContextMap()["troubles"])
	}
	const two = "# TYPE sglang:a gauge\nsglang:a{x=\"12345\",y=\"1\"} 1\nsglang:a{x=\"23456\",y=\"2\"} 1\n"
	f(two+"!\n", nil, 0, 1, "lines that cannot be read (syntax)")
	f(two+"\xff 1\n", nil, 0, 1, "lines that cannot be read (utf8)")
	f(two, func(l *LimitsConfig) { l.MaxLineBytes = 25 }, 2, 0, "lines over 'limits::max_line_bytes' are left out")
	f(two, func(l *LimitsConfig) { l.MaxLabelValueBytes = 4 }, 2, 0, "lines over 'limits::max_label_value_bytes' are left out")
	f(two, func(l *LimitsConfig) { l.MaxLabels = 1 }, 2, 0, "lines over 'limits::max_labels' are left out")
	f(two, func(l *LimitsConfig) { l.MaxSamples = 1 }, 1, 0, "lines over 'limits::max_samples' are left out")
	f(two+"# TYPE sglang:b gauge\n", func(l *LimitsConfig) { l.MaxFamilies = 1 }, 1, 0, "lines over 'limits::max_families' are left out")
	f(two, func(l *LimitsConfig) { l.MaxSeries = 1 }, 1, 0, "lines over 'limits::max_series' are left out")
	f(two, func(l *LimitsConfig) { l.MaxUnknown = 1 }, 1, 0, "lines over 'limits::max_unknown' are left out")
	f("sglang:num_running_reqs{worker_addr=\"a:1\"} 1\nsglang:num_running_reqs{worker_addr=\"a:2\"} 1\n",
		func(l *LimitsConfig) { l.MaxWorkers = 1 }, 1, 0, "lines over 'limits::max_workers' are left out")
}
