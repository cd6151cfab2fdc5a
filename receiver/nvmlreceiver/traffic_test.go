package nvmlreceiver

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/pitwall-otel/pitwall/internal/nvml"
)

func TestMeter(t *testing.T) {
	f := func(name string, wantTotal, wantGrown float64, readings ...float64) {
		t.Run(name, func(t *testing.T) {
			var m meter
			var grown float64
			for n, v := range readings {
				var again bool
				grown, again = m.advance(v)
				assert.Equal(t, n > 0, again)
			}
			assert.Equal(t, wantTotal, m.total)
			assert.Equal(t, wantGrown, grown)
		})
	}
	f("the first says nothing of growth", 100, 0, 100)
	f("grows", 150, 50, 100, 150)
	f("stands still", 100, 0, 100, 100)
	f("wraps at 32 bits", 1<<32+200, 300, 1<<32-100, 200)
	f("begins anew", 1030, 30, 1000, 30)
	f("64 bits that begin anew do not wrap", 1<<40+30, 30, 1<<40, 30)
	f("a half full counter that falls to more than half began anew", 3<<30+3<<30-1, 3<<30-1, 3<<30, 3<<30-1)
}

const pcieRate = "nvidia.gpu.pcie.io_rate"

func TestPCIeRate(t *testing.T) {
	f := func(name string, want float64, before, after *gpu) {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil)
			b.collectAfter(0, answer(before))
			b.cadence.pcieRate = true
			requireValue(t, want, b.collectAfter(10*time.Second, answer(after)), pcieRate, "transmit")
		})
	}
	with := func(bytes float64) *gpu { return a100(0).at(nvml.PCIeTxBytes, 0, bytes) }
	f("GPM before all", 1024*mib, h100(0), h100(0))
	f("a wide counter before a look", 1e9, with(1e12), with(1.01e12))
	f("a look before a counter that may be narrow", 512e6, with(1e6), with(2e6))
	f("a narrow counter where there is nothing else", 1e5, with(1e6).absent(nvml.Unsupported, nvml.PCIeTxRate), with(2e6).absent(nvml.Unsupported, nvml.PCIeTxRate))
}

// Each look holds the driver up for 20 ms, so it is asked for only where nothing else tells.
func TestLooksAreAskedForWhereNeeded(t *testing.T) {
	f := func(name string, want bool, g *gpu) {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil)
			b.collectAfter(0, answer(g))
			b.collectAfter(10*time.Second, answer(g))
			assert.Equal(t, want, b.driver.requests[1].Classes&nvml.ClassPCIeRate != 0)
			assert.Zero(t, b.driver.requests[0].Classes&nvml.ClassPCIeRate, "not before it is known that it is needed")
		})
	}
	f("Hopper", false, h100(0))
	f("Hopper, whose first look comes later", false, h100(0).absent(nvml.NotYet, nvml.GPMPCIeTxRate, nvml.GPMPCIeRxRate).at(nvml.PCIeTxBytes, 0, 1))
	f("Ampere", true, a100(0))
	f("a wide counter", false, a100(0).at(nvml.PCIeTxBytes, 0, 1e12).at(nvml.PCIeRxBytes, 0, 1e12))
}

func TestPCIeCounterWraps(t *testing.T) {
	b := newBench(t, nil)
	b.collectAfter(0, answer(h100(0)))
	requireValue(t, 4_294_967_296+704, b.collectAfter(10*time.Second, answer(h100(0).at(nvml.PCIeTxBytes, 0, 704))), "hw.gpu.io", "transmit")
}

func TestNVLinkRateFromCounters(t *testing.T) {
	b := newBench(t, nil)
	b.collectAfter(0, answer(a100(0)))
	g := a100(0).at(nvml.NVLinkTxData, 2, 1<<30+10_000)
	requireValue(t, 1024*1000, b.collectAfter(10*time.Second, answer(g)), "nvidia.gpu.nvlink.io_rate", "transmit")
	requireValue(t, 91_000*mib, newBench(t, nil).collectAfter(0, answer(h100(0))), "nvidia.gpu.nvlink.io_rate", "receive")
}

// A link that goes down takes its counters away; what it carried stays carried, and the others carry no more than they do.
func TestNVLinkGoesDown(t *testing.T) {
	b := newBench(t, nil)
	link := func(number uint16, kib, replays float64) []nvml.Reading {
		return []nvml.Reading{{Field: nvml.NVLinkTxData, Index: number, Value: kib}, {Field: nvml.NVLinkReplays, Index: number, Value: replays}}
	}
	collect := func(links ...[]nvml.Reading) pmetric.Metrics {
		g := a100(0)
		g.Readings = slices.DeleteFunc(g.Readings, func(x nvml.Reading) bool { return x.Field.Class() == nvml.ClassNVLink })
		g.Readings = append(g.Readings, slices.Concat(links...)...)
		slices.SortFunc(g.Readings, func(a, b nvml.Reading) int {
			return cmp.Or(cmp.Compare(a.Field, b.Field), cmp.Compare(a.Index, b.Index))
		})
		return b.collectAfter(10*time.Second, answer(g))
	}
	require := func(bytes, rate, replays float64, metrics pmetric.Metrics) {
		t.Helper()
		of := "hw.id=" + h100(0).UUID + ", "
		assert.Contains(t, render(metrics), fmt.Sprintf("nvidia.gpu.nvlink.io{%snetwork.io.direction=transmit, rl.device.index=0} = %.0f By", of, bytes))
		assert.Contains(t, render(metrics), fmt.Sprintf("nvidia.gpu.nvlink.errors{%snvidia.gpu.nvlink.error=replay, rl.device.index=0} = %.0f {error}", of, replays))
		requireValue(t, rate, metrics, "nvidia.gpu.nvlink.io_rate", "transmit")
	}
	collect(link(0, 5000, 3), link(1, 7000, 0))
	require(1024*12_100, 1024*10, 3, collect(link(0, 5000, 3), link(1, 7100, 0)))
	require(1024*12_200, 1024*10, 3, collect(link(1, 7200, 0)))
	require(1024*12_300, 1024*10, 4, collect(link(0, 5100, 4), link(1, 7200, 0)))
}
