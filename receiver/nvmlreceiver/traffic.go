package nvmlreceiver

import (
	"time"

	"github.com/pitwall-otel/pitwall/internal/nvml"
)

// wrapAt is where 32-bit counters of the driver begin anew.
const wrapAt = 1 << 32

// meter makes an even counter and a rate of one that wraps or begins anew.
type meter struct {
	last  float64
	known bool
	total float64 // since the first reading, which it begins with
}

// advance takes a reading and returns by how much the counter grew; false for the first one.
func (m *meter) advance(v float64) (grown float64, ok bool) {
	switch {
	case !m.known:
		m.total = v
	case v >= m.last:
		grown = v - m.last
	case m.last < wrapAt && m.last >= wrapAt/2 && v < wrapAt/2:
		grown = v + wrapAt - m.last
	default:
		// It began anew: v is what came since.
		grown = v
	}
	ok = m.known
	m.total += grown
	m.last, m.known = v, true
	return grown, ok
}

// rate is what grew per second.
func rate(grown float64, elapsed, longest time.Duration) (float64, bool) {
	if elapsed <= 0 || elapsed > longest {
		return 0, false
	}
	return grown / elapsed.Seconds(), true
}

// direction of traffic, as the GPU sees it.
type direction int

const (
	transmit direction = iota
	receive
	directions
)

func (d direction) String() string {
	if d == transmit {
		return "transmit"
	}
	return "receive"
}

// traffic is what a device's links have carried.
type traffic struct {
	pcie [directions]meter
	// links are the counters of single NVLinks: one that goes down takes its counters away, and the sum of all would fall.
	links map[linkCounter]*meter
	// pcieAt and nvlinkAt are when they were read: their classes are not asked for every time.
	pcieAt, nvlinkAt time.Time
}

type linkCounter struct {
	field nvml.Field
	link  uint16
}

// advanceLinks takes the readings of a counter of all links. It returns what they counted together, those that are down
// included, and by how much that grew, which is known with again. There is none of it with !ok.
func (t *traffic) advanceLinks(f *found, field nvml.Field) (total, grown float64, again, ok bool) {
	f.each(field, func(link uint16, v float64) {
		ok = true
		key := linkCounter{field, link}
		m := t.links[key]
		if m == nil {
			m = new(meter)
			if t.links == nil {
				t.links = map[linkCounter]*meter{}
			}
			t.links[key] = m
		}
		if more, known := m.advance(v); known {
			grown, again = grown+more, true
		}
	})
	if !ok {
		return 0, 0, false, false
	}
	for key, m := range t.links {
		if key.field == field {
			total += m.total
		}
	}
	return total, grown, again, true
}

// advanceNVLink is advanceLinks for the bytes that all links carried: bytes where the driver counts these, else KiB.
func (t *traffic) advanceNVLink(f *found, d direction) (total, grown float64, again, ok bool) {
	bytes, kib := nvml.NVLinkTxBytes, nvml.NVLinkTxData
	if d == receive {
		bytes, kib = nvml.NVLinkRxBytes, nvml.NVLinkRxData
	}
	if total, grown, again, ok = t.advanceLinks(f, bytes); ok {
		return total, grown, again, ok
	}
	total, grown, again, ok = t.advanceLinks(f, kib)
	return kibi * total, kibi * grown, again, ok
}
