package nvmlreceiver

import (
	"github.com/pitwall-otel/pitwall/internal/nvml"
	"github.com/pitwall-otel/pitwall/receiver/nvmlreceiver/internal/metadata"
)

// links records PCIe, and NVLink link by link. A GPU has up to 18 links, so those are told once a minute, and errors only of
// links that have some; what all links together carry is told every time, by rates.
func (r *recorder) links(x nvml.Reading) {
	switch x.Field {
	case nvml.PCIeGeneration:
		r.mb.RecordNvidiaGpuPcieGenerationDataPoint(r.ts, int64(x.Value), r.id, r.index)
	case nvml.PCIeWidth:
		r.mb.RecordNvidiaGpuPcieWidthDataPoint(r.ts, int64(x.Value), r.id, r.index)
	case nvml.PCIeReplays:
		r.mb.RecordNvidiaGpuPcieReplaysDataPoint(r.ts, int64(x.Value), r.id, r.index)
	default:
	}
	if !r.slow {
		return
	}
	link := metadata.WithNvidiaGpuNvlinkLinkMetricAttribute(int64(x.Index))
	io := func(d direction, bytes float64) {
		r.mb.RecordNvidiaGpuNvlinkIoDataPoint(r.ts, int64(bytes), r.id, r.index, d.String(), link)
	}
	switch x.Field {
	case nvml.NVLinkUp:
		r.mb.RecordNvidiaGpuNvlinkUpDataPoint(r.ts, int64(x.Value), r.id, r.index, link)
	case nvml.NVLinkSpeed:
		r.mb.RecordNvidiaGpuNvlinkSpeedDataPoint(r.ts, x.Value*mega, r.id, r.index, link)
	case nvml.NVLinkTxBytes:
		io(transmit, x.Value)
	case nvml.NVLinkRxBytes:
		io(receive, x.Value)
	case nvml.NVLinkTxData:
		io(transmit, x.Value*kibi)
	case nvml.NVLinkRxData:
		io(receive, x.Value*kibi)
	default:
		if kind := linkError(x.Field); kind != "" && x.Value > 0 {
			r.mb.RecordNvidiaGpuNvlinkErrorsDataPoint(r.ts, int64(x.Value), r.id, r.index, kind, link)
		}
	}
}

// linkErrors are the fields that count errors of links.
func linkErrors() []nvml.Field {
	return []nvml.Field{nvml.NVLinkReplays, nvml.NVLinkRecovers, nvml.NVLinkCRCFlit, nvml.NVLinkCRCData, nvml.NVLinkCRC, nvml.NVLinkECCData}
}

func linkError(f nvml.Field) string {
	switch f {
	case nvml.NVLinkReplays:
		return "replay"
	case nvml.NVLinkRecovers:
		return "recovery"
	case nvml.NVLinkCRCFlit:
		return "crc_flit"
	case nvml.NVLinkCRCData:
		return "crc_data"
	case nvml.NVLinkCRC:
		return "crc"
	case nvml.NVLinkECCData:
		return "ecc_data"
	default:
		return ""
	}
}

// rates records what PCIe and all NVLinks carry, from the best source that the GPU has. GPM and the counters see all the
// time, a look at the PCIe throughput 20 ms of it. A counter of PCIe that may have 32 bits comes last: at full speed these
// are over several times a second.
func (r *recorder) rates(d *device, f *found) {
	if !r.whole {
		return
	}
	r.pcieRates(d, f)
	r.nvlinkRates(d, f)
	for _, field := range linkErrors() {
		if total, _, _, ok := d.traffic.advanceLinks(f, field); ok {
			r.mb.RecordNvidiaGpuNvlinkErrorsDataPoint(r.ts, int64(total), r.id, r.index, linkError(field))
		}
	}
}

func (r *recorder) pcieRates(d *device, f *found) {
	elapsed := r.now.Sub(d.traffic.pcieAt)
	var counted bool
	for dir, fields := range [directions]struct{ counter, gpm, look nvml.Field }{
		transmit: {nvml.PCIeTxBytes, nvml.GPMPCIeTxRate, nvml.PCIeTxRate},
		receive:  {nvml.PCIeRxBytes, nvml.GPMPCIeRxRate, nvml.PCIeRxRate},
	} {
		name := direction(dir).String()
		var byCounter float64
		var grew bool
		if v, has := f.value(fields.counter, 0); has {
			counted = true
			m := &d.traffic.pcie[dir]
			if grown, again := m.advance(v); again {
				byCounter, grew = rate(grown, elapsed, reducedInterval+r.longest())
			}
			r.mb.RecordHwGpuIoDataPoint(r.ts, int64(m.total), r.id, r.index, name, r.named...)
		}
		perSecond, ok := f.value(fields.gpm, 0)
		perSecond *= mebi
		if !ok && grew && d.traffic.pcie[dir].last >= wrapAt {
			perSecond, ok = byCounter, true
		}
		if !ok {
			perSecond, ok = f.value(fields.look, 0)
			perSecond *= kilo
		}
		if !ok {
			perSecond, ok = byCounter, grew
		}
		if ok {
			r.mb.RecordNvidiaGpuPcieIoRateDataPoint(r.ts, perSecond, r.id, r.index, name)
		}
	}
	if counted {
		d.traffic.pcieAt = r.now
	}
}

func (r *recorder) nvlinkRates(d *device, f *found) {
	elapsed := r.now.Sub(d.traffic.nvlinkAt)
	var counted bool
	for dir := range directions {
		field := nvml.GPMNVLinkTxRate
		if dir == receive {
			field = nvml.GPMNVLinkRxRate
		}
		perSecond, ok := f.value(field, 0)
		perSecond *= mebi
		if total, grown, again, has := d.traffic.advanceNVLink(f, dir); has {
			counted = true
			if again && !ok {
				perSecond, ok = rate(grown, elapsed, reducedInterval+r.longest())
			}
			r.mb.RecordNvidiaGpuNvlinkIoDataPoint(r.ts, int64(total), r.id, r.index, dir.String())
		}
		if ok {
			r.mb.RecordNvidiaGpuNvlinkIoRateDataPoint(r.ts, perSecond, r.id, r.index, dir.String())
		}
	}
	if counted {
		d.traffic.nvlinkAt = r.now
	}
}
