package expositiontest

import (
	"bytes"
	"fmt"
	"strconv"
)

// VLLM returns the exposition of one vLLM 0.26 server with that many data-parallel engines, about 40 KB and 370 samples
// for each. Counters grow with tick by amounts of their own.
func VLLM(engines, tick int) []byte {
	w := &writer{engines: engines, tick: tick}
	for _, name := range []string{"num_requests_running", "num_requests_waiting", "kv_cache_usage_perc"} {
		w.family(name, "gauge", "")
	}
	w.family("num_requests_waiting_by_reason", "gauge", `reason="capacity"`, `reason="deferred"`)
	w.family("engine_sleep_state", "gauge", `sleep_state="awake"`, `sleep_state="weights_offloaded"`, `sleep_state="discard_all"`)
	for _, name := range []string{
		"prompt_tokens", "generation_tokens", "prompt_tokens_cached", "prefix_cache_queries", "prefix_cache_hits",
		"external_prefix_cache_queries", "external_prefix_cache_hits", "mm_cache_queries", "mm_cache_hits", "num_preemptions",
		"estimated_flops_per_gpu", "estimated_read_bytes_per_gpu", "estimated_write_bytes_per_gpu",
	} {
		w.family(name+"_total", "counter", "")
	}
	w.family("prompt_tokens_by_source_total", "counter",
		`source="local_compute"`, `source="local_cache_hit"`, `source="external_kv_transfer"`)
	w.family("request_success_total", "counter", `finished_reason="stop"`, `finished_reason="length"`,
		`finished_reason="abort"`, `finished_reason="error"`, `finished_reason="repetition"`)
	w.histogram("time_to_first_token_seconds", .001, .005, .01, .02, .04, .06, .08, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40,
		80, 160, 640, 2560)
	for _, name := range []string{"inter_token_latency_seconds", "request_time_per_output_token_seconds"} {
		w.histogram(name, .01, .025, .05, .075, .1, .15, .2, .3, .4, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80)
	}
	for _, name := range []string{"e2e_request_latency", "request_queue_time", "request_inference_time", "request_prefill_time", "request_decode_time"} {
		w.histogram(name+"_seconds", .3, .5, .8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680)
	}
	w.histogram("iteration_tokens_total", 1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384)
	for _, name := range []string{
		"request_prompt_tokens", "request_generation_tokens", "request_max_num_generation_tokens", "request_params_max_tokens",
		"request_prefill_kv_computed_tokens",
	} {
		w.histogram(name, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5)
	}
	w.histogram("request_params_n", 1, 2, 5, 10, 20)
	return w.Bytes()
}

type writer struct {
	bytes.Buffer
	engines, tick, families int
}

func (w *writer) head(name, kind string) {
	w.families++
	fmt.Fprintf(w, "# HELP vllm:%s What vLLM counts as %s.\n# TYPE vllm:%s %s\n", name, name, name, kind)
}

func (w *writer) family(name, kind string, labels ...string) {
	w.head(name, kind)
	for engine := range w.engines {
		for i, label := range labels {
			if label != "" {
				label = "," + label
			}
			value := float64(w.families + engine + i)
			if kind == "counter" {
				value *= float64(1000 * (w.tick + 1))
			}
			fmt.Fprintf(w, "vllm:%s{engine=\"%d\"%s,model_name=\"/data/models/Qwen3-30B-A3B-FP8\"} %s\n", name, engine, label, float(value))
		}
	}
}

func (w *writer) histogram(name string, bounds ...float64) {
	w.head(name, "histogram")
	for engine := range w.engines {
		labels := fmt.Sprintf(`engine="%d",model_name="/data/models/Qwen3-30B-A3B-FP8"`, engine)
		count := 0
		for i, bound := range bounds {
			count += (w.tick + 1) * (i%5 + engine%3)
			fmt.Fprintf(w, "vllm:%s_bucket{engine=\"%d\",le=\"%s\",model_name=\"/data/models/Qwen3-30B-A3B-FP8\"} %d.0\n",
				name, engine, float(bound), count)
		}
		fmt.Fprintf(w, "vllm:%s_bucket{engine=\"%d\",le=\"+Inf\",model_name=\"/data/models/Qwen3-30B-A3B-FP8\"} %d.0\n", name, engine, count+1)
		fmt.Fprintf(w, "vllm:%s_count{%s} %d.0\n", name, labels, count+1)
		fmt.Fprintf(w, "vllm:%s_sum{%s} %s\n", name, labels, float(float64(count)*1.371236112))
	}
}

// float is a number as Python prints it.
func float(v float64) string {
	s := strconv.FormatFloat(v, 'g', -1, 64)
	if v == float64(int64(v)) && v < 1e16 {
		s = strconv.FormatFloat(v, 'f', 1, 64)
	}
	return s
}
