package nvmlreceiver

import (
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.uber.org/zap"

	"github.com/pitwall-otel/pitwall/internal/nvml"
	"github.com/pitwall-otel/pitwall/receiver/nvmlreceiver/internal/metadata"
	"github.com/pitwall-otel/pitwall/schema/names"
)

// cost is what the last collection took.
type cost struct {
	wall, cpu time.Duration
}

// observeCost adds what the helper used since the collection before to what this process did, and keeps to the budget.
func (i *instance) observeCost(now time.Time, wall, own time.Duration, s nvml.Snapshot) {
	helper := s.Helper.CPU - i.helper.CPU
	if s.Helper.PID != i.helper.PID {
		helper = s.Helper.CPU
	}
	i.helper = s.Helper
	i.cost = cost{wall: wall, cpu: max(0, helper) + max(0, own)}
	level := i.budget.level
	if !i.budget.observe(now, i.cost.cpu) {
		return
	}
	share := zap.Float64("share_of_core", i.budget.average)
	r := report{at: now, fill: func(m pcommon.Map) { m.PutStr(names.AttributePitwallComponent, i.component) }}
	switch {
	case i.budget.level > level:
		r.event, r.severity = names.EventPitwallNVMLBudgetExceeded, plog.SeverityNumberWarn
		r.body = "reading the GPUs costs more than the budget: costly fields are read once a minute"
		i.log.Warn(r.body, share, zap.Float64("budget", i.cfg.Budget), zap.Int("level", i.budget.level))
	case i.budget.level == 0:
		r.event, r.severity = names.EventPitwallNVMLBudgetRecovered, plog.SeverityNumberInfo
		r.body = "reading the GPUs is within the budget again: everything is read every time"
		i.log.Info(r.body, share)
	default:
		return
	}
	i.report(r)
}

// recordSelf records what collecting was like.
func (i *instance) recordSelf(now time.Time, c collection, s nvml.Snapshot) {
	i.lastGood = now
	ts := timestamp(now)
	if i.metricCount > 0 {
		i.builder.RecordPitwallScrapeMetricsDataPoint(ts, int64(i.metricCount), i.component, target)
	}
	i.selfScrape(ts, true, int64(c.failed+c.implausible+c.stale))
	i.builder.RecordPitwallScrapeDurationDataPoint(ts, i.cost.wall.Seconds(), i.component, target)
	i.builder.RecordPitwallCostCPUTimeDataPoint(ts, i.cost.cpu.Seconds(), i.component)
	i.builder.RecordPitwallCostCPUUtilizationDataPoint(ts, i.budget.average, i.component)
	i.builder.RecordPitwallCostCPUBudgetDataPoint(ts, i.cfg.Budget, i.component)
	i.builder.RecordPitwallCostReductionDataPoint(ts, int64(i.budget.level), i.component)
	i.builder.RecordPitwallNvmlFieldsSuspendedDataPoint(ts, int64(countClasses(suspended(i.budget.level))), i.component)
	i.builder.RecordPitwallNvmlHelperMemoryUsageDataPoint(ts, int64(s.Helper.RSS), i.component)
	i.selfHelper(ts, s)
}

// recordDown records that nothing came, on a machine where something should have.
func (i *instance) recordDown(now time.Time, s nvml.Snapshot) {
	if s.Status == nvml.StatusStarting || i.expectsNoGPU(s.Status) {
		return
	}
	ts := timestamp(now)
	for _, d := range i.devices {
		if d.key.MIG < 0 && d.key.VGPU == 0 {
			i.builder.RecordNvidiaGpuStaleDataPoint(ts, 1, d.id, int64(d.key.Index))
		}
	}
	i.selfScrape(ts, false, 1)
	i.selfHelper(ts, s)
}

func (i *instance) selfScrape(ts pcommon.Timestamp, good bool, failures int64) {
	var version []metadata.MetricAttributeOption
	if i.version != "" {
		version = append(version, metadata.WithPitwallTargetVersionMetricAttribute(i.version))
	}
	i.builder.RecordPitwallScrapeUpDataPoint(ts, one(good), i.component, target, version...)
	i.builder.RecordPitwallScrapeFailedDataPoint(ts, one(!good), i.component, target)
	i.builder.RecordPitwallScrapeErrorsDataPoint(ts, failures, i.component, target)
	if !i.lastGood.IsZero() {
		i.builder.RecordPitwallScrapeLastSuccessTimeDataPoint(ts, float64(i.lastGood.UnixMilli())/1000, i.component, target)
	}
}

func (i *instance) selfHelper(ts pcommon.Timestamp, s nvml.Snapshot) {
	i.builder.RecordPitwallNvmlHelperRestartsDataPoint(ts, int64(s.Restarts), i.component)
	dropped := int64(i.driver.DroppedEvents())
	if i.records != nil {
		dropped += i.records.dropped.Load()
	}
	i.builder.RecordPitwallNvmlEventsDroppedDataPoint(ts, dropped, i.component)
}

// finish hands out what was recorded. The generated code cannot say three things: the schema, the unit of fans, and that
// the driver counts since some time that nobody knows, while the books begin when their run does.
func (i *instance) finish() pmetric.Metrics {
	metrics := i.builder.Emit()
	seen := map[string]bool{}
	defer func() { i.metricCount = len(seen) }()
	for _, rm := range metrics.ResourceMetrics().All() {
		for _, sm := range rm.ScopeMetrics().All() {
			sm.SetSchemaUrl(i.schemaURL)
			for _, m := range sm.Metrics().All() {
				seen[m.Name()] = true
				if m.Name() == names.HWFanSpeed {
					m.SetUnit("rpm")
				}
				if !countedHere(m.Name()) {
					forgetStart(m)
				}
			}
		}
	}
	return metrics
}

// countedHere says that a counter begins with its account.
func countedHere(name string) bool {
	switch name {
	case names.NvidiaGPUIdleDuration, names.NvidiaGPUBusyDuration, names.NvidiaGPUUnknownDuration,
		names.NvidiaGPUThrottleDuration, names.NvidiaGPUThrottledDuration, names.NvidiaGPUXidErrors:
		return true
	default:
		return false
	}
}

func forgetStart(m pmetric.Metric) {
	points := m.Gauge().DataPoints
	if m.Type() == pmetric.MetricTypeSum {
		points = m.Sum().DataPoints
	}
	for _, point := range points().All() {
		point.SetStartTimestamp(0)
	}
}
