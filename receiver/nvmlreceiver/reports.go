package nvmlreceiver

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pitwall-otel/pitwall/internal/nvml"
	"github.com/pitwall-otel/pitwall/receiver/nvmlreceiver/internal/metadata"
	"github.com/pitwall-otel/pitwall/schema/names"
)

// reportOn reports what happened to a device.
func (i *instance) reportOn(d *device, r report) {
	r.identity = d.identity
	fill := r.fill
	r.fill = func(m pcommon.Map) {
		m.PutStr(names.AttributeHWID, d.id)
		if d.key.Index >= 0 {
			m.PutInt(names.AttributeRLDeviceIndex, int64(d.key.Index))
		}
		if d.key.MIG >= 0 {
			m.PutInt(names.AttributeNvidiaGPUMigIndex, int64(d.key.MIG))
		}
		put(m, names.AttributeHWParent, d.parent)
		put(m, names.AttributeHWModel, d.name)
		put(m, names.AttributeHWSerialNumber, d.serial)
		if fill != nil {
			fill(m)
		}
	}
	i.report(r)
}

// report makes a log record and hands it to the logs pipeline, if there is one and the minute has room for it.
func (i *instance) report(r report) {
	if i.records == nil || !i.records.admit(i.now(), r.event+"/"+r.what) {
		return
	}
	logs := plog.NewLogs()
	resource := logs.ResourceLogs().AppendEmpty()
	i.resource(r.identity).MoveTo(resource.Resource())
	scope := resource.ScopeLogs().AppendEmpty()
	scope.SetSchemaUrl(i.schemaURL)
	scope.Scope().SetName(metadata.ScopeName)
	record := scope.LogRecords().AppendEmpty()
	record.SetEventName(r.event)
	at := r.at
	if at.IsZero() {
		at = i.now()
	}
	record.SetTimestamp(timestamp(at))
	record.SetObservedTimestamp(timestamp(i.now()))
	record.SetSeverityNumber(r.severity)
	record.SetSeverityText(severityText(r.severity))
	record.Body().SetStr(r.body)
	if r.fill != nil {
		r.fill(record.Attributes())
	}
	i.records.push(logs)
}

func severityText(n plog.SeverityNumber) string {
	switch n {
	case plog.SeverityNumberInfo:
		return "INFO"
	case plog.SeverityNumberWarn:
		return "WARN"
	case plog.SeverityNumberFatal:
		return "FATAL"
	default:
		return "ERROR"
	}
}

// throttleEvents reports what began or ended to keep clocks down.
func (c *collection) throttleEvents(d *device, f *found) {
	if !f.has(nvml.ClocksEventReasons) {
		return
	}
	for _, edge := range d.throttles.edges() {
		name := reasonName(edge.reason)
		r := report{
			event: names.EventNvidiaGPUThrottleEnded, at: c.now, severity: plog.SeverityNumberInfo, what: d.id + "/" + name,
			body: d.label() + ": clocks are not kept down any more: " + name,
			fill: func(m pcommon.Map) { m.PutStr(names.AttributeNvidiaGPUThrottleReason, name) },
		}
		if edge.begun {
			r.event, r.body = names.EventNvidiaGPUThrottleStarted, d.label()+": clocks are kept down: "+name
			// At its power limit a GPU that works hard always is.
			if edge.reason != nvml.ThrottleSWPowerCap {
				r.severity = plog.SeverityNumberWarn
			}
		}
		c.reportOn(d, r)
	}
}
