package fleet

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
)

// label is a name and a value; a series' labels are written in the order of their names, as client_python does.
type label struct{ name, value string }

// with returns more labels without touching those given.
func with(labels []label, more ...label) []label { return slices.Concat(labels, more) }

// exposition is text in the classic format, written as client_python writes it.
type exposition struct {
	bytes.Buffer
	prefix   string
	sumFirst bool    // multiprocess mode: _sum before the buckets
	created  bool    // single-process mode: a _created gauge for each counter and histogram
	started  float64 // what they say: Unix time
}

func (x *exposition) family(name, kind, help string) {
	x.WriteString("# HELP " + x.prefix + name + " " + help + "\n# TYPE " + x.prefix + name + " " + kind + "\n")
}

func (x *exposition) sample(name string, labels []label, value float64) {
	x.WriteString(x.prefix + name)
	if len(labels) > 0 {
		sorted := slices.SortedFunc(slices.Values(labels), func(a, b label) int { return cmp.Compare(a.name, b.name) })
		for i, l := range sorted {
			x.WriteByte("{,"[min(i, 1)])
			x.WriteString(l.name + `="` + escape(l.value) + `"`)
		}
		x.WriteByte('}')
	}
	x.WriteString(" " + number(value) + "\n")
}

func escape(value string) string {
	if !strings.ContainsAny(value, "\\\n\"") {
		return value
	}
	return strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`).Replace(value)
}

// number writes as Python does: 13.0, 0.71, 8.128902e+06, +Inf, NaN.
func number(value float64) string {
	switch {
	case math.IsNaN(value):
		return "NaN"
	case math.IsInf(value, 0):
		return strconv.FormatFloat(value, 'f', -1, 64)
	case math.Abs(value) >= 1e6 || value != 0 && math.Abs(value) < 1e-4:
		return strconv.FormatFloat(value, 'e', -1, 64)
	}
	text := strconv.FormatFloat(value, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

// series is one labelled value of a family.
type series struct {
	labels []label
	value  float64
}

func (x *exposition) values(name, kind, help string, all ...series) {
	if len(all) == 0 {
		return
	}
	x.family(name, kind, help)
	for _, s := range all {
		x.sample(name, s.labels, s.value)
	}
	if x.created && kind == "counter" {
		base := strings.TrimSuffix(name, "_total")
		x.family(base+"_created", "gauge", help)
		for _, s := range all {
			x.sample(base+"_created", s.labels, x.started)
		}
	}
}

// distribution is one labelled histogram of a family.
type distribution struct {
	labels []label
	*histogram
}

func (x *exposition) histograms(name, help string, all ...distribution) {
	if len(all) == 0 {
		return
	}
	x.family(name, "histogram", help)
	for _, d := range all {
		if x.sumFirst {
			x.sample(name+"_sum", d.labels, d.sum)
		}
		var count uint64
		for i, n := range d.buckets {
			count += n
			bound := "+Inf"
			if i < len(d.bounds) {
				bound = number(d.bounds[i])
			}
			x.sample(name+"_bucket", append(slices.Clone(d.labels), label{"le", bound}), float64(count))
		}
		x.sample(name+"_count", d.labels, float64(count))
		if !x.sumFirst {
			x.sample(name+"_sum", d.labels, d.sum)
		}
	}
	if x.created {
		x.family(name+"_created", "gauge", help)
		for _, d := range all {
			x.sample(name+"_created", d.labels, x.started)
		}
	}
}
