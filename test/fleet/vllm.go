package fleet

import (
	"fmt"
	"strconv"
)

// writeVLLM writes what a vLLM server of the engine's version does: client_python in a single process, so with _created
// and process families; counters exist from the start.
func writeVLLM(x *exposition, e *Engine) {
	x.created, x.started = true, float64(e.life.StartedAt.UnixNano())/1e9
	x.values("python_info", "gauge", "Python platform information", series{[]label{{"implementation", "CPython"}, {"version", "3.12.11"}}, 1})
	x.values("process_start_time_seconds", "gauge", "Start time of the process since unix epoch in seconds.", series{nil, x.started})
	x.prefix = "vllm:"
	w := &vllm{exposition: x, e: e, v: e.spec.Version}
	for i, s := range e.ranks {
		labels := []label{{"model_name", e.spec.Model}}
		if w.v != VLLMV0 {
			labels = append(labels, label{"engine", strconv.Itoa(i)})
		}
		w.engines = append(w.engines, sglangRank{labels, s})
	}
	w.state()
	w.tokens()
	w.latencies()
	if w.v == VLLM026 {
		w.since026()
	}
}

type vllm struct {
	*exposition
	e       *Engine
	v       Version
	engines []sglangRank
}

func (w *vllm) each(name, kind, help string, value func(*scheduler) float64, extra ...label) {
	w.values(name, kind, help, w.seriesOf(value, extra...)...)
}

func (w *vllm) seriesOf(value func(*scheduler) float64, extra ...label) (all []series) {
	for _, r := range w.engines {
		all = append(all, series{with(r.labels, extra...), value(r.scheduler)})
	}
	return all
}

func (w *vllm) histogram(name, help string, of func(*counts) *histogram) {
	var all []distribution
	for _, r := range w.engines {
		all = append(all, distribution{r.labels, of(r.counts)})
	}
	w.histograms(name, help, all...)
}

func (w *vllm) state() {
	w.each("num_requests_running", "gauge", "Number of requests in model execution batches.", func(s *scheduler) float64 { return float64(s.gauges.running) })
	w.each("num_requests_waiting", "gauge", "Number of requests waiting to be processed.", func(s *scheduler) float64 { return float64(s.gauges.waiting) })
	usage := func(s *scheduler) float64 { return float64(s.gauges.kvTokens) / float64(s.capacity.KVTokens) }
	const help = "KV-cache usage. 1 means 100 percent usage."
	if w.v == VLLMV0 {
		w.each("num_requests_swapped", "gauge", "Number of requests swapped to CPU.", none)
		w.each("gpu_cache_usage_perc", "gauge", help, usage)
		w.each("cpu_cache_usage_perc", "gauge", help, none)
		for _, place := range []string{"cpu", "gpu"} { // a sentinel: prefix caching is off in this version
			w.each(place+"_prefix_cache_hit_rate", "gauge", "Prefix cache block hit rate.", func(*scheduler) float64 { return -1 })
		}
		w.values("lora_requests_info", "gauge", "Running stats on lora requests.",
			series{[]label{{"max_lora", "0"}, {"running_lora_adapters", ""}, {"waiting_lora_adapters", ""}}, w.started})
	} else {
		w.each("kv_cache_usage_perc", "gauge", help, usage)
	}
	const blockSize = 16
	info := []label{
		{"block_size", strconv.Itoa(blockSize)},
		{"cache_dtype", "auto"},
		{"enable_prefix_caching", "True"},
		{"num_gpu_blocks", fmt.Sprint(w.e.ranks[0].capacity.KVTokens / blockSize)},
	}
	w.each("cache_config_info", "gauge", "Information of the LLMEngine CacheConfig", func(*scheduler) float64 { return 1 }, info...)
}

func (w *vllm) tokens() {
	w.each("num_preemptions_total", "counter", "Cumulative number of preemption from the engine.", func(s *scheduler) float64 { return s.counts.preemptions })
	w.each("prompt_tokens_total", "counter", "Number of prefill tokens processed.", func(s *scheduler) float64 { return s.counts.prompt })
	w.each("generation_tokens_total", "counter", "Number of generation tokens processed.", func(s *scheduler) float64 { return s.counts.output })
	if w.v != VLLMV0 {
		w.each("prefix_cache_queries_total", "counter", "Prefix cache queries, in terms of number of queried tokens.", func(s *scheduler) float64 { return s.counts.prompt })
		w.each("prefix_cache_hits_total", "counter", "Prefix cache hits, in terms of number of cached tokens.", func(s *scheduler) float64 { return s.localHits() })
	}
	success := w.seriesOf(func(s *scheduler) float64 { return s.counts.stopped }, label{"finished_reason", "stop"})
	success = append(success, w.seriesOf(func(s *scheduler) float64 { return s.counts.cutOff }, label{"finished_reason", "length"})...)
	success = append(success, w.seriesOf(func(s *scheduler) float64 { return s.counts.aborted }, label{"finished_reason", "abort"})...)
	w.values("request_success_total", "counter", "Count of successfully processed requests.", success...)
}

// localHits are tokens of the engine's own prefix cache: what came from a prefill engine is not among them.
func (s *scheduler) localHits() float64 {
	if s.role == Decode {
		return 0
	}
	return s.counts.cached
}

func (w *vllm) latencies() {
	w.histogram("iteration_tokens_total", "Histogram of number of tokens per engine_step.", func(c *counts) *histogram { return c.iterations })
	w.histogram("time_to_first_token_seconds", "Histogram of time to first token in seconds.", func(c *counts) *histogram { return c.ttft })
	if w.v == VLLM026 {
		w.histogram("inter_token_latency_seconds", "Histogram of inter-token latency in seconds.", func(c *counts) *histogram { return c.itl })
		w.histogram("request_time_per_output_token_seconds", "Histogram of time per output token per request.", func(c *counts) *histogram { return c.perToken })
		w.histogram("request_prefill_kv_computed_tokens", "Histogram of new KV tokens computed during prefill.", func(c *counts) *histogram { return c.uncached })
	} else {
		w.histogram("time_per_output_token_seconds", "Histogram of time per output token in seconds.", func(c *counts) *histogram { return c.itl })
	}
	w.histogram("e2e_request_latency_seconds", "Histogram of e2e request latency in seconds.", func(c *counts) *histogram { return c.e2e })
	w.histogram("request_queue_time_seconds", "Histogram of time spent in WAITING phase for request.", func(c *counts) *histogram { return c.queue })
	w.histogram("request_inference_time_seconds", "Histogram of time spent in RUNNING phase for request.", func(c *counts) *histogram { return c.inference })
	w.histogram("request_prefill_time_seconds", "Histogram of time spent in PREFILL phase for request.", func(c *counts) *histogram { return c.prefill })
	w.histogram("request_decode_time_seconds", "Histogram of time spent in DECODE phase for request.", func(c *counts) *histogram { return c.decodeTime })
	w.histogram("request_prompt_tokens", "Number of prefill tokens processed.", func(c *counts) *histogram { return c.prompts })
	w.histogram("request_generation_tokens", "Number of generation tokens processed.", func(c *counts) *histogram { return c.answers })
}

func (w *vllm) since026() {
	waiting := w.seriesOf(func(s *scheduler) float64 { return float64(s.gauges.waiting) }, label{"reason", "capacity"})
	waiting = append(waiting, w.seriesOf(func(s *scheduler) float64 { return float64(s.gauges.waits) }, label{"reason", "deferred"})...)
	w.values("num_requests_waiting_by_reason", "gauge", "Number of waiting requests by reason.", waiting...)

	computed := w.seriesOf(func(s *scheduler) float64 { return s.counts.prompt - s.counts.cached }, label{"source", "local_compute"})
	computed = append(computed, w.seriesOf((*scheduler).localHits, label{"source", "local_cache_hit"})...)
	computed = append(computed, w.seriesOf(func(s *scheduler) float64 { return s.counts.cached - s.localHits() }, label{"source", "external_kv_transfer"})...)
	w.values("prompt_tokens_by_source_total", "counter", "Number of prompt tokens by source.", computed...)
	w.each("prompt_tokens_cached_total", "counter", "Number of cached prompt tokens.", func(s *scheduler) float64 { return s.counts.cached })

	var sleep []series
	for _, state := range []string{"awake", "weights_offloaded", "discard_all"} {
		sleep = append(sleep, w.seriesOf(func(*scheduler) float64 {
			if (state == "awake") != w.e.paused && state != "discard_all" {
				return 1
			}
			return 0
		}, label{"sleep_state", state})...)
	}
	w.values("engine_sleep_state", "gauge", "Engine sleep state; awake = 0 means engine is sleeping.", sleep...)
	if w.e.spec.Role == Unified {
		return
	}
	w.histogram("nixl_xfer_time_seconds", "Histogram of transfer duration for NIXL KV Cache transfers.", func(c *counts) *histogram { return c.transferTime })
	w.histogram("nixl_bytes_transferred", "Histogram of bytes transferred per NIXL KV Cache transfers.", func(c *counts) *histogram { return c.transferSize })
	for name, help := range map[string]string{
		"nixl_num_failed_transfers_total":     "Number of failed NIXL KV Cache transfers.",
		"nixl_num_failed_notifications_total": "Number of failed NIXL KV Cache notifications.",
		"nixl_num_kv_expired_reqs_total":      "Number of requests that had their KV expire.",
	} {
		w.each(name, "counter", help, none)
	}
}
