package schemaprocessor

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/processortest"

	"github.com/pitwall-otel/pitwall/processor/schemaprocessor/internal/metadata"
	"github.com/pitwall-otel/pitwall/schema"
	"github.com/pitwall-otel/pitwall/schema/source"
)

// shipped is the registry that the program is built with.
func shipped(t testing.TB) *schema.Registry {
	t.Helper()
	r, err := schema.Load()
	require.NoError(t, err)
	return r
}

// registryOf makes a registry of YAML, of a family of its own.
func registryOf(t testing.TB, version, text string) *schema.Registry {
	t.Helper()
	read, err := source.Load(fstest.MapFS{
		"registry_manifest.yaml": {Data: []byte("semconv_version: " + version + "\nschema_base_url: https://example.com/\n")},
		"a.yaml":                 {Data: []byte(text)},
	})
	require.NoError(t, err)
	r, err := schema.New(read.Compile())
	require.NoError(t, err)
	return r
}

// newTest makes a processor, with the defaults but for what change does.
func newTest(t testing.TB, r *schema.Registry, s signal, change func(*Config)) *schemaProcessor {
	t.Helper()
	return newTestWith(t, r, s, processortest.NewNopSettings(metadata.Type), change)
}

func newTestWith(t testing.TB, r *schema.Registry, s signal, set processor.Settings, change func(*Config)) *schemaProcessor {
	t.Helper()
	c := createDefaultConfig().(*Config)
	if change != nil {
		change(c)
	}
	require.NoError(t, c.Validate())
	p, err := newProcessor(set, c, r, s)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.shutdown(t.Context())) })
	return p
}

func settings(tel *componenttest.Telemetry) processor.Settings {
	return processor.Settings{ID: component.NewID(metadata.Type), TelemetrySettings: tel.NewTelemetrySettings()}
}

// gauge makes a request with one metric of one point; attributes are key and value in turn.
func gauge(scope, name, unit string, value float64, attributes ...any) pmetric.Metrics {
	md := pmetric.NewMetrics()
	sm := md.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty()
	sm.Scope().SetName(scope)
	m := sm.Metrics().AppendEmpty()
	m.SetName(name)
	m.SetUnit(unit)
	p := m.SetEmptyGauge().DataPoints().AppendEmpty()
	p.SetDoubleValue(value)
	put2(p.Attributes(), attributes)
	return md
}

func put2(m pcommon.Map, attributes []any) {
	for i := 0; i < len(attributes); i += 2 {
		v := m.PutEmpty(attributes[i].(string))
		if err := v.FromRaw(attributes[i+1]); err != nil {
			panic(err)
		}
	}
}

// show renders attributes, sorted, with the type where it is not text: a=b i=int:3.
func show(m pcommon.Map) string {
	var all []string
	for k, v := range m.All() {
		text := v.AsString()
		if v.Type() != pcommon.ValueTypeStr {
			text = strings.ToLower(v.Type().String()) + ":" + text
		}
		all = append(all, k+"="+text)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// lines renders every point of a request: reason, name, kind, unit, value, attributes.
func lines(md pmetric.Metrics) []string {
	var all []string
	for _, rm := range md.ResourceMetrics().All() {
		reason := ""
		if v, ok := rm.Resource().Attributes().Get(reasonKey); ok {
			reason = "(" + v.Str() + ") "
		}
		for _, sm := range rm.ScopeMetrics().All() {
			for _, m := range sm.Metrics().All() {
				head := reason + m.Name() + " " + m.Type().String() + " " + m.Unit()
				all = append(all, metricLines(m, head)...)
			}
		}
	}
	slices.Sort(all)
	return all
}

func metricLines(m pmetric.Metric, head string) []string {
	var all []string
	add := func(on pcommon.Map, format string, args ...any) {
		all = append(all, strings.TrimSpace(strings.Join([]string{head, fmt.Sprintf(format, args...), show(on)}, " ")))
	}
	number := func(p pmetric.NumberDataPoint) {
		if p.ValueType() == pmetric.NumberDataPointValueTypeInt {
			add(p.Attributes(), "%d", p.IntValue())
		} else {
			add(p.Attributes(), "%v", p.DoubleValue())
		}
	}
	switch m.Type() {
	case pmetric.MetricTypeGauge:
		for _, p := range m.Gauge().DataPoints().All() {
			number(p)
		}
	case pmetric.MetricTypeSum:
		for _, p := range m.Sum().DataPoints().All() {
			number(p)
		}
	case pmetric.MetricTypeHistogram:
		for _, p := range m.Histogram().DataPoints().All() {
			add(p.Attributes(), "%v %v n=%d sum=%v", p.ExplicitBounds().AsRaw(), p.BucketCounts().AsRaw(), p.Count(), p.Sum())
		}
	case pmetric.MetricTypeExponentialHistogram:
		for _, p := range m.ExponentialHistogram().DataPoints().All() {
			add(p.Attributes(), "scale=%d %d+%v %d+%v n=%d sum=%v", p.Scale(), p.Negative().Offset(), p.Negative().BucketCounts().AsRaw(),
				p.Positive().Offset(), p.Positive().BucketCounts().AsRaw(), p.Count(), p.Sum())
		}
	case pmetric.MetricTypeSummary:
		for _, p := range m.Summary().DataPoints().All() {
			var q []string
			for _, v := range p.QuantileValues().All() {
				q = append(q, fmt.Sprintf("%v:%v", v.Quantile(), v.Value()))
			}
			add(p.Attributes(), "%v n=%d sum=%v", q, p.Count(), p.Sum())
		}
	default:
		all = append(all, head)
	}
	return all
}
