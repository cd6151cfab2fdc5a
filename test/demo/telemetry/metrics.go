package telemetry

import (
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pitwall-otel/pitwall/test/demo/simulation"
)

const scopeName = "pitwall-demo"

// metrics puts points under their processes, and under their metric within one.
func (c *Client) metrics(points []simulation.Point) pmetric.Metrics {
	all := pmetric.NewMetrics()
	type key struct {
		by     simulation.Process
		metric string
	}
	scopes := map[simulation.Process]pmetric.ScopeMetrics{}
	series := map[key]pmetric.NumberDataPointSlice{}
	for _, p := range points {
		k := key{*p.By, p.Metric}
		list, ok := series[k]
		if !ok {
			scope, ok := scopes[*p.By]
			if !ok {
				resource := all.ResourceMetrics().AppendEmpty()
				resource.SetSchemaUrl(c.schemaURL)
				identify(resource.Resource().Attributes(), p.By)
				scope = resource.ScopeMetrics().AppendEmpty()
				scope.Scope().SetName(scopeName)
				scope.SetSchemaUrl(c.schemaURL)
				scopes[*p.By] = scope
			}
			list = newMetric(scope.Metrics().AppendEmpty(), p)
			series[k] = list
		}
		d := list.AppendEmpty()
		d.SetTimestamp(stamp(p.Time))
		if p.Kind == simulation.Counter {
			d.SetStartTimestamp(stamp(p.Since))
		}
		d.SetDoubleValue(p.Value)
		if p.Step > 0 {
			d.Attributes().PutInt("rl.step", p.Step)
		}
		put(d.Attributes(), p.Attributes)
	}
	return all
}

func newMetric(m pmetric.Metric, p simulation.Point) pmetric.NumberDataPointSlice {
	m.SetName(p.Metric)
	m.SetUnit(p.Unit)
	if p.Kind == simulation.Gauge {
		return m.SetEmptyGauge().DataPoints()
	}
	sum := m.SetEmptySum()
	sum.SetIsMonotonic(p.Kind == simulation.Counter)
	sum.SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
	return sum.DataPoints()
}

// identify says who reports. Host metrics belong to a host only.
func identify(attributes pcommon.Map, p *simulation.Process) {
	attributes.PutStr("host.name", p.Host)
	if p.Role == "" {
		attributes.PutStr("service.name", "host-agent")
		return
	}
	attributes.PutStr("service.name", "pitwall-demo")
	attributes.PutStr("rl.run.id", p.Run)
	attributes.PutInt("rl.run.attempt", p.Attempt)
	attributes.PutStr("rl.role", p.Role)
	attributes.PutInt("rl.rank", p.Rank)
	attributes.PutInt("rl.rank.local", p.Local)
	if p.Replica >= 0 {
		attributes.PutInt("rl.replica.id", p.Replica)
	}
}

func put(to pcommon.Map, attributes []simulation.Attribute) {
	for _, a := range attributes {
		switch v := a.Value.(type) {
		case string:
			to.PutStr(a.Key, v)
		case int64:
			to.PutInt(a.Key, v)
		case float64:
			to.PutDouble(a.Key, v)
		case bool:
			to.PutBool(a.Key, v)
		}
	}
}

func stamp(t time.Time) pcommon.Timestamp { return pcommon.NewTimestampFromTime(t) }
