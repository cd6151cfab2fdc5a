package enginereceiver

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/receiver/receivertest"

	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/metadata"
	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/targets"
)

func TestEachTargetIsReported(t *testing.T) {
	good := startEngine(t, nil)
	gone := startEngine(t, nil)
	gone.Close()
	l := newLab(t, nil, static(
		targets.Spec{Endpoint: good.URL, Labels: map[string]string{"run": "run-7", "replica": "3"}},
		targets.Spec{Endpoint: gone.URL},
	))
	eventually(t, func() bool {
		return len(l.values("pitwall.scrape.up", good.name())) > 1 && len(l.values("pitwall.scrape.up", gone.name())) > 1
	}, "two scrapes of each")
	assert.Equal(t, 1.0, l.last("pitwall.scrape.up", good.name()))
	assert.Equal(t, 0.0, l.last("pitwall.scrape.failed", good.name()))
	assert.Equal(t, float64(len(metricsPage)), l.last("pitwall.scrape.size", good.name()))
	assert.Positive(t, l.last("pitwall.scrape.duration", good.name()))
	assert.Positive(t, l.last("pitwall.scrape.last_success_time", good.name()))
	assert.Equal(t, 1.0, l.values("pitwall.scrape.bad_lines", good.name())[0])
	assert.Equal(t, 2.0, l.values("pitwall.scrape.bad_lines", good.name())[1], "counters go on")
	assert.NotEmpty(t, l.values("pitwall.scrape.skipped", good.name()))

	assert.Equal(t, 0.0, l.last("pitwall.scrape.up", gone.name()))
	assert.Equal(t, 1.0, l.last("pitwall.scrape.failed", gone.name()))
	assert.Equal(t, 1.0, l.last("pitwall.scrape.errors", gone.name()))
	assert.Positive(t, l.last("pitwall.errors", gone.name()))
	assert.Empty(t, l.values("pitwall.scrape.size", gone.name()))
	assert.Empty(t, l.values("pitwall.scrape.last_success_time", gone.name()))

	resource := l.resourceOf("pitwall.scrape.up", good.name())
	assert.Equal(t, map[string]any{
		"rl.run.id": "run-7", "rl.replica.id": int64(3), "rl.role": "engine", "host.name": "this-node",
		"service.instance.id": good.name(),
	}, resource)
	point := l.points("pitwall.scrape.up", good.name())[0]
	assert.Equal(t, map[string]any{"pitwall.component": "engine/test", "pitwall.target": good.name()}, point.Attributes().AsRaw())
}

func (l *lab) resourceOf(metric, target string) map[string]any {
	for _, md := range l.sink.AllMetrics() {
		for _, rm := range md.ResourceMetrics().All() {
			for _, m := range rm.ScopeMetrics().At(0).Metrics().All() {
				if m.Name() == metric && len(of(m, target)) > 0 {
					return rm.Resource().Attributes().AsRaw()
				}
			}
		}
	}
	return nil
}

func TestASlowTargetDelaysOnlyItself(t *testing.T) {
	good, slow := startEngine(t, nil), startEngine(t, hang)
	l := newLab(t, nil, func(c *Config) {
		static(targets.Spec{Endpoint: good.URL}, targets.Spec{Endpoint: slow.URL})(c)
		c.ClientConfig.Timeout = 5 * often
	})
	eventually(t, func() bool { return len(l.values("pitwall.scrape.up", slow.name())) > 1 }, "two scrapes of the slow one")
	assert.Greater(t, len(l.values("pitwall.scrape.up", good.name())), len(l.values("pitwall.scrape.up", slow.name())))
	assert.Positive(t, l.last("pitwall.scrape.skipped", slow.name()), "turns that passed while it hung")
	assert.Equal(t, int64(1), slow.most.Load(), "scrapes of one target at the same time")
}

func TestScrapesAtTheSameTimeAreBounded(t *testing.T) {
	e := startEngine(t, func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(3 * often):
		case <-r.Context().Done():
		}
		_, _ = w.Write([]byte(metricsPage))
	})
	l := newLab(t, nil, func(c *Config) {
		c.MaxConcurrentScrapes = 2
		for _, path := range []string{"/1", "/2", "/3", "/4", "/5", "/6"} {
			c.Targets.Static = append(c.Targets.Static, targets.Spec{Endpoint: e.URL, MetricsPath: path})
		}
	})
	eventually(t, func() bool { return l.last("pitwall.scrape.up", e.name()+"/6") == 1 && e.asked.Load() > 8 }, "every target gets its turn")
	assert.LessOrEqual(t, e.most.Load(), int64(2))
}

func TestRegisteredTargetsComeAndGo(t *testing.T) {
	e := startEngine(t, nil)
	l := newLab(t, nil, nil)
	l.register(`{"endpoint":"` + e.name() + `","labels":{"run":"7"}}`)
	eventually(t, func() bool { return l.last("pitwall.scrape.up", e.name()) == 1 }, "the registered engine is scraped")
	// Other labels from here on, without a second scrape beside the first.
	l.register(`{"endpoint":"` + e.name() + `","labels":{"run":"8"}}`)
	eventually(t, func() bool {
		l.sink.Reset()
		eventually(t, func() bool { return l.sink.DataPointCount() > 0 }, "it is still scraped")
		return l.resourceOf("pitwall.scrape.up", e.name())["rl.run.id"] == "8"
	}, "the new label")
	request, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, l.registration()+"?endpoint="+e.name(), http.NoBody)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	eventually(t, func() bool {
		before := e.asked.Load()
		never := time.NewTimer(5 * often)
		defer never.Stop()
		<-never.C
		return e.asked.Load() == before
	}, "a removed engine is left alone")
	assert.Equal(t, int64(1), e.most.Load())
}

func TestALeaseThatExpiresEndsTheScrapes(t *testing.T) {
	e := startEngine(t, nil)
	l := newLab(t, nil, nil)
	l.register(`{"endpoint":"` + e.name() + `","ttl":"1s"}`)
	eventually(t, func() bool { return l.last("pitwall.scrape.up", e.name()) == 1 }, "it is scraped")
	gauge := func() float64 { return l.gauge("otelcol_engine_targets", "registration") }
	eventually(t, func() bool { return gauge() == 0 }, "nobody asked for anything, and yet it is gone")
}

func TestTargetsFromAFileAreFollowed(t *testing.T) {
	first, second := startEngine(t, nil), startEngine(t, nil)
	list := filepath.Join(t.TempDir(), "engines.yaml")
	write := func(content string) {
		require.NoError(t, os.WriteFile(list+".new", []byte(content), 0o600))
		require.NoError(t, os.Rename(list+".new", list))
	}
	write("- " + first.name())
	l := newLab(t, nil, func(c *Config) { c.Targets.Files = FilesConfig{Paths: []string{list}, RefreshInterval: often} })
	eventually(t, func() bool { return l.last("pitwall.scrape.up", first.name()) == 1 }, "the first list")
	write("- {torn")
	eventually(t, func() bool { return l.counter("otelcol_engine_discovery_failures", "file") > 0 }, "the torn list is counted")
	before := first.asked.Load()
	eventually(t, func() bool { return first.asked.Load() > before+2 }, "and the first one stays")
	write("- " + second.name())
	eventually(t, func() bool { return l.last("pitwall.scrape.up", second.name()) == 1 }, "the second list")
}

func TestARefusalLosesOneScrapeAndNothingElse(t *testing.T) {
	e := startEngine(t, nil)
	sink := &consumertest.MetricsSink{}
	var calls atomic.Int64
	next, err := consumer.NewMetrics(func(ctx context.Context, md pmetric.Metrics) error {
		if calls.Add(1) <= 2 {
			return errors.New("the log is full")
		}
		return sink.ConsumeMetrics(ctx, md)
	})
	require.NoError(t, err)
	l := newLab(t, next, static(targets.Spec{Endpoint: e.URL}))
	l.sink = sink
	eventually(t, func() bool { return l.last("pitwall.scrape.up", e.name()) == 1 }, "scrapes after the refusals")
	assert.Equal(t, 3.0, l.values("pitwall.scrape.bad_lines", e.name())[0], "counters have what was refused")
	assert.Positive(t, l.counter("otelcol_receiver_refused_metric_points", "")+l.counter("otelcol_receiver_failed_metric_points", ""))
}

func TestItStopsWhileAllTargetsHang(t *testing.T) {
	e := startEngine(t, hang)
	cfg := createDefaultConfig().(*Config)
	cfg.CollectionInterval, cfg.InitialDelay, cfg.MaxConcurrentScrapes = often, 0, 1
	for _, path := range []string{"/1", "/2", "/3"} {
		cfg.Targets.Static = append(cfg.Targets.Static, targets.Spec{Endpoint: e.URL, MetricsPath: path})
	}
	sink := &consumertest.MetricsSink{}
	for range 3 { // a restart
		made, err := NewFactory().CreateMetrics(t.Context(), receivertest.NewNopSettings(metadata.Type), cfg, sink)
		require.NoError(t, err)
		require.NoError(t, made.Start(t.Context(), componenttest.NewNopHost()))
		asked := e.asked.Load()
		eventually(t, func() bool { return e.asked.Load() > asked }, "a scrape hangs")
		stopped := make(chan error, 1)
		go func() { stopped <- made.Shutdown(context.WithoutCancel(t.Context())) }()
		select {
		case err := <-stopped:
			require.NoError(t, err)
		case <-time.After(within):
			require.Fail(t, "it waits for targets that hang")
		}
	}
	assert.Zero(t, sink.DataPointCount(), "what was broken off says nothing about the target")
}

func TestAnAddressInUseIsSaidWithItsKey(t *testing.T) {
	l := newLab(t, nil, nil)
	cfg := createDefaultConfig().(*Config)
	cfg.Targets.Registration.GetOrInsertDefault().NetAddr.Endpoint = l.receiver.listener.Addr().String()
	made, err := NewFactory().CreateMetrics(t.Context(), receivertest.NewNopSettings(metadata.Type), cfg, l.sink)
	require.NoError(t, err)
	require.ErrorContains(t, made.Start(t.Context(), componenttest.NewNopHost()), "'targets::registration::endpoint'")
	require.NoError(t, made.Shutdown(t.Context()))
}

func TestAnEngineThatNeverAnsweredIsDownWhereItsKindIsKnown(t *testing.T) {
	gone := startEngine(t, nil)
	gone.Close()
	l := newLab(t, nil, static(targets.Spec{Endpoint: gone.URL, Kind: targets.KindVLLM}))
	eventually(t, func() bool { return len(l.values("pitwall.scrape.up", gone.name())) > 0 }, "a scrape")
	md := l.sink.AllMetrics()[0].ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics()
	last := md.At(md.Len() - 1)
	assert.Equal(t, "inference.engine.up", last.Name())
	assert.Equal(t, 0.0, last.Gauge().DataPoints().At(0).DoubleValue())
	assert.Equal(t, map[string]any{"gen_ai.provider.name": "vllm"}, last.Gauge().DataPoints().At(0).Attributes().AsRaw())
}

// The paths are those of SGLang's http_server.py and of vLLM's api_server.py.
func TestTheVersionIsAskedForOnce(t *testing.T) {
	f := func(page string, answers map[string]string, want string) {
		t.Helper()
		var asked atomic.Int64
		e := startEngine(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/metrics" {
				_, _ = w.Write([]byte(page))
				return
			}
			asked.Add(1)
			body, found := answers[r.URL.Path]
			if !found {
				http.NotFound(w, r)
				return
			}
			_, _ = w.Write([]byte(body))
		})
		l := newLab(t, nil, static(targets.Spec{Endpoint: e.URL}))
		eventually(t, func() bool { return len(l.values("pitwall.scrape.up", e.name())) > 3 }, "scrapes")
		got, _ := l.points("pitwall.scrape.up", e.name())[3].Attributes().Get("pitwall.target.version")
		assert.Equal(t, want, got.Str())
		assert.LessOrEqual(t, asked.Load(), int64(2), "not at every scrape")
	}
	const sglang, vllm = metricsPage, "# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running{model_name=\"m\",engine=\"0\"} 1\n"
	f(sglang, map[string]string{"/server_info": `{"model_path": "m", "version": "0.5.18"}`}, "0.5.18")
	f(sglang, map[string]string{"/get_server_info": `{"version": "0.4.6"}`}, "0.4.6")
	f(sglang, nil, "")
	f(vllm, map[string]string{"/version": `{"version": "0.26.0"}`}, "0.26.0")
	f(vllm, map[string]string{"/version": `<html>`}, "")
	f(vllm, map[string]string{"/version": `{"version": "` + string(make([]byte, 100)) + `"}`}, "")
	f("# TYPE other gauge\nother 1\n", map[string]string{"/version": `{"version": "1"}`}, "")
}

func TestPointsDoNotWaitForTheVersion(t *testing.T) {
	asked, answer := make(chan struct{}, 10), make(chan struct{})
	e := startEngine(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/metrics" {
			_, _ = w.Write([]byte(metricsPage))
			return
		}
		asked <- struct{}{}
		select {
		case <-answer:
		case <-r.Context().Done():
		}
	})
	l := newLab(t, nil, static(targets.Spec{Endpoint: e.URL}))
	<-asked
	assert.Equal(t, []float64{1}, l.values("pitwall.scrape.up", e.name()))
	close(answer)
}

func TestTheVersionIsThatOfTheProgramThatAnswers(t *testing.T) {
	var vllm atomic.Bool
	e := startEngine(t, func(w http.ResponseWriter, r *http.Request) {
		bodies := map[string]string{"/metrics": metricsPage, "/server_info": `{"version": "0.5.18"}`}
		if vllm.Load() {
			bodies = map[string]string{"/metrics": "vllm:num_requests_running 1\n", "/version": `{"version": "0.26.0"}`}
		}
		_, _ = w.Write([]byte(bodies[r.URL.Path]))
	})
	l := newLab(t, nil, static(targets.Spec{Endpoint: e.URL}))
	version := func() string {
		points := l.points("pitwall.scrape.up", e.name())
		if len(points) == 0 {
			return ""
		}
		version, _ := points[len(points)-1].Attributes().Get("pitwall.target.version")
		return version.Str()
	}
	eventually(t, func() bool { return version() == "0.5.18" }, "SGLang's version")
	vllm.Store(true)
	eventually(t, func() bool { return version() == "0.26.0" }, "vLLM's version")
}
