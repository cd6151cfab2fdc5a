package mapping

import (
	"strings"

	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/exposition"
	"github.com/pitwall-otel/pitwall/schema"
)

// family is what all series of one name and TYPE have in common.
type family struct {
	origin
	// declared is the TYPE line's, kind is what it is.
	declared, kind exposition.Type
	// reason is why none of its series becomes a point.
	reason Reason
	// mappings are the registry's, none for a family that passes under its own name only.
	mappings []schema.Mapping
	// part is what the samples of an untyped histogram are; Value leaves it to the sample.
	part exposition.Part
	// content says that the labels are what the family is about, and the value is not.
	content bool
	// starts says that the value is when the process started.
	starts bool
	// used is the last scrape that had it, seen the last with a point of it.
	used, seen uint64
}

// family finds out what a name means. There is no state in it, so it costs the same each time: keep it.
func (m *Mapper) family(name string, kind exposition.Type) *family {
	f := &family{origin: originOf(name), declared: kind, kind: kind}
	if name == "process_start_time_seconds" {
		f.starts = true
		return f
	}
	switch {
	case strings.HasPrefix(name, "python_"), strings.HasPrefix(name, "process_"):
		f.reason = DropRuntime
		return f
	case kind == exposition.Unknown:
		f.splitUntyped(m)
	}
	switch {
	case !m.allowed(f.name):
		f.reason = DropDenied
	case f.name == "vllm:cache_config_info", f.name == "sglang:cache_config_info":
		f.content = true
	default:
		var known bool
		f.mappings, known = m.mappings(f)
		switch {
		case known && f.mappings == nil:
			f.reason = DropType
		case known:
		case strings.HasSuffix(f.name, "_info"):
			f.reason = DropInfo
		case strings.HasSuffix(f.name, "_created") && kind == exposition.Gauge:
			f.reason = DropCreated
		case kind == exposition.GaugeHistogram:
			f.reason = DropType
		}
	}
	return f
}

func (m *Mapper) allowed(name string) bool {
	o := &m.options
	return (len(o.Allow) == 0 || matches(o.Allow, name)) && !matches(o.Deny, name)
}

// splitUntyped recognises the samples of a histogram whose TYPE line is missing.
func (f *family) splitUntyped(m *Mapper) {
	for _, s := range [...]struct {
		suffix string
		part   exposition.Part
	}{{"_bucket", exposition.Bucket}, {"_sum", exposition.Sum}, {"_count", exposition.Count}} {
		base, ok := strings.CutSuffix(f.name, s.suffix)
		if !ok || f.producer == "" {
			continue
		}
		whole := family{origin: f.origin, declared: f.declared, kind: exposition.Histogram}
		whole.name = base
		if found, _ := m.mappings(&whole); found != nil {
			*f = whole
			f.part = s.part
			return
		}
	}
}

// mappings returns what the registry knows under the name for this TYPE; known is true when it knows the name at all.
func (m *Mapper) mappings(f *family) (found []schema.Mapping, known bool) {
	profile := m.profiles[f.producer]
	if profile == nil {
		return nil, false
	}
	for _, t := range [...]schema.SourceType{sourceType(f.kind), schema.Counter, schema.Gauge, schema.Histogram} {
		mappings := profile.Metric(f.name, t)
		if len(mappings) == 0 {
			continue
		}
		known = true
		if fits(f.kind, mappings[0].Metric.Instrument) {
			return mappings, true
		}
	}
	if known || f.kind != exposition.Counter && f.kind != exposition.Unknown {
		return nil, known
	}
	// Some exporters leave out _total, some add it.
	other, ok := strings.CutSuffix(f.name, "_total")
	if !ok {
		other += "_total"
	}
	mappings := profile.Metric(other, schema.Counter)
	if len(mappings) == 0 || mappings[0].Metric.Instrument != "counter" {
		return nil, false
	}
	return mappings, true
}

func sourceType(kind exposition.Type) schema.SourceType {
	switch kind {
	case exposition.Counter:
		return schema.Counter
	case exposition.Histogram:
		return schema.Histogram
	case exposition.Summary:
		return schema.Summary
	case exposition.Gauge, exposition.Info, exposition.StateSet:
		return schema.Gauge
	default:
		return schema.AnyType
	}
}

// fits says whether a family of this TYPE can be the instrument. A missing TYPE line leaves it to the registry, whose
// histograms splitUntyped finds.
func fits(kind exposition.Type, instrument string) bool {
	switch kind {
	case exposition.Counter:
		return instrument == "counter"
	case exposition.Histogram:
		return instrument == "histogram"
	case exposition.Gauge, exposition.Info, exposition.StateSet:
		return instrument == "gauge"
	case exposition.Unknown:
		return instrument == "counter" || instrument == "gauge"
	default:
		return false
	}
}
