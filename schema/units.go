package schema

import (
	"math"
	"strings"
)

// Convert returns the factor by which a value in one unit becomes a value in another, and whether there is one: "ms" to
// "s" is 0.001. Units are UCUM; spellings that producers use ("sec", "tokens", "GiB") are understood on either side.
// GB, GBy, MB … are powers of 1000; a producer that says GB and divides by 1024 must be given GiBy in the registry.
// A unit that nobody knows still converts to itself. A count in braces and "1" convert into each other: UCUM gives text in braces no meaning.
func Convert(from, to string) (scale float64, ok bool) {
	if from == to {
		return 1, from != ""
	}
	a, okA := parseUnit(from)
	b, okB := parseUnit(to)
	if !okA || !okB || a.dimension != b.dimension {
		return 0, false
	}
	return a.times * b.over / (a.over * b.times), true
}

// Rescale multiplies a value by a scale from Convert. Where the scale is one over a whole number it divides instead,
// which is the nearest float64 to the true value: 9 ms are 0.009 s, and not 0.009000000000000001 s.
func Rescale(value, scale float64) float64 {
	if scale < 1 && scale > 0 {
		if whole := math.Round(1 / scale); 1/whole == scale {
			return value / whole
		}
	}
	return value * scale
}

// KnownUnit reports whether the text is a unit that Convert understands.
func KnownUnit(text string) bool {
	_, ok := parseUnit(text)
	return ok
}

// unit says what a value is worth in the dimension's base unit: value*times/over, both whole numbers, so that a
// conversion rounds once. dimension is "time", "data", "" for pure numbers, "data/time" for a rate, "/time" for Hz.
type unit struct {
	dimension   string
	times, over float64
}

// parseUnit reads one unit or several with "/" between them: "By/s", "{token}/s/{gpu}".
func parseUnit(text string) (unit, bool) {
	first, rest, more := strings.Cut(text, "/")
	u, ok := unitOf(first)
	for ok && more {
		var part string
		part, rest, more = strings.Cut(rest, "/")
		var under unit
		under, ok = unitOf(part)
		u.times, u.over = u.times*under.over, u.over*under.times
		if under.dimension != "" {
			u.dimension += "/" + under.dimension
		}
	}
	return u, ok
}

// unitOf knows a unit without "/". A switch needs no table to be built at start.
func unitOf(text string) (unit, bool) {
	if len(text) > 2 && text[0] == '{' && strings.IndexByte(text, '}') == len(text)-1 {
		return unit{"", 1, 1}, true
	}
	switch text {
	case "1", "ratio", "fraction", "count", "token", "tokens", "tok", "req", "reqs", "requests":
		return unit{"", 1, 1}, true
	case "%", "percent", "pct", "perc":
		return unit{"", 1, 100}, true
	case "FLOP", "FLOPs", "flop":
		return unit{"", 1, 1}, true
	case "GFLOP", "GFLOPs":
		return unit{"", 1e9, 1}, true
	case "TFLOP", "TFLOPs":
		return unit{"", 1e12, 1}, true
	case "PFLOP", "PFLOPs":
		return unit{"", 1e15, 1}, true
	}
	for _, table := range [...]func(string) (unit, bool){timeUnit, dataUnit, physicalUnit} {
		if u, ok := table(text); ok {
			return u, true
		}
	}
	return unit{}, false
}

func timeUnit(text string) (unit, bool) {
	switch text {
	case "ns":
		return unit{"time", 1, 1e9}, true
	case "us", "µs", "μs":
		return unit{"time", 1, 1e6}, true
	case "ms", "msec":
		return unit{"time", 1, 1e3}, true
	case "s", "sec", "second", "seconds":
		return unit{"time", 1, 1}, true
	case "min", "minute", "minutes":
		return unit{"time", 60, 1}, true
	case "h", "hour", "hours":
		return unit{"time", 3600, 1}, true
	case "d", "day", "days":
		return unit{"time", 86400, 1}, true
	}
	return unit{}, false
}

func dataUnit(text string) (unit, bool) {
	switch text {
	case "By", "B", "byte", "bytes":
		return unit{"data", 1, 1}, true
	case "bit":
		return unit{"data", 1, 8}, true
	case "kBy", "KBy", "kB", "KB":
		return unit{"data", 1e3, 1}, true
	case "MBy", "MB":
		return unit{"data", 1e6, 1}, true
	case "GBy", "GB":
		return unit{"data", 1e9, 1}, true
	case "TBy", "TB":
		return unit{"data", 1e12, 1}, true
	case "KiBy", "KiB":
		return unit{"data", 1 << 10, 1}, true
	case "MiBy", "MiB":
		return unit{"data", 1 << 20, 1}, true
	case "GiBy", "GiB":
		return unit{"data", 1 << 30, 1}, true
	case "TiBy", "TiB":
		return unit{"data", 1 << 40, 1}, true
	}
	return unit{}, false
}

func physicalUnit(text string) (unit, bool) {
	switch text {
	case "Hz":
		return unit{"/time", 1, 1}, true
	case "kHz":
		return unit{"/time", 1e3, 1}, true
	case "MHz":
		return unit{"/time", 1e6, 1}, true
	case "GHz":
		return unit{"/time", 1e9, 1}, true
	case "W":
		return unit{"power", 1, 1}, true
	case "mW":
		return unit{"power", 1, 1e3}, true
	case "kW":
		return unit{"power", 1e3, 1}, true
	case "J":
		return unit{"energy", 1, 1}, true
	case "mJ":
		return unit{"energy", 1, 1e3}, true
	case "kJ":
		return unit{"energy", 1e3, 1}, true
	case "W.h", "Wh":
		return unit{"energy", 3600, 1}, true
	case "kW.h", "kWh":
		return unit{"energy", 3.6e6, 1}, true
	case "V":
		return unit{"voltage", 1, 1}, true
	case "mV":
		return unit{"voltage", 1, 1e3}, true
	case "A":
		return unit{"current", 1, 1}, true
	case "Cel":
		return unit{"temperature", 1, 1}, true
	case "USD":
		return unit{"money", 1, 1}, true
	case "rpm", "{revolution}/min":
		return unit{"rotation", 1, 1}, true
	}
	return unit{}, false
}
