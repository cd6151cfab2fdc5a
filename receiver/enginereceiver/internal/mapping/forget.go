package mapping

import (
	"hash/maphash"
	"slices"

	"github.com/pitwall-otel/pitwall/schema/names"
)

// forget drops what was not on the page for ForgetAfter scrapes. It looks once in as many.
func (t *Target) forget() {
	patience := uint64(t.mapper.options.ForgetAfter)
	if t.scrape%patience != 0 {
		return
	}
	for hash, s := range t.series {
		if uint64(s.scrape)+patience <= t.scrape {
			delete(t.series, hash)
		}
		s.stale = s.reason == DropMaxUnknown || s.reason == DropMaxWorkers
	}
	for key, f := range t.families {
		if f.used+patience <= t.scrape {
			delete(t.families, key)
		}
	}
	t.ordered = slices.DeleteFunc(t.ordered, func(i *instance) bool {
		gone := i.scrape+patience <= t.scrape
		i.removed = gone && i.worker // the page's own engine is still asked for
		i.complete = i.complete && !gone
		t.forgetPoints(i)
		if i.removed {
			delete(t.instances, i.key)
		}
		return i.removed
	})
}

func (t *Target) forgetPoints(i *instance) {
	i.metrics = slices.DeleteFunc(i.metrics, func(m *metric) bool {
		m.points = slices.DeleteFunc(m.points, func(p *point) bool { return t.forgetPoint(i, p) })
		if len(m.points) == 0 {
			delete(i.named, m.metricKey)
		}
		return len(m.points) == 0
	})
	for key, r := range i.rates {
		if r.of = slices.DeleteFunc(r.of, (*point).gone); len(r.of) == 0 {
			delete(i.rates, key)
		}
	}
	for key, q := range i.queues {
		if q.of.gone() {
			delete(i.queues, key)
		}
	}
	for key, d := range i.drafts {
		if d.drafts.gone() && d.tokens.gone() && d.accepted.gone() {
			delete(i.drafts, key)
		}
	}
}

// maxForgotten bounds what is remembered of forgotten counts.
const maxForgotten = 10_000

// remember keeps that there was a count: when it comes back it is not new, or it would be counted twice.
func (i *instance) remember(identity string) {
	if len(i.counted) < maxForgotten {
		i.counted[maphash.String(i.seed, identity)] = struct{}{}
		return
	}
	i.lossy = true
}

// recall says whether there may have been a count before, and no longer remembers it: its point does.
func (i *instance) recall(identity string) bool {
	hash := maphash.String(i.seed, identity)
	_, known := i.counted[hash]
	delete(i.counted, hash)
	return known || i.lossy
}

func (p *point) gone() bool { return p == nil || p.removed }

func (t *Target) forgetPoint(i *instance, p *point) bool {
	missed := p.touched+uint64(t.mapper.options.ForgetAfter) <= t.scrape
	if !i.removed && !missed && (p.hist == nil || !p.hist.littered()) {
		return false
	}
	p.removed = true
	delete(i.points, p.identity)
	if p.cumulative() {
		i.remember(p.identity)
	}
	if p.unknown {
		t.unknown--
	}
	return true
}

// expect fills in what the page as a whole has and lacks.
func (t *Target) expect() {
	for _, f := range t.families {
		if f.seen != t.scrape || f.mappings != nil || f.content || f.starts {
			continue
		}
		t.report.Unknown++
	}
	present := map[string]bool{}
	for _, i := range t.ordered {
		if i.scrape != t.scrape {
			continue
		}
		if i.provider != "" {
			t.report.Provider = i.provider
		} else if i.router && t.report.Provider == "" {
			t.report.Provider = router
		}
		t.each(i, func(m *metric, _ *point) { present[m.name] = present[m.name] || !m.original })
	}
	expected := expected(t.report.Provider)
	t.report.Expected = len(expected)
	for _, name := range expected {
		if !present[name] {
			t.report.Missing = append(t.report.Missing, name)
		}
	}
}

// expected are the metrics that a page of that kind has after the first request, in every release.
func expected(provider string) []string {
	switch provider {
	case sglang:
		return []string{
			names.InferenceRequestsRunning, names.InferenceRequestsWaiting, names.InferenceKVCacheUsage,
			names.InferenceTokensOutput, names.InferenceTokensFinished, names.InferenceRequestsFinished,
			names.GenAIServerTimeToFirstToken, names.GenAIServerRequestDuration, names.InferenceInterTokenLatency,
		}
	case vllm:
		return []string{
			names.InferenceRequestsRunning, names.InferenceRequestsWaiting, names.InferenceKVCacheUsage,
			names.InferenceKVCacheCapacity, names.InferenceTokensOutput, names.InferenceTokensPrefill,
			names.InferenceRequestsFinished, names.InferencePreemptions, names.InferenceRequestQueueDuration,
			names.GenAIServerTimeToFirstToken, names.GenAIServerRequestDuration, names.InferenceInterTokenLatency,
		}
	case router:
		return []string{names.InferenceRouterRequests, names.InferenceRouterRequestDuration, names.InferenceRouterWorkers}
	default:
		return nil
	}
}
