package mapping

import (
	"math"
	"strconv"

	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/exposition"
	"github.com/pitwall-otel/pitwall/schema"
	"github.com/pitwall-otel/pitwall/schema/names"
)

// derive adds what a mapped series says besides: the registry's sources that are marked as derived.
func (l *line) derive(a attributes, o output) {
	registry := l.mapper.registry
	switch l.family.name {
	case "sglang:prefill_effective_tokens_total":
		mode := l.label("mode")
		whole := a.without(names.AttributeInferenceCacheTier)
		o.how = sum
		l.add(registry.Metric(names.InferencePrefixCacheLookupTokens), whole, o, mode)
		if mode != "input" {
			l.add(registry.Metric(names.InferencePrefixCacheHitTokens), whole, o, mode)
		}
	case "sglang:generation_tokens_total":
		// It moves only when a request ends. realtime_tokens_total is by rank, so one point of it rules out all of these.
		o.how = sum
		whole := a.without(names.AttributeGenAITokenType).without(names.AttributeInferenceRequestStreaming)
		to := registry.Metric(names.InferenceTokensOutput)
		p := l.output(metricKey{name: to.Name, fallback: true, kind: counter}, to.Unit, whole, o, l.label("is_streaming"))
		l.instance.rated(p, whole)
	case "sglang:full_token_usage":
		o.rank |= 1 << 48 // token_usage wins
		l.add(registry.Metric(names.InferenceKVCacheUsage), a.without(names.AttributeInferenceKVCachePool), o, "")
	case "sglang:num_paused_reqs":
		o.role = flagged
		a = append(a.without(""), attribute{names.AttributeInferenceEngineState, "paused"})
		l.add(registry.Metric(names.InferenceEngineState), a, o, "")
	case "vllm:spec_decode_num_drafts_total":
		l.drafted(a).drafts = l.last()
	case "vllm:spec_decode_num_draft_tokens_total":
		l.drafted(a).tokens = l.last()
	case "vllm:spec_decode_num_accepted_tokens_total":
		l.drafted(a).accepted = l.last()
	}
}

func (l *line) last() *point { return l.series.outputs[len(l.series.outputs)-1].point }

// fromLabels makes points of a family whose labels are its content.
func (l *line) fromLabels() {
	number := func(label string) float64 {
		v, err := strconv.ParseFloat(l.label(label), 64)
		if err != nil || v < 0 || math.IsInf(v, 0) {
			return math.NaN()
		}
		return v
	}
	pages, size := number("num_gpu_blocks"), number("block_size")
	if l.family.producer == sglang {
		pages, size = number("num_pages"), number("page_size")
	}
	// The configuration's labels are no attributes.
	var labels []exposition.Label
	for _, label := range l.labels {
		if _, ok := l.mapper.profiles[l.family.producer].Attribute(label.Name, nil); ok {
			labels = append(labels, label)
		}
	}
	for _, one := range [...]struct {
		name  string
		value float64
	}{{names.InferenceKVCachePageSize, size}, {names.InferenceKVCachePages, pages}, {names.InferenceKVCacheCapacity, pages * size}} {
		if math.IsNaN(one.value) || one.name == names.InferenceKVCacheCapacity && l.family.producer == sglang {
			continue // SGLang has a gauge for it
		}
		metric := l.mapper.registry.Metric(one.name)
		a := l.canonical(&schema.Mapping{Metric: metric}, labels)
		l.add(metric, a, output{rank: l.rank, role: labelled, scale: one.value}, "")
	}
}

// drafts are the counts of speculative decoding that belong together.
type drafts struct {
	drafts, tokens, accepted *point
	attributes               attributes
	length, rate             *point
}

func (l *line) drafted(a attributes) *drafts {
	key := a.identity()
	d := l.instance.drafts[key]
	if d == nil {
		d = &drafts{attributes: a}
		l.instance.drafts[key] = d
	}
	return d
}

// since returns how much a count grew since the scrape before, or since the engine began, and false where it did not count.
func (p *point) since(scrape uint64) (float64, bool) {
	if p == nil || p.scrape != scrape {
		return 0, false
	}
	return p.growth, true
}

// acceptance returns the mean length of accepted drafts, the token that is always right included, and the share of drafted
// tokens that was accepted, over the time since the scrape before; false without drafts in it.
func (d *drafts) acceptance(scrape uint64) (length, rate float64, ok bool) {
	n, hasDrafts := d.drafts.since(scrape)
	tokens, hasTokens := d.tokens.since(scrape)
	accepted, hasAccepted := d.accepted.since(scrape)
	if !hasDrafts || !hasTokens || !hasAccepted || n <= 0 || tokens <= 0 {
		return 0, 0, false
	}
	return 1 + accepted/n, accepted / tokens, true
}

// derive makes the points that follow from an instance as a whole.
func (t *Target) derive(i *instance) {
	if i.worker {
		t.report.Workers = append(t.report.Workers, i.address)
	}
	for _, d := range i.drafts {
		if length, rate, ok := d.acceptance(t.scrape); ok {
			t.set(&d.length, i, names.InferenceSpecDecodeAcceptLength, d.attributes, length)
			t.set(&d.rate, i, names.InferenceSpecDecodeAcceptRate, d.attributes, rate)
		}
	}
	if !i.before.IsZero() {
		for _, r := range i.rates {
			if v, ok := r.perSecond(i); ok {
				t.set(&r.point, i, r.name, r.attributes, v)
			}
		}
	}
	for _, q := range i.queues {
		if q.of.scrape == t.scrape {
			t.set(&q.point, i, names.InferenceRequestsWaitingAge, q.attributes, q.age(i.at))
		}
	}
	if i.router || i.provider == "" {
		return
	}
	provider := attributes{{names.AttributeGenAIProviderName, i.provider}}
	t.set(&i.up, i, names.InferenceEngineUp, provider, 1)
	if i.cumulative {
		t.set(&i.age, i, names.InferenceEngineCounterAge, provider, i.at.Sub(i.changed).Seconds())
	}
}

// vanish makes up = 0 for an engine that is not on the page. It reports false when there is nothing to say.
func (t *Target) vanish(i *instance) bool {
	if t.truncated {
		return false
	}
	if i.worker && i.scrape+1 == t.scrape {
		t.report.Vanished = append(t.report.Vanished, i.address)
	}
	if i.up == nil || i.up.removed {
		return false
	}
	t.set(&i.up, i, names.InferenceEngineUp, nil, 0)
	return true
}

// set gives a point that no line stands for its value, making it the first time.
func (t *Target) set(at **point, i *instance, name string, a attributes, v float64) {
	if *at == nil || (*at).removed {
		of := t.mapper.registry.Metric(name)
		*at = i.point(metricKey{name: name}, of.Unit, a)
	}
	p := *at
	p.scrape, p.touched, p.value = t.scrape, t.scrape, v
}
