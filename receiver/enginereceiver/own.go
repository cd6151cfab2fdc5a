package enginereceiver

import (
	"maps"
	"net"
	"slices"
	"strconv"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/mapping"
	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/metadata"
	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/targets"
	"github.com/pitwall-otel/pitwall/schema/names"
)

// total is what one target's scrapes summed up to since its loop began.
type total struct {
	badLines, limited, skipped int64
	failures                   map[string]int64 // by error.type
	lastSuccess                time.Time
}

// describe adds the points that are about the scrape itself. They are there after each scrape, the failed ones included.
func (p *page) describe(md pmetric.Metrics, o *outcome) {
	rm := md.ResourceMetrics().AppendEmpty()
	p.resource().CopyTo(rm.Resource().Attributes())
	sm := rm.ScopeMetrics().AppendEmpty()
	sm.SetSchemaUrl(p.r.registry.SchemaURL())
	sm.Scope().SetName(metadata.ScopeName)
	sm.Scope().SetVersion(p.r.set.BuildInfo.Version)
	w := writer{page: p, metrics: sm.Metrics(), at: pcommon.NewTimestampFromTime(o.at)}

	up := 0.0
	if o.failure == "" {
		up = 1
	}
	attributes := w.gauge(names.PitwallScrapeUp, up)
	if p.version != "" {
		attributes.PutStr(names.AttributePitwallTargetVersion, p.version)
	}
	w.gauge(names.PitwallScrapeFailed, 1-up)
	w.gauge(names.PitwallScrapeDuration, o.took.Seconds())
	if o.failure == "" {
		w.gauge(names.PitwallScrapeSize, float64(o.size))
		w.gauge(names.PitwallScrapeSeries, float64(o.report.Series))
		w.gauge(names.PitwallScrapeMetrics, float64(o.report.Points))
		// Engines that were behind the router and are not any more are the parts that failed.
		w.gauge(names.PitwallScrapeErrors, float64(len(o.report.Vanished)))
		w.gauge(names.PitwallScrapeFamiliesUnknown, float64(o.report.Unknown))
		if o.report.Expected > 0 {
			w.gauge(names.PitwallScrapeFamiliesExpected, float64(o.report.Expected))
			w.gauge(names.PitwallScrapeFamiliesPresent, float64(o.report.Expected-len(o.report.Missing)))
		}
	} else {
		w.gauge(names.PitwallScrapeErrors, 1)
	}
	if !p.total.lastSuccess.IsZero() {
		w.gauge(names.PitwallScrapeLastSuccessTime, float64(p.total.lastSuccess.UnixMilli())/1000)
	}
	w.counter(names.PitwallScrapeBadLines, p.total.badLines)
	w.counter(names.PitwallScrapeLimited, p.total.limited)
	w.counter(names.PitwallScrapeSkipped, p.total.skipped)
	if len(p.total.failures) > 0 {
		errors := w.sum(names.PitwallErrors)
		for _, kind := range slices.Sorted(maps.Keys(p.total.failures)) {
			w.count(errors, p.total.failures[kind]).PutStr(names.AttributeErrorType, kind)
		}
	}
	// An engine that answered once is mapping's to report.
	if p.total.lastSuccess.IsZero() && (p.target.Kind == targets.KindSGLang || p.target.Kind == targets.KindVLLM) {
		point := w.metric(names.InferenceEngineUp).SetEmptyGauge().DataPoints().AppendEmpty()
		point.SetTimestamp(w.at)
		point.SetDoubleValue(0)
		point.Attributes().PutStr(names.AttributeGenAIProviderName, p.target.Kind)
	}
}

// writer adds metrics with one point each.
type writer struct {
	page    *page
	metrics pmetric.MetricSlice
	at      pcommon.Timestamp
}

func (w *writer) metric(name string) pmetric.Metric {
	m := w.metrics.AppendEmpty()
	m.SetName(name)
	m.SetUnit(w.page.r.registry.Metric(name).Unit)
	return m
}

func (w *writer) gauge(name string, value float64) pcommon.Map {
	point := w.metric(name).SetEmptyGauge().DataPoints().AppendEmpty()
	point.SetDoubleValue(value)
	return w.point(point)
}

func (w *writer) counter(name string, value int64) { w.count(w.sum(name), value) }

func (w *writer) sum(name string) pmetric.Sum {
	sum := w.metric(name).SetEmptySum()
	sum.SetIsMonotonic(true)
	sum.SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
	return sum
}

func (w *writer) count(sum pmetric.Sum, value int64) pcommon.Map {
	point := sum.DataPoints().AppendEmpty()
	point.SetIntValue(value)
	point.SetStartTimestamp(pcommon.NewTimestampFromTime(w.page.since))
	return w.point(point)
}

func (w *writer) point(point pmetric.NumberDataPoint) pcommon.Map {
	point.SetTimestamp(w.at)
	point.Attributes().PutStr(names.AttributePitwallComponent, w.page.r.set.ID.String())
	point.Attributes().PutStr(names.AttributePitwallTarget, w.page.target.Name)
	return point.Attributes()
}

// identity are the resource attributes of all that a page says. The role is engine where the target does not say another.
func identity(t *targets.Target) pcommon.Map {
	m := pcommon.NewMap()
	for _, a := range t.Attributes {
		if !a.Number {
			m.PutStr(a.Key, a.Value)
			continue
		}
		n, _ := strconv.ParseInt(a.Value, 10, 64) // checked where the target was made
		m.PutInt(a.Key, n)
	}
	if _, found := m.Get(names.AttributeRLRole); !found && t.Kind != targets.KindGateway {
		m.PutStr(names.AttributeRLRole, "engine")
	}
	return m
}

// resource is where the scrape's own points belong: the engine or router that was asked.
func (p *page) resource() pcommon.Map {
	m := identity(&p.target)
	if _, found := m.Get(names.AttributeServiceInstanceID); !found {
		m.PutStr(names.AttributeServiceInstanceID, net.JoinHostPort(p.target.Host, strconv.Itoa(p.target.Port)))
	}
	if _, found := m.Get(names.AttributeHostName); !found {
		host := p.target.Host
		if mapping.IsLoopback(host) {
			host = p.r.host
		}
		m.PutStr(names.AttributeHostName, host)
	}
	return m
}
