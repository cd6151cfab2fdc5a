package nvmlreceiver

import (
	"fmt"
	"strconv"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/pitwall-otel/pitwall/internal/nvml"
	"github.com/pitwall-otel/pitwall/receiver/nvmlreceiver/internal/attribution"
	"github.com/pitwall-otel/pitwall/receiver/nvmlreceiver/internal/xid"
	"github.com/pitwall-otel/pitwall/schema/names"
)

// report is something that happened, before it is a log record.
type report struct {
	event    string
	at       time.Time
	severity plog.SeverityNumber
	body     string
	// what tells reports of one event apart, so that one GPU's flood leaves room for others.
	what     string
	identity attribution.Identity
	fill     func(attributes pcommon.Map)
}

// maxUnplaced bounds the events that wait for a collection to tell whose they are.
const maxUnplaced = 256

// heard takes an event of the driver or of the client. One of a GPU that no collection has seen waits for the next: the
// driver reports from the moment that the GPU is first asked, which is before its answer says what it is and whose.
func (i *instance) heard(e nvml.Event) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if e.Key.Index >= 0 && e.Kind != nvml.EventLost && i.find(e) == nil && len(i.unplaced) < maxUnplaced {
		i.unplaced = append(i.unplaced, e)
		return
	}
	i.hear(e)
}

// hearUnplaced takes the events that waited for a collection.
func (i *instance) hearUnplaced() {
	for _, e := range i.unplaced {
		i.hear(e)
	}
	i.unplaced = nil
}

func (i *instance) hear(e nvml.Event) {
	d := i.deviceOf(e)
	if d.uuid == "" && e.UUID != "" { // a GPU that has not answered yet
		d.uuid, d.id = e.UUID, e.UUID
	}
	r := report{at: e.Time, what: d.id}
	switch e.Kind {
	case nvml.EventXid:
		i.heardXid(d, e, &r)
	case nvml.EventDoubleBitECC:
		r.event, r.severity = names.EventNvidiaGPUEccUncorrected, plog.SeverityNumberError
		r.fail("Double-bit ECC error", xid.Fatal, xid.ResetGPU, d)
	case nvml.EventSingleBitECCStorm:
		r.memory("Many single-bit ECC errors", xid.Warning, xid.Nothing, d)
	case nvml.EventDRAMRetirement:
		r.memory("Memory taken out of use", xid.Info, xid.Nothing, d)
	case nvml.EventDRAMRetirementFailure:
		r.memory("Memory could not be taken out of use", xid.Fatal, xid.ResetGPU, d)
	case nvml.EventNonFatalPoison:
		r.memory("Poisoned data, contained", xid.Error, xid.RestartProcess, d)
	case nvml.EventFatalPoison:
		r.memory("Poisoned data, not contained", xid.Fatal, xid.ResetGPU, d)
	case nvml.EventLost, nvml.EventUnavailable:
		r.event, r.severity = names.EventNvidiaGPULost, plog.SeverityNumberFatal
		name := "GPU lost"
		if e.Text != "" {
			name += ": " + e.Text
		}
		r.fail(name, xid.Fatal, xid.RebootNode, d)
	case nvml.EventFound:
		d.health = health{}
		r.event, r.severity, r.body = names.EventNvidiaGPUFound, plog.SeverityNumberInfo, d.label()+": is there"
	case nvml.EventStale:
		r.event, r.severity = names.EventNvidiaGPUStale, plog.SeverityNumberError
		r.fail("The driver does not answer", xid.Error, xid.Nothing, d)
	case nvml.EventAnswers:
		r.event, r.severity, r.body = names.EventNvidiaGPUAnswering, plog.SeverityNumberInfo, d.label()+": the driver answers again"
	case nvml.EventMIGConfig, nvml.EventMIGChanged:
		r.event, r.severity, r.body = names.EventNvidiaGPUMigReconfigured, plog.SeverityNumberInfo, d.label()+": MIG devices changed"
	case nvml.EventRecoveryAction:
		action := nvml.RecoveryActionName(float64(e.Data))
		r.event, r.severity = names.EventNvidiaGPURecoveryActionChanged, plog.SeverityNumberWarn
		r.body = d.label() + ": the driver asks for another recovery action"
		r.fill = func(m pcommon.Map) { put(m, names.AttributeNvidiaGPURecoveryAction, action) }
	case nvml.EventHelperStarted:
		i.report(report{
			event: names.EventPitwallNVMLHelperRestarted, at: e.Time, severity: plog.SeverityNumberWarn,
			body: "the program that talks to the driver ended and was started again",
			fill: func(m pcommon.Map) {
				m.PutStr(names.AttributePitwallComponent, i.component)
				put(m, names.AttributeErrorMessage, e.Text)
			},
		})
		return
	default:
		return
	}
	i.reportOn(d, r)
}

func (i *instance) heardXid(d *device, e nvml.Event, r *report) {
	meaning, _ := xid.Lookup(e.Data)
	d.xidCount++
	if _, known := d.xids[e.Data]; known || len(d.xids) < maxXids {
		d.xids[e.Data]++
	}
	d.health.hear(e.Data, meaning)
	r.event, r.what = names.EventNvidiaGPUXid, d.id+"/"+strconv.FormatUint(e.Data, 10)
	r.severity = severityNumber(meaning.Severity)
	r.body = fmt.Sprintf("%s: Xid %d: %s", d.label(), e.Data, meaning.Name)
	if meaning.Advice != "" {
		r.body += ". " + meaning.Advice
	}
	r.fill = func(m pcommon.Map) {
		m.PutInt(names.AttributeNvidiaGPUXid, int64(e.Data))
		failure(m, meaning.Name, meaning.Severity, meaning.Action)
	}
}

// deviceOf returns the device of an event. One that no collection has seen is made up of what the event says, and is not
// remembered.
func (i *instance) deviceOf(e nvml.Event) *device {
	if d := i.find(e); d != nil {
		return d
	}
	id := e.UUID
	if id == "" {
		id = placeOf(&nvml.Device{Key: e.Key, PCIBusID: e.PCIBusID})
	}
	return &device{key: e.Key, uuid: e.UUID, id: id, xids: map[uint64]int64{}}
}

// find returns a MIG device by its instances, else the GPU; nil when there is none. The number alone is not enough: when a
// GPU is gone, the driver may give its number to another one.
func (i *instance) find(e nvml.Event) *device {
	if e.GPUInstance >= 0 && e.Key.MIG < 0 {
		for _, d := range i.devices {
			if d.key.Index == e.Key.Index && d.key.MIG >= 0 && d.gpuInstance == e.GPUInstance &&
				(e.ComputeInstance < 0 || d.computeInstance == e.ComputeInstance) {
				return d
			}
		}
	}
	if d := i.devices[e.Key]; d != nil && (d.uuid == e.UUID || d.uuid == "" || e.UUID == "") {
		return d
	}
	for _, d := range i.devices {
		if e.UUID != "" && d.uuid == e.UUID {
			return d
		}
	}
	return nil
}

// label names a device for people.
func (d *device) label() string {
	text := "GPU"
	if d.key.Index >= 0 {
		text += " " + strconv.Itoa(d.key.Index)
	}
	if d.key.MIG >= 0 {
		text += ", MIG device " + strconv.Itoa(d.key.MIG)
	}
	if d.name != "" {
		text += " (" + d.name + ")"
	}
	return text
}

func (r *report) memory(name string, severity xid.Severity, action xid.Action, d *device) {
	r.event, r.severity = names.EventNvidiaGPUMemoryError, severityNumber(severity)
	r.what += "/" + name
	r.fail(name, severity, action, d)
}

func (r *report) fail(name string, severity xid.Severity, action xid.Action, d *device) {
	r.body = d.label() + ": " + name
	r.fill = func(m pcommon.Map) { failure(m, name, severity, action) }
}

func failure(m pcommon.Map, name string, severity xid.Severity, action xid.Action) {
	m.PutStr(names.AttributeNvidiaGPUErrorName, name)
	m.PutStr(names.AttributeNvidiaGPUErrorSeverity, string(severity))
	m.PutStr(names.AttributeNvidiaGPUErrorAction, string(action))
}

func severityNumber(s xid.Severity) plog.SeverityNumber {
	switch s {
	case xid.Info:
		return plog.SeverityNumberInfo
	case xid.Warning:
		return plog.SeverityNumberWarn
	case xid.Fatal:
		return plog.SeverityNumberFatal
	default:
		return plog.SeverityNumberError
	}
}

func put(m pcommon.Map, key, value string) {
	if value != "" {
		m.PutStr(key, value)
	}
}
