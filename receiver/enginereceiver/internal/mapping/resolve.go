package mapping

import (
	"math"
	"strconv"

	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/exposition"
	"github.com/pitwall-otel/pitwall/schema"
	"github.com/pitwall-otel/pitwall/schema/names"
)

// line is a series while it is looked at.
type line struct {
	*Target
	series *series
	family *family
	labels []exposition.Label
	bound  float64
	rank   rank
	// several says that several processes write the same.
	several  bool
	instance *instance
}

// resolve finds out what a series means. The labels are overwritten.
func (t *Target) resolve(f *family, part exposition.Part, labels []exposition.Label) *series {
	s := &series{family: f, part: part, reason: f.reason}
	if f.part != exposition.Value {
		s.part = f.part
	}
	if s.reason == kept && f.kind == exposition.Histogram && s.part == exposition.Value {
		s.reason = DropHistogram // the family's bare name
	}
	if s.reason != kept {
		return s
	}
	l := line{Target: t, series: s, family: f, bound: math.NaN(), rank: rank(superseded(f.name) << 48)}
	worker, outside := "", f.producer == router
	for _, label := range labels {
		switch {
		case label.Value == "":
			// A router that pads labels means that there is none, and an empty priority is the total.
		case label.Name == "worker_addr":
			worker = workerAddress(label.Value)
		case label.Name == "le" && s.part == exposition.Bucket, label.Name == "quantile" && f.kind == exposition.Summary:
			if v, err := strconv.ParseFloat(label.Value, 64); err == nil && !math.IsInf(v, -1) {
				l.bound = v
			}
		default:
			// The router of vLLM's production stack has names of the engines for its own view of them.
			outside = outside || label.Name == "server" && f.producer == vllm
			l.labels = append(l.labels, label)
		}
	}
	if l.instance = t.instance(worker, outside); l.instance == nil {
		s.reason = DropMaxWorkers
		return s
	}
	s.instance = l.instance
	switch {
	case f.starts:
	case f.content:
		l.fromLabels()
	case f.mappings == nil || outside && f.producer == vllm:
		l.original(true)
	default:
		l.mapped()
		if s.reason == kept && t.mapper.options.KeepOriginal {
			l.original(false)
		}
	}
	if len(s.outputs) == 0 && !f.starts && s.reason == kept {
		s.reason = DropInfo
	}
	return s
}

// mapped makes the outputs of a series that the registry knows.
func (l *line) mapped() {
	f := l.family
	mapping, rest := choose(f.mappings, l.renamed())
	if mapping == nil {
		l.series.reason = DropLabel
		return
	}
	a := l.canonical(mapping, rest)
	o := output{rank: l.rank, scale: mapping.Scale}
	switch {
	case l.several:
		o.how = largest
	case f.name == "sglang:cached_tokens_total":
		o.how = sum // of the storage tier's backends
	}
	p := l.add(mapping.Metric, a, o, l.label("cache_source"))
	l.instance.rated(p, a)
	l.instance.queued(p, a)
	l.derive(a, o)
}

// canonical makes the attributes of a point, and the rank of the series of the labels that do not become attributes.
func (l *line) canonical(mapping *schema.Mapping, labels []exposition.Label) attributes {
	if p := l.family.provider; p != "" && p != l.instance.provider {
		// The first one, or today another program has yesterday's address.
		l.instance.provider, l.instance.up, l.instance.age = p, nil, nil
	}
	a := l.mapper.canonical(l.family, mapping.Metric, mapping.Set, l.withoutRanks(labels))
	if role, ok := l.identity.Attributes.Get(names.AttributeInferenceRole); ok && l.family.provider != "" {
		a.add(names.AttributeInferenceRole, role.AsString())
	}
	return a
}

// add makes the point that an output goes to. part tells apart what is summed up in one point.
func (l *line) add(to *schema.Metric, a attributes, o output, part string) *point {
	kind := gauge
	switch to.Instrument {
	case "counter":
		kind = counter
	case "histogram":
		kind = histogram
	}
	return l.output(metricKey{name: to.Name, kind: kind}, to.Unit, a, o, part)
}

func (l *line) output(key metricKey, unit string, a attributes, o output, part string) *point {
	p, ok := l.instance.point(key, unit, a), true
	if o.how == sum {
		o.slot, ok = p.part(part)
	}
	if (l.series.part == exposition.Bucket || key.kind == summary && l.series.part == exposition.Value) && p.hist != nil {
		if math.IsNaN(l.bound) {
			l.series.reason = DropHistogram
			return p
		}
		o.slot, ok = p.hist.slot(l.bound, o.scale)
	}
	if !ok {
		l.series.reason = DropMaxSeries
		return p
	}
	o.point = p
	if l.series.outputs == nil {
		l.series.outputs = make([]output, 0, 1)
	}
	l.series.outputs = append(l.series.outputs, o)
	return p
}

// original makes the output of a series under its own name; unknown ones are limited.
func (l *line) original(unknown bool) {
	f := l.family
	key := metricKey{name: f.name, original: true}
	switch f.kind {
	case exposition.Counter:
		key.kind = counter
	case exposition.Histogram:
		key.kind = histogram
	case exposition.Summary:
		key.kind = summary
	default:
	}
	a := verbatim(l.labels)
	if f.provider != "" {
		a.add(names.AttributeGenAIProviderName, f.provider)
	}
	if l.instance.router {
		a.add(names.AttributeInferenceScope, "router")
	}
	added := unknown && l.instance.find(key, a) == nil
	if added && l.unknown >= l.mapper.options.MaxUnknown {
		l.series.reason = DropMaxUnknown
		return
	}
	p := l.output(key, "", a, output{scale: 1}, "")
	p.metric.unknown = unknown
	if added {
		p.unknown = true
		l.unknown++
	}
}
