package fleet

import (
	"fmt"
	"math"
	"strconv"
)

// writeSGLang writes what an SGLang server of the engine's version does: merged by client_python's multiprocess mode,
// so with _sum before the buckets and without _created.
func writeSGLang(x *exposition, e *Engine) {
	x.prefix, x.sumFirst = "sglang:", true
	w := &sglang{exposition: x, e: e, v: e.spec.Version}
	w.tokenizer = []label{{"model_name", e.spec.Model}, {"engine_type", string(e.spec.Role)}}
	for i, s := range e.ranks {
		for stage := range e.spec.PipelineStages {
			w.schedulers = append(w.schedulers, sglangRank{w.rankLabels(i, stage), s})
		}
	}
	w.state()
	w.memory()
	w.work()
	w.queueTimes()
	if e.spec.Role != Unified {
		w.disaggregation()
	}
	w.requests()
	w.constants()
}

type sglang struct {
	*exposition
	e          *Engine
	v          Version
	schedulers []sglangRank
	tokenizer  []label
}

type sglangRank struct {
	labels []label
	*scheduler
}

// rankLabels: with DP attention the tensor rank changes together with the data rank; only the first tensor rank of each
// attention group reports.
func (w *sglang) rankLabels(data, stage int) []label {
	labels := with(w.tokenizer,
		label{"tp_rank", strconv.Itoa(data * max(1, w.e.spec.TensorRanks/w.e.spec.DataRanks))}, label{"pp_rank", strconv.Itoa(stage)})
	if w.v == SGLangMain {
		labels = append(labels, label{"moe_ep_rank", "0"})
	}
	if w.e.spec.DataRanks > 1 {
		labels = append(labels, label{"dp_rank", strconv.Itoa(data)})
	}
	return labels
}

// gauge writes a family of every scheduler that has reported: a gauge that was never set is absent.
func (w *sglang) gauge(name, help string, value func(*scheduler) float64, extra ...label) {
	var all []series
	for _, r := range w.schedulers {
		if r.gauges.set {
			all = append(all, series{with(r.labels, extra...), value(r.scheduler)})
		}
	}
	w.values(name, "gauge", help, all...)
}

// modes writes a counter with one label; a series that was never used is absent unless the producer makes it at once.
func (w *sglang) modes(name, help, key string, seeded bool, modes ...mode) {
	var all []series
	for _, r := range w.schedulers {
		for _, m := range modes {
			value := m.value(r.counts)
			if value == 0 && !seeded {
				continue
			}
			labels := r.labels
			if key != "" {
				labels = with(r.labels, label{key, m.name})
			}
			all = append(all, series{labels, value})
		}
	}
	w.values(name, "counter", help, all...)
}

type mode struct {
	name  string
	value func(*counts) float64
}

func (w *sglang) state() {
	w.gauge("num_running_reqs", "The number of running requests.", func(s *scheduler) float64 { return float64(s.gauges.running) })
	w.gauge("num_queue_reqs", "The number of requests in the waiting queue.", func(s *scheduler) float64 { return float64(s.gauges.waiting) })
	w.gauge("num_grammar_queue_reqs", "The number of requests in the grammar waiting queue.", none)
	w.gauge("gen_throughput", "The generation throughput (token/s).", func(s *scheduler) float64 { return s.gauges.throughput })
	// The scheduler forces it to 0 with each report while it decodes: of no use, and what every version serves.
	w.gauge("cache_hit_rate", "The prefix cache hit rate.", func(s *scheduler) float64 {
		if s.gauges.running > 0 {
			return 0
		}
		return s.gauges.hitRate
	})
	w.gauge("utilization", "The utilization.", none)
	if w.v == SGLang059 {
		w.gauge("num_running_reqs_offline_batch", "The number of running low-priority offline batch requests.", none)
		return
	}
	w.gauge("decode_sum_seq_lens", "The sum of all sequence lengths in decode.", func(s *scheduler) float64 { return float64(s.gauges.sumLengths) })
	w.gauge("fwd_occupancy", "Share of the time that the device computes: NaN without its timer.", func(*scheduler) float64 { return math.NaN() })
	w.gauge("is_cuda_graph", "Whether the batch is using CUDA graph.", func(*scheduler) float64 { return 1 })
	w.gauge("new_token_ratio", "The new token ratio.", func(*scheduler) float64 { return 0.4 })
	pid := label{"pid", strconv.Itoa(4100 + w.e.life.Number*37)}
	w.gauge("num_retracted_reqs", "The number of retracted requests.", none, pid)
	w.gauge("num_paused_reqs", "The number of requests paused by an update of the weights.", func(s *scheduler) float64 {
		if w.e.paused {
			return float64(len(s.running))
		}
		return 0
	}, pid)
	w.routingKeys()
	if w.e.weights > 0 {
		w.gauge("weight_load_duration_seconds", "Duration of the last update of the weights.",
			func(*scheduler) float64 { return w.e.weights.Seconds() }, label{"source", "distributed"})
	}
}

func none(*scheduler) float64 { return 0 }

// routingKeys is a gauge with gt and le: counts of keys per range, not cumulative, and no histogram.
func (w *sglang) routingKeys() {
	edges := []string{"0", "1", "2", "3", "5", "7", "10", "20", "50", "100", "200", "+Inf"}
	var all []series
	for _, r := range w.schedulers {
		for i := range edges[1:] {
			all = append(all, series{with(r.labels, label{"gt", edges[i]}, label{"le", edges[i+1]}), 0})
		}
	}
	w.values("routing_key_running_req_count", "gauge", "Routing keys by how many requests run with them.", all...)
}

func (w *sglang) memory() {
	usage := func(s *scheduler) float64 { return float64(s.gauges.kvTokens) / float64(max(1, s.gauges.kvCapacity)) }
	used := func(s *scheduler) float64 { return float64(s.gauges.kvTokens) }
	w.gauge("token_usage", "The token usage.", usage)
	w.gauge("num_used_tokens", "The number of used tokens.", used)
	if w.v == SGLang059 {
		return
	}
	w.gauge("full_token_usage", "The token usage of the full attention pool.", usage)
	w.gauge("kv_used_tokens", "Tokens in use.", used)
	w.gauge("kv_available_tokens", "Tokens of free room.", func(s *scheduler) float64 {
		return 0.7 * float64(s.gauges.kvCapacity-s.gauges.kvTokens)
	})
	w.gauge("kv_evictable_tokens", "Tokens that may be evicted.", func(s *scheduler) float64 {
		return 0.3 * float64(s.gauges.kvCapacity-s.gauges.kvTokens)
	})
}

func (w *sglang) work() {
	w.modes("realtime_tokens_total", "Total number of tokens processed (updated on each log interval).", "mode", false,
		mode{"prefill_compute", func(c *counts) float64 { return c.computed + c.again }},
		mode{"prefill_cache", func(c *counts) float64 { return c.hit }},
		mode{"decode", func(c *counts) float64 { return c.decoded }})
	execution := "forward_execution_seconds_total"
	if w.v == SGLang059 {
		execution = "gpu_execution_seconds_total"
	}
	w.modes(execution, "Total time that the device spent executing a workload.", "category", false,
		mode{"forward_extend", func(c *counts) float64 { return c.computed / 20_000 }},
		mode{"forward_decode", func(c *counts) float64 { return c.decoded / 2_000 }})
	w.modes("cuda_graph_passes_total", "Total number of forward passes.", "mode", false,
		mode{"decode_cuda_graph", func(c *counts) float64 { return math.Floor(c.decoded / 8) }},
		mode{"prefill_none", func(c *counts) float64 { return math.Floor(c.computed / 512) }})
	if w.v != SGLang059 {
		w.modes("prefill_effective_tokens_total", "Prompt tokens by where they came from: repeated prefills are left out.", "mode", true,
			mode{"input", func(c *counts) float64 { return c.computed }},
			mode{"device_hit", func(c *counts) float64 { return c.hit }},
			mode{"host_hit", func(*counts) float64 { return 0 }},
			mode{"storage_hit", func(*counts) float64 { return 0 }})
	}
	w.modes("num_retracted_requests_total", "Total number of retracted requests.", "", false, mode{value: func(c *counts) float64 { return c.preemptions }})
	w.modes("num_retracted_input_tokens_total", "Total number of retracted input tokens.", "", false, mode{value: func(c *counts) float64 { return c.preIn }})
	w.modes("num_retracted_output_tokens_total", "Total number of retracted output tokens.", "", false, mode{value: func(c *counts) float64 { return c.preOut }})
}

// distributionsOf a histogram of each scheduler, once it has been used.
func (w *sglang) distributionsOf(of func(*counts) *histogram, extra ...label) (all []distribution) {
	for _, r := range w.schedulers {
		if h := of(r.counts); h.count() > 0 {
			all = append(all, distribution{with(r.labels, extra...), h})
		}
	}
	return all
}

func (w *sglang) queueTimes() {
	w.histograms("queue_time_seconds", "Histogram of queueing time in seconds.", w.distributionsOf(func(c *counts) *histogram { return c.queue })...)
	w.histograms("per_stage_req_latency_seconds", "The latency of each stage of requests.",
		w.distributionsOf(func(c *counts) *histogram { return c.prefill }, label{"stage", "prefill_forward"})...)
}

func (w *sglang) constants() {
	w.gauge("max_total_num_tokens", "Maximum total number of tokens in the KV cache pool.", func(s *scheduler) float64 { return float64(s.capacity.KVTokens) })
	if w.v == SGLang059 {
		w.values("cache_config_info", "gauge", "Information of the cache configuration.", series{append(w.tokenizer[:2:2],
			label{"page_size", "1"}, label{"num_pages", fmt.Sprint(w.e.spec.Capacity.KVTokens)}), 1})
		w.values("engine_startup_time", "gauge", "The time taken for the engine to start up.", series{w.tokenizer, 61.25})
		w.values("engine_load_weights_time", "gauge", "The time taken for the engine to load weights.", series{w.tokenizer, 14.5})
		return
	}
	w.gauge("page_size", "The page size.", func(*scheduler) float64 { return 1 })
	w.gauge("num_pages", "The number of pages.", func(s *scheduler) float64 { return float64(s.capacity.KVTokens) })
	w.gauge("context_len", "The context length.", func(*scheduler) float64 { return 40_960 })
	var phases []series
	for phase, seconds := range map[string]float64{"load_weight": 14.5, "scheduler_e2e": 61.25} {
		phases = append(phases, series{with(w.tokenizer, label{"phase", phase}), seconds})
	}
	w.values("startup_time_seconds", "gauge", "Time of each phase of the start.", phases...)
}
