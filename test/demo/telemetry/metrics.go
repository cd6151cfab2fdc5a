package telemetry

import (
	"net"
	"strconv"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pitwall-otel/pitwall/test/demo/simulation"
)

const scopeName = "pitwall-demo"

// tree puts metrics under their processes, and points under their metric within one.
type tree struct {
	pmetric.Metrics
	schemaURL string
	scopes    map[simulation.Process]pmetric.ScopeMetrics
	metrics   map[metricKey]pmetric.Metric
}

type metricKey struct {
	by   simulation.Process
	name string
}

// metric returns the metric of a process, and whether it is new.
func (t *tree) metric(by *simulation.Process, name, unit string) (pmetric.Metric, bool) {
	key := metricKey{*by, name}
	m, ok := t.metrics[key]
	if ok {
		return m, false
	}
	scope, ok := t.scopes[*by]
	if !ok {
		resource := t.ResourceMetrics().AppendEmpty()
		resource.SetSchemaUrl(t.schemaURL)
		identify(resource.Resource().Attributes(), by)
		scope = resource.ScopeMetrics().AppendEmpty()
		scope.Scope().SetName(scopeName)
		scope.SetSchemaUrl(t.schemaURL)
		t.scopes[*by] = scope
	}
	m = scope.Metrics().AppendEmpty()
	m.SetName(name)
	m.SetUnit(unit)
	t.metrics[key] = m
	return m, true
}

func (c *Client) metrics() pmetric.Metrics {
	t := tree{pmetric.NewMetrics(), c.schemaURL, map[simulation.Process]pmetric.ScopeMetrics{}, map[metricKey]pmetric.Metric{}}
	for _, p := range c.points {
		d := t.numbers(p).AppendEmpty()
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
	for _, h := range c.histograms {
		m, first := t.metric(h.By, h.Metric, h.Unit)
		if first {
			m.SetEmptyHistogram().SetAggregationTemporality(pmetric.AggregationTemporalityDelta)
		}
		d := m.Histogram().DataPoints().AppendEmpty()
		d.SetStartTimestamp(stamp(h.Since))
		d.SetTimestamp(stamp(h.Time))
		d.ExplicitBounds().FromRaw(h.Bounds)
		d.BucketCounts().FromRaw(h.Counts)
		for _, n := range h.Counts {
			d.SetCount(d.Count() + n)
		}
		d.SetSum(h.Sum)
		put(d.Attributes(), h.Attributes)
	}
	return t.Metrics
}

func (t *tree) numbers(p simulation.Point) pmetric.NumberDataPointSlice {
	m, first := t.metric(p.By, p.Metric, p.Unit)
	if p.Kind == simulation.Gauge {
		if first {
			m.SetEmptyGauge()
		}
		return m.Gauge().DataPoints()
	}
	if first {
		m.SetEmptySum().SetIsMonotonic(p.Kind == simulation.Counter)
		m.Sum().SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
	}
	return m.Sum().DataPoints()
}

// identify says who reports. Host metrics belong to a host only.
func identify(attributes pcommon.Map, p *simulation.Process) {
	attributes.PutStr("host.name", p.Host)
	if p.Role == "" {
		attributes.PutStr("service.name", "host-agent")
		return
	}
	attributes.PutStr("rl.run.id", p.Run)
	attributes.PutInt("rl.run.attempt", p.Attempt)
	attributes.PutStr("rl.role", p.Role)
	if p.Server != "" { // as the engine receiver says it
		attributes.PutInt("rl.replica.id", p.Replica)
		attributes.PutStr("service.instance.id", net.JoinHostPort(p.Server, strconv.FormatInt(p.Port, 10)))
		attributes.PutStr("server.address", p.Server)
		attributes.PutInt("server.port", p.Port)
		attributes.PutStr("inference.scope", "engine")
		return
	}
	attributes.PutStr("service.name", "pitwall-demo")
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
