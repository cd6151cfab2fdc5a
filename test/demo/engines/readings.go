package engines

import (
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/pitwall-otel/pitwall/test/demo/simulation"
	"github.com/pitwall-otel/pitwall/test/fleet"
)

// readings adds what a scrape of every engine would bring.
func (e *Engines) readings(c *simulation.Chunk, at time.Time) {
	for replica, engine := range e.engines() {
		r := reading{c: c, by: e.processes[replica], at: at, since: e.read, lifeFrom: e.born}
		r.sglang = e.spec.EngineKind == "sglang"
		r.base = []simulation.Attribute{{Key: "gen_ai.provider.name", Value: e.spec.EngineKind}, {Key: "gen_ai.request.model", Value: engine.Spec().Model}}
		if r.sglang {
			r.base = append(r.base, simulation.Attribute{Key: "inference.role", Value: string(engine.Spec().Role)})
		}
		collection := simulation.Collection{
			Component: "engine", Target: net.JoinHostPort(r.by.Server, strconv.FormatInt(r.by.Port, 10)), Seconds: 0.004,
		}
		if !engine.Alive() {
			r.base = r.base[:1]
			r.put(simulation.Gauge, "inference.engine.up", "1", 0)
			c.Collected(r.by, at, collection)
			continue
		}
		totals := engine.Totals()
		e.totals[replica] = totals
		if count := totals.ComputedTokens + totals.RepeatedTokens + totals.DecodedTokens + totals.Finished; count != e.moved[replica].count {
			e.moved[replica] = movement{at, count}
		}
		r.put(simulation.Gauge, "inference.engine.counter.age", "s", at.Sub(e.moved[replica].at).Seconds())
		r.gauges(totals)
		r.counters(totals)
		if engine.Spec().Role != fleet.Unified {
			r.queues(totals, engine.Spec().Role)
		}
		now := engine.Histograms()
		r.histograms(now, e.before[replica])
		e.before[replica] = now
		collection.Metrics, collection.Families = 40, 25
		c.Collected(r.by, at, collection)
	}
	e.read = at
}

type reading struct {
	c                   *simulation.Chunk
	by                  *simulation.Process
	at, since, lifeFrom time.Time
	sglang              bool
	base                []simulation.Attribute
}

func (r reading) put(kind simulation.Kind, metric, unit string, value float64, more ...simulation.Attribute) {
	r.c.Points = append(r.c.Points, simulation.Point{
		By: r.by, Time: r.at, Metric: metric, Unit: unit, Kind: kind, Since: r.lifeFrom, Value: value,
		Attributes: slices.Concat(r.base, more),
	})
}

func (r reading) gauges(t fleet.Totals) {
	put := func(metric, unit string, value float64, more ...simulation.Attribute) {
		r.put(simulation.Gauge, metric, unit, value, more...)
	}
	put("inference.engine.up", "1", 1)
	put("inference.requests.running", "{request}", float64(t.Running))
	put("inference.requests.waiting", "{request}", float64(t.Waiting))
	put("inference.kv_cache.usage", "1", float64(t.KVTokens)/float64(t.KVCapacity))
	put("inference.kv_cache.capacity", "{token}", float64(t.KVCapacity))
	paused, awake := 0.0, 1.0
	if t.Paused {
		paused, awake = 1, 0
	}
	if r.sglang {
		put("inference.engine.state", "1", paused, simulation.Attribute{Key: "inference.engine.state", Value: "paused"})
		if t.WeightUpdate > 0 {
			put("inference.weights.load.duration", "s", t.WeightUpdate.Seconds(), simulation.Attribute{Key: "inference.weights.source", Value: "distributed"})
		}
		return
	}
	put("inference.engine.state", "1", awake, simulation.Attribute{Key: "inference.engine.state", Value: "awake"})
	put("inference.engine.state", "1", paused, simulation.Attribute{Key: "inference.engine.state", Value: "weights_offloaded"})
}

func (r reading) counters(t fleet.Totals) {
	put := func(metric, unit string, value int64, more ...simulation.Attribute) {
		r.put(simulation.Counter, metric, unit, float64(value), more...)
	}
	tier := func(name string) simulation.Attribute {
		return simulation.Attribute{Key: "inference.cache.tier", Value: name}
	}
	prompt := t.ComputedTokens + t.CachedTokens
	put("inference.tokens.prompt", "{token}", t.ComputedTokens, tier("none"))
	put("inference.tokens.prompt", "{token}", t.CachedTokens, tier("device"))
	put("inference.preemptions", "{preemption}", t.Preemptions)
	if r.sglang {
		put("inference.tokens.output", "{token}", t.DecodedTokens)
		put("inference.prefix_cache.lookup_tokens", "{token}", prompt)
		put("inference.prefix_cache.hit_tokens", "{token}", t.CachedTokens)
		put("inference.requests.finished", "{request}", t.Finished, simulation.Attribute{Key: "inference.request.streaming", Value: false})
		return
	}
	reason := func(name string) simulation.Attribute {
		return simulation.Attribute{Key: "inference.finish_reason", Value: name}
	}
	put("inference.tokens.output", "{token}", t.Output)
	put("inference.prefix_cache.lookup_tokens", "{token}", prompt, tier("device"))
	put("inference.prefix_cache.hit_tokens", "{token}", t.CachedTokens, tier("device"))
	put("inference.requests.finished", "{request}", t.Finished-t.CutOff, reason("stop"))
	put("inference.requests.finished", "{request}", t.CutOff, reason("length"))
	put("inference.requests.finished", "{request}", t.Aborted, reason("abort"))
}

func (r reading) queues(t fleet.Totals, role fleet.Role) {
	put := func(queue string, value int) {
		r.put(simulation.Gauge, "inference.pd.queue.requests", "{request}", float64(value), simulation.Attribute{Key: "inference.pd.queue", Value: queue})
	}
	if !r.sglang {
		for _, kind := range []string{"transfer", "notification", "expired"} {
			r.put(simulation.Counter, "inference.pd.failures", "{request}", 0, simulation.Attribute{Key: "error.type", Value: kind})
		}
		return
	}
	if role == fleet.Prefill {
		put("prefill_bootstrap", t.Bootstrap)
		put("prefill_inflight", t.Inflight)
		return
	}
	put("decode_prealloc", t.Prealloc)
	put("decode_transfer", t.Transferring)
}

func (r reading) histograms(now, before fleet.Histograms) {
	streaming := simulation.Attribute{Key: "inference.request.streaming", Value: false}
	operation := simulation.Attribute{Key: "gen_ai.operation.name", Value: "text_completion"}
	served := []simulation.Attribute{operation}
	if r.sglang {
		served = append(served, streaming)
	}
	for _, one := range []struct {
		metric, unit string
		now, before  fleet.Histogram
		with         []simulation.Attribute
	}{
		{"gen_ai.server.time_to_first_token", "s", now.FirstToken, before.FirstToken, served},
		{"gen_ai.server.request.duration", "s", now.EndToEnd, before.EndToEnd, served},
		{"inference.inter_token_latency", "s", now.BetweenTokens, before.BetweenTokens, nil},
		{"inference.request.queue.duration", "s", now.QueueTime, before.QueueTime, nil},
		{"inference.request.prompt_tokens", "{token}", now.PromptTokens, before.PromptTokens, nil},
		{"inference.request.output_tokens", "{token}", now.OutputTokens, before.OutputTokens, nil},
		{"inference.pd.kv_transfer.alloc.duration", "s", now.TransferWaits, before.TransferWaits, nil},
		{"inference.pd.kv_transfer.throughput", "By/s", now.TransferSpeed, before.TransferSpeed, nil},
		{"inference.pd.kv_transfer.duration", "s", now.Transfers, before.Transfers, nil},
		{"inference.pd.kv_transfer.size", "By", now.TransferredBytes, before.TransferredBytes, nil},
	} {
		h := simulation.Histogram{
			By: r.by, Since: r.since, Time: r.at, Metric: one.metric, Unit: one.unit, Bounds: one.now.Bounds,
			Counts: make([]uint64, len(one.now.Counts)), Sum: one.now.Sum - one.before.Sum,
			Attributes: slices.Concat(r.base, one.with),
		}
		observed := false
		for i, n := range one.now.Counts {
			h.Counts[i] = n - one.before.Counts[i]
			observed = observed || h.Counts[i] > 0
		}
		if observed {
			r.c.Histograms = append(r.c.Histograms, h)
		}
	}
}
