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
	pcie   [directions]meter
	nvlink [directions]meter
	// pcieAt and nvlinkAt are when they were read: their classes are not asked for every time.
	pcieAt, nvlinkAt time.Time
}

// nvlinkBytes is what all links together have carried: bytes where the driver counts these, else KiB.
func nvlinkBytes(f *found, d direction) (float64, bool) {
	bytes, kib := nvml.NVLinkTxBytes, nvml.NVLinkTxData
	if d == receive {
		bytes, kib = nvml.NVLinkRxBytes, nvml.NVLinkRxData
	}
	if total, ok := f.sum(bytes); ok {
		return total, true
	}
	total, ok := f.sum(kib)
	return 1024 * total, ok
}
