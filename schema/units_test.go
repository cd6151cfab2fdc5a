package schema

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The values are what a person gets with a pocket calculator.
func TestConvert(t *testing.T) {
	f := func(from, to string, want float64) {
		t.Helper()
		got, ok := Convert(from, to)
		assert.True(t, ok, "%s to %s", from, to)
		assert.Equal(t, want, got, "%s to %s", from, to)
	}
	f("s", "s", 1)
	f("ms", "s", 0.001)
	f("us", "s", 0.000001)
	f("µs", "s", 0.000001)
	f("ns", "s", 0.000000001)
	f("ms", "us", 1000)
	f("min", "s", 60)
	f("h", "s", 3600)
	f("d", "h", 24)
	f("s", "h", 1.0/3600)
	f("s", "min", 1.0/60)
	f("%", "1", 0.01)
	f("1", "%", 100)
	f("percent", "%", 1)
	f("KiBy", "By", 1024)
	f("MiBy", "By", 1048576)
	f("GiBy", "By", 1073741824)
	f("GiB", "By", 1073741824)
	f("TiBy", "By", 1099511627776)
	f("kBy", "By", 1000)
	f("MBy", "By", 1000000)
	f("GBy", "By", 1000000000)
	f("GB", "By", 1000000000)
	f("TBy", "By", 1000000000000)
	f("GiBy/s", "By/s", 1073741824)
	f("bit/s", "By/s", 0.125)
	f("MHz", "Hz", 1000000)
	f("1/s", "Hz", 1)
	f("mW", "W", 0.001)
	f("mJ", "J", 0.001)
	f("kW.h", "J", 3600000)
	f("tok/s", "{token}/s", 1)
	f("tokens/min", "{token}/s", 1.0/60)
	f("{token}", "1", 1)
	f("TFLOP/s", "{operation}/s", 1000000000000)
	f("{request}/s", "{request}/min", 60)
	f("USD/h", "USD/d", 24)
}

func TestConvertRefuses(t *testing.T) {
	f := func(from, to string) {
		t.Helper()
		_, ok := Convert(from, to)
		assert.False(t, ok, "%s to %s", from, to)
	}
	f("s", "By")
	f("By/s", "By")
	f("Cel", "1")
	f("", "s")
	f("s", "")
	f("", "")
	f("furlong", "s")
	f("s/", "s")
	f("/s", "1/s")
	f("{}", "1")
	f("{a}{b}", "1")
	f("{a", "1")
}

// Rescale gives what a decimal calculator gives, and never more digits than went in.
func TestRescale(t *testing.T) {
	f := func(value float64, from, to string, want float64) {
		t.Helper()
		scale, ok := Convert(from, to)
		assert.True(t, ok)
		assert.Equal(t, want, Rescale(value, scale), "%g %s to %s", value, from, to)
	}
	f(9, "ms", "s", 0.009)
	f(1234567, "us", "s", 1.234567)
	f(3, "ns", "s", 0.000000003)
	f(83, "%", "1", 0.83)
	f(57, "%", "1", 0.57)
	f(90, "s", "min", 1.5)
	f(5400, "s", "h", 1.5)
	f(2, "GiBy", "By", 2147483648)
	f(0.25, "1", "%", 25)
	f(math.Inf(1), "ms", "s", math.Inf(1))
	assert.True(t, math.IsNaN(Rescale(math.NaN(), 0.001)))
	assert.Zero(t, Rescale(7, 0))
}

// Going there and back is the identity, for units that convert at all.
func FuzzConvert(f *testing.F) {
	for _, unit := range []string{"s", "ms", "%", "By/s", "{token}/s", "GiBy", "kW.h", "USD/h", "1", "", "//", "{a}/s/s"} {
		f.Add(unit, "s")
		f.Add("1", unit)
	}
	f.Fuzz(func(t *testing.T, from, to string) {
		there, ok := Convert(from, to)
		back, okBack := Convert(to, from)
		if ok != okBack {
			t.Fatalf("%q to %q is %v, back is %v", from, to, ok, okBack)
		}
		if ok && math.Abs(there*back-1) > 1e-12 {
			t.Fatalf("%q to %q is %g, back is %g", from, to, there, back)
		}
		if ok && from != to && !(KnownUnit(from) && KnownUnit(to)) {
			t.Fatalf("%q converts to %q, and one of them is unknown", from, to)
		}
	})
}

func BenchmarkConvert(b *testing.B) {
	b.ReportAllocs()
	for range b.N {
		Convert("MiBy/s", "By/s")
	}
}
