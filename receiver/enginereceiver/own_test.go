package enginereceiver

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/receiver/receivertest"

	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/exposition"
	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/mapping"
	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/metadata"
	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/targets"
	"github.com/pitwall-otel/pitwall/schema"
)

func newTestPage(t testing.TB) *page {
	t.Helper()
	r, err := newReceiver(receivertest.NewNopSettings(metadata.Type), createDefaultConfig().(*Config), consumertest.NewNop())
	require.NoError(t, err)
	spec := targets.Spec{Endpoint: "10.0.0.3:30000", Kind: targets.KindSGLang, Labels: map[string]string{"run": "7"}}
	target, err := spec.Target("static")
	require.NoError(t, err)
	return newPage(r, target)
}

// What is said about a scrape is in the registry, with its unit, its instrument and the attributes it must have.
func TestOwnPointsAreTheRegistrys(t *testing.T) {
	registry, err := schema.Load()
	require.NoError(t, err)
	f := func(o outcome) {
		t.Helper()
		p := newTestPage(t)
		p.version, p.total.failures["timeout"] = "0.5.18", 3
		md := pmetric.NewMetrics()
		p.describe(md, &o)
		sm := md.ResourceMetrics().At(0).ScopeMetrics().At(0)
		assert.Equal(t, registry.SchemaURL(), sm.SchemaUrl())
		for _, m := range sm.Metrics().All() {
			known := registry.Metric(m.Name())
			if !assert.NotNil(t, known, m.Name()) {
				continue
			}
			assert.Equal(t, known.Unit, m.Unit(), m.Name())
			assert.Equal(t, map[string]pmetric.MetricType{"gauge": pmetric.MetricTypeGauge, "counter": pmetric.MetricTypeSum}[known.Instrument], m.Type(), m.Name())
			attributes := attributesOf(m)
			for _, use := range known.Attributes {
				if use.Requirement == "required" {
					assert.Contains(t, attributes, use.Name, m.Name())
				}
			}
			for key := range attributes {
				assert.NotNil(t, registry.Attribute(key), "%s of %s", key, m.Name())
			}
		}
	}
	now := time.Unix(1_790_000_000, 0)
	f(outcome{at: now, took: time.Second, size: 100, report: &mapping.Report{Series: 1, Points: 2, Expected: 3, Missing: []string{"a"}, Unknown: 4}})
	f(outcome{at: now, took: time.Second, failure: "timeout"})
}

// The points about a scrape are of the same host as the points that it brought.
func TestOwnPointsAreOfTheEnginesHost(t *testing.T) {
	f := func(host, want string, labels map[string]string) {
		t.Helper()
		p := newTestPage(t)
		p.r.host = "this-node"
		options := mapping.DefaultOptions()
		options.ScopeName, options.Host = "engine", "this-node"
		mapper, err := mapping.New(options)
		require.NoError(t, err)
		spec := targets.Spec{Endpoint: host + ":30000", Labels: labels}
		p.target, err = spec.Target("static")
		require.NoError(t, err)
		body := exposition.NewReader([]byte("sglang:num_running_reqs 1\n"), "text/plain", exposition.DefaultLimits())
		md, _ := mapper.NewTarget(mapping.Identity{Host: p.target.Host, Port: p.target.Port, Attributes: identity(&p.target)}).Map(body, time.Now())
		for _, resource := range []map[string]any{p.resource().AsRaw(), md.ResourceMetrics().At(0).Resource().Attributes().AsRaw()} {
			assert.Equal(t, want, resource["host.name"], host)
		}
	}
	f("10.0.0.3", "10.0.0.3", nil)
	f("10.0.0.3", "node-3", map[string]string{"host": "node-3"})
	f("127.0.0.1", "node-3", map[string]string{"host": "node-3"})
	for _, loopback := range []string{"127.0.0.1", "127.9.9.9", "[::1]", "0.0.0.0", "[::]", "localhost", "LocalHost", "localhost."} {
		f(loopback, "this-node", nil)
	}
}

func attributesOf(m pmetric.Metric) map[string]any {
	if m.Type() == pmetric.MetricTypeGauge {
		return m.Gauge().DataPoints().At(0).Attributes().AsRaw()
	}
	return m.Sum().DataPoints().At(0).Attributes().AsRaw()
}

func BenchmarkDescribe(b *testing.B) {
	p := newTestPage(b)
	o := outcome{at: time.Now(), took: time.Second, size: 100, report: &mapping.Report{Expected: 3}}
	b.ReportAllocs()
	for b.Loop() {
		p.describe(pmetric.NewMetrics(), &o)
	}
}
