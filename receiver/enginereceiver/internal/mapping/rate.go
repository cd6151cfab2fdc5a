package mapping

import (
	"slices"

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
	key := name + a.sorted().identity()
	r := i.rates[key]
	if r == nil {
		r = &rate{name: name, attributes: a}
		i.rates[key] = r
	}
	if !slices.Contains(r.of, p) {
		r.of = append(r.of, p)
	}
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
