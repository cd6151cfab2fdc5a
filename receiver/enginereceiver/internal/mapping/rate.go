package mapping

import (
	"time"

	"github.com/pitwall-otel/pitwall/schema/names"
)

// rate is how fast the counts of several points grow together.
type rate struct {
	name       string
	attributes attributes
	of         []*point
	point      *point
}

// rated lets a count's growth become a rate, where there is one for its metric.
func (i *instance) rated(p *point, a attributes) {
	var name, kind string
	if p.rate != nil {
		return
	}
	switch p.metric.name {
	case names.InferenceTokensOutput:
		name, kind = names.InferenceTokensRate, "output"
	case names.InferenceTokensPrefill:
		name, kind = names.InferenceTokensRate, "input"
	case names.InferenceRequestsFinished:
		name = names.InferenceRequestsRate
	default:
		return
	}
	a = a.without(names.AttributeInferenceCacheTier).without(names.AttributeInferenceFinishReason).without(names.AttributeInferenceRequestStreaming)
	if kind != "" {
		a.add(names.AttributeGenAITokenType, kind)
	}
	key := name + a.identity()
	r := i.rates[key]
	if r == nil {
		r = &rate{name: name, attributes: a}
		i.rates[key] = r
	}
	r.of, p.rate = append(r.of, p), r
}

// perSecond is the growth since the scrape before, of an instance that both have. It reports false when none of the counts
// is in the scrape.
func (r *rate) perSecond(i *instance) (float64, bool) {
	grown, found := 0.0, false
	for _, p := range r.of {
		if p.scrape != i.scrape {
			continue
		}
		found = true
		if p.prior.IsZero() || p.prior.Equal(i.before) {
			grown += p.growth
		}
	}
	elapsed := i.at.Sub(i.before)
	return grown / elapsed.Seconds(), found && elapsed > 0
}

// queue is how long requests have been waiting, of one gauge.
type queue struct {
	of, point  *point
	attributes attributes
	since      time.Time
}

// queued lets the gauge of waiting requests have an age.
func (i *instance) queued(p *point, a attributes) {
	if p.metric.name == names.InferenceRequestsWaiting && i.queues[p.identity] == nil {
		i.queues[p.identity] = &queue{of: p, attributes: a}
	}
}

// age is the time since the gauge was 0 at a scrape, or since it was first seen.
func (q *queue) age(at time.Time) float64 {
	if q.of.value == 0 || q.since.IsZero() {
		q.since = at
	}
	return at.Sub(q.since).Seconds()
}
