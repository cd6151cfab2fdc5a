package mapping

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/exposition"
	"github.com/pitwall-otel/pitwall/schema"
	"github.com/pitwall-otel/pitwall/schema/names"
)

// series is what one line of the page means. There are as many as lines, so it is small: of the line itself it has a hash
// and the length.
type series struct {
	hash   uint64
	length uint32
	scrape uint32 // the last one that had it
	family *family
	// instance is nil where there was none to be had.
	instance *instance
	outputs  []output
	// follower is the series that stood behind it on the page.
	follower *series
	// reason is why it means nothing.
	reason Reason
	part   exposition.Part
	// stale says that another look may find room for it.
	stale bool
}

// forgotten says that a point of it is no longer kept.
func (s *series) forgotten() bool {
	for i := range s.outputs {
		if s.outputs[i].point.removed {
			return true
		}
	}
	return s.stale || s.instance != nil && s.instance.removed
}

// judge says whether a value can be one of the series.
func (s *series) judge(v float64) Reason {
	switch s.part {
	case exposition.Created:
		return kept
	case exposition.Sum:
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			return kept // of what can be negative it is
		}
	default:
	}
	switch {
	case math.IsNaN(v):
		return DropNaN
	case math.IsInf(v, 0):
		return DropInfinite
	case v < 0 && (s.family.producer != "" || s.family.kind != exposition.Gauge && s.family.kind != exposition.Unknown):
		return DropNegative
	}
	return kept
}

// output is what a series adds to one point.
type output struct {
	point *point
	rank  rank
	// scale multiplies the series' value. With labelled it is the value.
	scale float64
	slot  int32
	how   combine
	role  role
}

// role says where an output's value comes from.
type role uint8

const (
	valued   role = iota
	labelled      // the labels say it
	flagged       // 1 for everything above 0
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
	l.derive(a, o)
}

// canonical makes the attributes of a point, and the rank of the series of the labels that do not become attributes.
func (l *line) canonical(mapping *schema.Mapping, labels []exposition.Label) attributes {
	if l.instance.provider == "" {
		l.instance.provider = l.family.provider
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
	p := l.instance.point(key, unit, a)
	if o.how == sum {
		o.slot = p.part(part)
	}
	if (l.series.part == exposition.Bucket || key.kind == summary && l.series.part == exposition.Value) && p.hist != nil {
		if math.IsNaN(l.bound) {
			l.series.reason = DropHistogram
			return p
		}
		o.slot = p.hist.slot(l.bound, o.scale)
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
	if added {
		p.unknown = true
		l.unknown++
	}
}

// choose returns the mapping whose labels the series has, and the labels that it does not consume.
func choose(mappings []schema.Mapping, labels []exposition.Label) (*schema.Mapping, []exposition.Label) {
	for i := range mappings {
		m := &mappings[i]
		var rest []exposition.Label
		met := 0
		for _, l := range labels {
			if holds(m.When, l) {
				met++
				continue
			}
			rest = append(rest, l)
		}
		if met == len(m.When) {
			return m, rest
		}
	}
	return nil, nil
}

func holds(when []schema.Condition, l exposition.Label) bool {
	for _, c := range when {
		if c.Attribute == l.Name && c.Value == l.Value {
			return true
		}
	}
	return false
}

// withoutRanks takes out the labels that tell apart what says the same: ranks become the order of preference.
func (l *line) withoutRanks(labels []exposition.Label) []exposition.Label {
	var rest []exposition.Label
	profile := l.mapper.profiles[l.family.producer]
	for _, label := range labels {
		shift := -1
		if to, ok := profile.Attribute(label.Name, nil); ok {
			switch to.Name {
			case names.AttributeInferenceRankPipeline:
				shift = 32
			case names.AttributeInferenceRankTensor:
				shift = 16
			case names.AttributeInferenceRankExpert:
				shift = 0
			}
		}
		if label.Name == "pid" {
			l.several = true
			continue
		}
		n, err := strconv.ParseUint(label.Value, 10, 16)
		if shift < 0 || err != nil {
			rest = append(rest, label)
			continue
		}
		l.rank |= rank(n) << shift
	}
	return rest
}

// label returns the value of a label as it stands there.
func (l *line) label(name string) string {
	for _, label := range l.labels {
		if label.Name == name {
			return label.Value
		}
	}
	return ""
}

// renamed returns the labels with those of older releases as the registry knows them.
func (l *line) renamed() []exposition.Label {
	if l.family.producer != sglang {
		return l.labels
	}
	labels := slices.Clone(l.labels)
	for i := range labels {
		label := &labels[i]
		switch {
		case label.Name == "name" && l.family.name != "sglang:func_latency_seconds" && l.label("model_name") == "":
			label.Name = "model_name" // until late 2024
		case label.Name == "cache_source" && strings.HasPrefix(label.Value, "storage_"):
			label.Value = "storage" // one per backend
		}
	}
	if l.family.name == "sglang:cached_tokens_total" && l.label("cache_source") == "" {
		labels = append(labels, exposition.Label{Name: "cache_source", Value: "any"})
	}
	return labels
}
