package mapping

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/exposition"
	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/expositiontest"
)

// A megabyte, as a router in front of SGLang engines answers it and as vLLM engines do, scrape after scrape.
func BenchmarkMap(b *testing.B) {
	f := func(name string, bodies ...[]byte) {
		b.Run(name, func(b *testing.B) {
			target := newTarget(b, nil)
			at, turn := noon(), 0
			target.Map(exposition.NewReader(bodies[0], "text/plain", exposition.DefaultLimits()), at)
			b.SetBytes(int64(len(bodies[0])))
			b.ReportAllocs()
			var report *Report
			for b.Loop() {
				at = at.Add(5 * time.Second)
				turn++
				_, report = target.Map(exposition.NewReader(bodies[turn%len(bodies)], "text/plain", exposition.DefaultLimits()), at)
			}
			b.ReportMetric(float64(report.Samples), "samples")
			b.ReportMetric(float64(report.Points), "points")
		})
	}
	f("sglang behind a router", []byte(sglangRouterPage(12)))
	f("vllm", expositiontest.VLLM(24, 1))
	// The first line differs, so that the reader must look at all of them.
	f("vllm, unlike the page before", append([]byte("# A\n"), expositiontest.VLLM(24, 1)...),
		append([]byte("# B\n"), expositiontest.VLLM(24, 2)...))
}

// sglangRouterPage has the families, labels and bounds of an SGLang engine with tensor parallelism, about 85 KB each.
func sglangRouterPage(workers int) string {
	var b strings.Builder
	labels := func(w int, more string) string {
		return fmt.Sprintf(`{engine_type="unified",model_name="Qwen/Qwen3-30B-A3B-Instruct-2507",moe_ep_rank="0"%s,pp_rank="0",tp_rank="0",worker_addr="http://10.0.0.%d:15000"`, more, w)
	}
	for name := range strings.FieldsSeq("num_running_reqs num_queue_reqs num_used_tokens token_usage full_token_usage gen_throughput " +
		"num_grammar_queue_reqs kv_available_tokens kv_evictable_tokens kv_used_tokens decode_sum_seq_lens spec_accept_length " +
		"spec_accept_rate max_total_num_tokens page_size num_pages context_len weight_load_duration_seconds num_paused_reqs " +
		"new_token_ratio utilization is_cuda_graph cache_hit_rate lora_pool_slots_used") {
		fmt.Fprintf(&b, "# HELP sglang_%s The number of something in the engine.\n# TYPE sglang_%s gauge\n", name, name)
		for w := range workers {
			fmt.Fprintf(&b, "sglang_%s%s} %d\n", name, labels(w, ""), 17+w)
		}
	}
	for name, modes := range map[string]string{
		"realtime_tokens_total": "prefill_compute prefill_cache decode", "prefill_effective_tokens_total": "input device_hit host_hit storage_hit",
		"cuda_graph_passes_total": "decode_cuda_graph decode_none prefill_cuda_graph prefill_none", "prompt_tokens_total": "x",
		"generation_tokens_total": "x", "num_requests_total": "x", "num_retracted_requests_total": "x", "evicted_tokens_total": "x",
	} {
		fmt.Fprintf(&b, "# HELP sglang_%s Counted.\n# TYPE sglang_%s counter\n", name, name)
		for w := range workers {
			for mode := range strings.FieldsSeq(modes) {
				more := ""
				if mode != "x" {
					more = fmt.Sprintf(`,mode="%s"`, mode)
				}
				fmt.Fprintf(&b, "sglang_%s%s} %d\n", name, labels(w, more), 1234567+w)
			}
		}
	}
	for name, n := range map[string]int{
		"queue_time_seconds": 40, "time_to_first_token_seconds": 18, "inter_token_latency_seconds": 23, "e2e_request_latency_seconds": 22,
		"prompt_tokens_histogram": 35, "uncached_prompt_tokens_histogram": 35, "generation_tokens_histogram": 35, "per_stage_req_latency_seconds": 30,
		"eviction_duration_seconds": 23,
	} {
		fmt.Fprintf(&b, "# HELP sglang_%s Distribution.\n# TYPE sglang_%s histogram\n", name, name)
		for w := range workers {
			stages := []string{""}
			if name == "per_stage_req_latency_seconds" {
				stages = []string{`,stage="request_process"`, `,stage="prefill_forward"`, `,stage="decode_waiting"`, `,stage="quick_finish"`}
			}
			for _, stage := range stages {
				base := labels(w, stage)
				for i := range n {
					fmt.Fprintf(&b, "sglang_%s_bucket%s,le=\"%v\"} %d\n", name, base, float64(i+1)/8, 10*i)
				}
				fmt.Fprintf(&b, "sglang_%s_bucket%s,le=\"+Inf\"} %d\nsglang_%s_sum%s} %v\nsglang_%s_count%s} %d\n", name, base, 10*n, name, base, 1234.5, name, base, 10*n)
			}
		}
	}
	return b.String()
}

// The first page of a target, whose labels must be decoded and looked up.
func BenchmarkFirstPage(b *testing.B) {
	body := []byte(sglangRouterPage(12))
	m := newTarget(b, nil)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		m.mapper.NewTarget(m.identity).Map(exposition.NewReader(body, "text/plain", exposition.DefaultLimits()), noon())
	}
}
