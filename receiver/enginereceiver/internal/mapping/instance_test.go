package mapping

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/pitwall-otel/pitwall/schema/names"
)

// A host that the target was given is that of the engine, or of the router and of what is at its loopback.
func TestHostsThatTargetsWereGiven(t *testing.T) {
	f := func(want, worker string) {
		attributes := pcommon.NewMap()
		attributes.PutStr(names.AttributeHostName, "node-7")
		target := newTarget(t, nil).mapper.NewTarget(Identity{Host: "127.0.0.1", Port: 30000, Attributes: attributes})
		metrics, _ := target.Map(page("sglang:num_running_reqs{worker_addr=\""+worker+"\"} 1\n"), noon())
		host, _ := metrics.ResourceMetrics().At(0).Resource().Attributes().Get(names.AttributeHostName)
		assert.Equal(t, want, host.Str(), worker)
	}
	f("node-7", "")
	f("node-7", "http://127.0.0.1:15001")
	f("10.0.0.3", "http://10.0.0.3:15001")
}

// Today's engine is not yesterday's at the same address.
func TestAnotherProgramAtTheSameAddress(t *testing.T) {
	const one, two = "sglang:num_running_reqs 1\n", "vllm:num_requests_running 1\n"
	target := newTarget(t, func(o *Options) { o.ForgetAfter = 2 })
	f := func(body, provider string) {
		t.Helper()
		metrics, report := target.Map(page(body), noon())
		assert.Equal(t, provider, report.Provider)
		found := 0
		for _, m := range metrics.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().All() {
			if m.Name() == names.InferenceEngineUp {
				found++
				assert.Equal(t, 1, m.Gauge().DataPoints().Len())
				assert.Equal(t, map[string]any{names.AttributeGenAIProviderName: provider}, m.Gauge().DataPoints().At(0).Attributes().AsRaw())
			}
		}
		assert.Equal(t, 1, found)
	}
	f(one, sglang)
	f(two, vllm)
	for range 5 {
		assert.Equal(t, 1, target.Down(noon()).DataPointCount())
	}
	f(one, sglang)
}
