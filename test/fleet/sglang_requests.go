package fleet

import "strconv"

// disaggregation writes the families of prefill and decode engines. KV transfers are measured at the prefill engine: the
// last one as gauges up to v0.5.9, all as histograms of the same names after it.
func (w *sglang) disaggregation() {
	bootstrap := "num_prefill_bootstrap_queue_reqs"
	if w.v == SGLang059 {
		bootstrap = "num_prefill_prealloc_queue_reqs"
	}
	if w.e.spec.Role == Decode {
		w.gauge("num_decode_prealloc_queue_reqs", "The number of requests in the decode prealloc queue.", func(s *scheduler) float64 { return float64(s.gauges.prealloc) })
		w.gauge("num_decode_transfer_queue_reqs", "The number of requests in the decode transfer queue.", func(s *scheduler) float64 { return float64(s.gauges.waits) })
		if w.v != SGLang059 {
			w.gauge("pending_prealloc_token_usage", "The token usage of requests that wait for room.", none)
		}
		return
	}
	w.gauge(bootstrap, "The number of requests in the prefill bootstrap queue.", func(s *scheduler) float64 { return float64(s.gauges.bootstrap) })
	w.gauge("num_prefill_inflight_queue_reqs", "The number of requests in the prefill inflight queue.", func(s *scheduler) float64 { return float64(s.gauges.inflight) })
	for _, f := range []struct {
		name, help string
		last       func(*counts) float64
		all        func(*counts) *histogram
	}{
		{"kv_transfer_latency_ms", "The latency of KV transfers in ms.", func(c *counts) float64 { return c.lastTransfer }, func(c *counts) *histogram { return c.transferTime }},
		{"kv_transfer_bootstrap_ms", "The bootstrap time of KV transfers in ms.", func(c *counts) float64 { return c.lastTransfer / 4 }, func(c *counts) *histogram { return c.bootstrap }},
		{"kv_transfer_alloc_ms", "The time waiting for KV allocation in ms.", func(c *counts) float64 { return c.lastTransfer / 8 }, func(c *counts) *histogram { return c.alloc }},
		{"kv_transfer_speed_gb_s", "The speed of KV transfers in GB/s.", func(c *counts) float64 { return c.lastSpeed }, func(c *counts) *histogram { return c.transferSpeed }},
		{"kv_transfer_total_mb", "The size of KV transfers in MB.", func(c *counts) float64 { return c.lastSize }, func(c *counts) *histogram { return c.transferSize }},
	} {
		if w.v == SGLang059 {
			w.gauge(f.name, f.help, func(s *scheduler) float64 { return f.last(s.counts) })
		} else {
			w.histograms(f.name, f.help, w.distributionsOf(f.all)...)
		}
	}
}

// requests writes the tokenizer's families. They move only when a request has finished.
func (w *sglang) requests() {
	all := newCounts(w.v)
	for _, s := range w.e.ranks {
		all.addFinished(s.counts)
	}
	finished := all.stopped + all.cutOff
	labels := w.tokenizer
	if w.v == SGLangMain {
		labels = with(labels, label{"is_streaming", strconv.FormatBool(w.e.spec.Load.Streaming)})
	}
	counter := func(name, help string, labels []label, value float64) {
		if value > 0 {
			w.values(name, "counter", help, series{labels, value})
		}
	}
	counter("prompt_tokens_total", "Number of prefill tokens processed.", labels, all.prompt)
	counter("generation_tokens_total", "Number of generation tokens processed.", labels, all.output)
	counter("num_requests_total", "Number of requests processed.", labels, finished)
	counter("num_aborted_requests_total", "Number of requests aborted.", w.tokenizer, all.aborted)
	switch {
	case all.cached == 0:
	case w.v == SGLang059:
		counter("cached_tokens_total", "Number of cached prompt tokens.", w.tokenizer, all.cached)
	default: // total repeats the others
		w.values("cached_tokens_total", "counter", "Number of cached prompt tokens.",
			series{with(w.tokenizer, label{"cache_source", "device"}), all.cached},
			series{with(w.tokenizer, label{"cache_source", "total"}), all.cached})
	}
	histogram := func(name, help string, labels []label, h *histogram) {
		if h.count() > 0 {
			w.histograms(name, help, distribution{labels, h})
		}
	}
	histogram("time_to_first_token_seconds", "Histogram of time to first token in seconds.", labels, all.ttft)
	histogram("e2e_request_latency_seconds", "Histogram of End-to-end request latency in seconds", labels, all.e2e)
	histogram("inter_token_latency_seconds", "Histogram of inter-token latency in seconds.", w.tokenizer, all.itl)
	if w.v == SGLang059 {
		return
	}
	histogram("prompt_tokens_histogram", "Histogram of prompt token length.", w.tokenizer, all.prompts)
	histogram("uncached_prompt_tokens_histogram", "Histogram of uncached prompt token length.", w.tokenizer, all.uncached)
	histogram("generation_tokens_histogram", "Histogram of generation token length.", w.tokenizer, all.answers)
	if finished > 0 {
		w.values("http_requests_total", "counter", "Total number of HTTP requests by endpoint and method.",
			series{[]label{{"endpoint", "/generate"}, {"method", "POST"}}, finished + all.aborted})
		w.values("http_responses_total", "counter", "Total number of HTTP responses.",
			series{[]label{{"endpoint", "/generate"}, {"method", "POST"}, {"status_code", "200"}}, finished})
	}
}

// addFinished adds what one tokenizer counts for the requests of several schedulers.
func (c *counts) addFinished(o *counts) {
	c.prompt += o.prompt
	c.cached += o.cached
	c.output += o.output
	c.stopped += o.stopped
	c.cutOff += o.cutOff
	c.aborted += o.aborted
	c.ttft.merge(o.ttft)
	c.e2e.merge(o.e2e)
	c.itl.merge(o.itl)
	c.prompts.merge(o.prompts)
	c.uncached.merge(o.uncached)
	c.answers.merge(o.answers)
}

func (h *histogram) merge(o *histogram) {
	h.sum += o.sum
	for i, n := range o.buckets {
		h.buckets[i] += n
	}
}
