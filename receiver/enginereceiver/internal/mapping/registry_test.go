package mapping

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pitwall-otel/pitwall/schema"
)

// What goes out under a canonical name is what the registry says of it: unit, instrument, attributes and their types.
func TestPointsFollowTheRegistry(t *testing.T) {
	for _, name := range pages(t) {
		target := newTarget(t, nil)
		target.Map(page(read(t, name+".prom")), noon())
		metrics, _ := target.Map(page(read(t, name+".prom")), noon().Add(10*time.Second))
		for _, rm := range metrics.ResourceMetrics().All() {
			for _, sm := range rm.ScopeMetrics().All() {
				if sm.SchemaUrl() == "" {
					continue
				}
				for _, m := range sm.Metrics().All() {
					conforms(t, target.mapper.registry, rm.Resource().Attributes(), m)
				}
			}
		}
	}
}

func conforms(t *testing.T, registry *schema.Registry, resource pcommon.Map, m pmetric.Metric) {
	t.Helper()
	known := registry.Metric(m.Name())
	require.NotNil(t, known, m.Name())
	assert.Equal(t, known.Unit, m.Unit(), m.Name())
	instruments := map[pmetric.MetricType]string{
		pmetric.MetricTypeGauge: "gauge", pmetric.MetricTypeSum: "counter", pmetric.MetricTypeHistogram: "histogram",
	}
	assert.Equal(t, known.Instrument, instruments[m.Type()], m.Name())
	types := map[pcommon.ValueType]string{
		pcommon.ValueTypeStr: "string", pcommon.ValueTypeInt: "int", pcommon.ValueTypeBool: "boolean", pcommon.ValueTypeDouble: "double",
	}
	for _, on := range attributesOf(m) {
		for key, v := range on.All() {
			a := known.Attribute(key)
			if a == nil {
				for _, use := range registry.Entity("inference.engine").Attributes {
					if use.Name == key {
						a = use.Attribute
					}
				}
			}
			if !assert.NotNil(t, a, "%s has %s", m.Name(), key) {
				continue
			}
			if a.Type == "enum" {
				assert.Contains(t, a.Members, v.AsString(), "%s of %s", key, m.Name())
				continue
			}
			assert.Equal(t, a.Type, types[v.Type()], "%s of %s", key, m.Name())
		}
		for _, use := range known.Attributes {
			_, there := on.Get(use.Name)
			_, around := resource.Get(use.Name)
			assert.True(t, use.Requirement != "required" || there || around, "%s lacks %s", m.Name(), use.Name)
		}
	}
}

func attributesOf(m pmetric.Metric) (all []pcommon.Map) {
	switch m.Type() {
	case pmetric.MetricTypeGauge:
		for _, d := range m.Gauge().DataPoints().All() {
			all = append(all, d.Attributes())
		}
	case pmetric.MetricTypeSum:
		for _, d := range m.Sum().DataPoints().All() {
			all = append(all, d.Attributes())
		}
	case pmetric.MetricTypeHistogram:
		for _, d := range m.Histogram().DataPoints().All() {
			all = append(all, d.Attributes())
		}
	default:
	}
	return all
}
