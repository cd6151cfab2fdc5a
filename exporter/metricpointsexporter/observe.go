package metricpointsexporter

import (
	"context"
	"os"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/pitwall-otel/pitwall/exporter/metricpointsexporter/internal/metadata"
	"github.com/pitwall-otel/pitwall/schema/names"
)

// observe publishes the ledger as the collector's own telemetry, all of it from one balance, so that what is scraped
// adds up too.
func (e *metricPoints) observe() (metric.Registration, error) {
	t := e.telemetry
	return metadata.Meter(e.settings.TelemetrySettings).RegisterCallback(func(_ context.Context, o metric.Observer) error {
		b := e.ledger.balance()
		o.ObserveInt64(t.MetricpointsPointsAccepted, b.accepted, e.self)
		o.ObserveInt64(t.MetricpointsPointsStored, b.stored, e.self)
		o.ObserveInt64(t.MetricpointsPointsQueued, b.queued, e.self)
		o.ObserveInt64(t.MetricpointsPointsRefused, b.refused, e.self)
		for _, d := range b.dropped {
			o.ObserveInt64(t.MetricpointsPointsDropped, d.points, e.self, metric.WithAttributes(attribute.String("reason", d.reason)))
		}
		o.ObserveInt64(t.MetricpointsPointsTimeOutside, e.ledger.timeOutside.Load(), e.self)
		o.ObserveInt64(t.MetricpointsValuesTruncated, e.ledger.truncated.Load(), e.self)
		o.ObserveInt64(t.MetricpointsLogSize, b.log.DiskBytes, e.self)
		o.ObserveInt64(t.MetricpointsLogSegmentsSetAside, b.log.SetAside, e.self)
		o.ObserveFloat64(t.MetricpointsLogOldestAge, b.log.OldestAge.Seconds(), e.self)
		return nil
	}, t.MetricpointsPointsAccepted, t.MetricpointsPointsStored, t.MetricpointsPointsQueued, t.MetricpointsPointsRefused,
		t.MetricpointsPointsDropped, t.MetricpointsPointsTimeOutside, t.MetricpointsValuesTruncated,
		t.MetricpointsLogSize, t.MetricpointsLogSegmentsSetAside, t.MetricpointsLogOldestAge)
}

// writeLedger puts the ledger into the table as well, by the way that all points go; the rows count themselves.
func (e *metricPoints) writeLedger(ctx context.Context) {
	ticker := time.NewTicker(e.config.LedgerInterval)
	defer ticker.Stop()
	host := e.config.HostName
	if host == "" {
		host, _ = os.Hostname() // without one the column is empty too
	}
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			// A full log refuses these rows like any other; the next ones say what was missed.
			_ = e.consume(ctx, ledgerMetrics(e.ledger.balance(), host, e.settings.ID.String(), e.encoding.Registry.SchemaURL(), now))
		}
	}
}

func ledgerMetrics(b balance, host, component, schemaURL string, now time.Time) pmetric.Metrics {
	metrics := pmetric.NewMetrics()
	rm := metrics.ResourceMetrics().AppendEmpty()
	rm.Resource().Attributes().PutStr(names.AttributeHostName, host)
	sm := rm.ScopeMetrics().AppendEmpty()
	sm.Scope().SetName(metadata.ScopeName)
	sm.SetSchemaUrl(schemaURL)
	at := pcommon.NewTimestampFromTime(now)
	point := func(dp pmetric.NumberDataPoint, value int64) pcommon.Map {
		dp.SetTimestamp(at)
		dp.SetIntValue(value)
		dp.Attributes().PutStr(names.AttributePitwallComponent, component)
		return dp.Attributes()
	}
	counter := func(name string) pmetric.NumberDataPointSlice {
		m := sm.Metrics().AppendEmpty()
		m.SetName(name)
		m.SetUnit("{point}")
		sum := m.SetEmptySum()
		sum.SetIsMonotonic(true)
		sum.SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
		return sum.DataPoints()
	}
	gauge := func(name, unit string) pmetric.NumberDataPointSlice {
		m := sm.Metrics().AppendEmpty()
		m.SetName(name)
		m.SetUnit(unit)
		return m.SetEmptyGauge().DataPoints()
	}
	point(counter(names.PitwallPointsAccepted).AppendEmpty(), b.accepted)
	point(counter(names.PitwallPointsStored).AppendEmpty(), b.stored)
	point(counter(names.PitwallPointsRefused).AppendEmpty(), b.refused)
	drops := counter(names.PitwallPointsDropped)
	for _, d := range b.dropped {
		point(drops.AppendEmpty(), d.points).PutStr(names.AttributePitwallDropReason, d.reason)
	}
	point(gauge(names.PitwallPointsQueued, "{point}").AppendEmpty(), b.queued)
	point(gauge(names.PitwallLogSize, "By").AppendEmpty(), b.log.DiskBytes)
	return metrics
}
