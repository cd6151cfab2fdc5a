package fleet

import "time"

// Version names the producer whose exposition an engine writes.
type Version string

// The versions, with what tells them apart: shared facts of the engines' sources, read in August 2026.
const (
	// SGLang059 is SGLang up to v0.5.9: num_prefill_prealloc_queue_reqs, KV transfers as gauges, cache_config_info.
	SGLang059 Version = "sglang-0.5.9"
	// SGLang0515 is SGLang v0.5.15: KV transfers as histograms, cache_source, no is_streaming yet.
	SGLang0515 Version = "sglang-0.5.15"
	// SGLangMain is SGLang after v0.5.15.post1: is_streaming, moe_ep_rank, queue bounds below 100 ms.
	SGLangMain Version = "sglang-main"
	// VLLMV0 is vLLM's first engine (before v0.8): no engine label, gpu_cache_usage_perc, hit rates of -1.
	VLLMV0 Version = "vllm-v0"
	// VLLM010 is vLLM v0.10: engine label, kv_cache_usage_perc, time_per_output_token_seconds for inter-token latency.
	VLLM010 Version = "vllm-0.10"
	// VLLM026 is vLLM v0.26: inter_token_latency_seconds, prompt tokens by source, NIXL where requests are handed over.
	VLLM026 Version = "vllm-0.26"
)

func (v Version) sglang() bool { return v == SGLang059 || v == SGLang0515 || v == SGLangMain }

// number is what the engine answers when it is asked for its version.
func (v Version) number() string {
	return map[Version]string{
		SGLang059: "0.5.9", SGLang0515: "0.5.15.post1", SGLangMain: "0.5.18",
		VLLMV0: "0.6.6", VLLM010: "0.10.2", VLLM026: "0.26.0",
	}[v]
}

// Role is an engine's part in prefill/decode disaggregation.
type Role string

// Unified does both; a Prefill engine hands each request to the Decode engine its Spec names.
const (
	Unified Role = "unified"
	Prefill Role = "prefill"
	Decode  Role = "decode"
)

// Spec says what one engine is. The zero values of the numbers stand for those of a small model on one GPU.
type Spec struct {
	Name    string // names the engine in the fleet and in the ledger
	Version Version
	Role    Role   // empty: Unified
	Peer    string // of a Prefill engine: the name of the Decode engine it hands its requests to
	Model   string // the model_name label; empty: Qwen/Qwen3-8B

	DataRanks      int // schedulers: DP attention of SGLang, data parallel engines of vLLM; 0: 1
	TensorRanks    int // only labels; 0: 1
	PipelineStages int // of SGLang: every stage reports the same values; 0: 1

	Load     Load
	Capacity Capacity
}

// Load is what arrives at an engine.
type Load struct {
	RequestsPerSecond float64 // on average, at random times; 0: only what Submit brings
	PromptTokens      int     // mean; 0: 512
	OutputTokens      int     // mean; 0: 256
	MaxOutputTokens   int     // longer answers are cut off (finish reason length); 0: eight times the mean
	Group             int     // requests that share one prompt, as in GRPO: all but the first hit the cache; 0: 4
	Streaming         bool    // the is_streaming label
}

// Capacity is what one scheduler can do.
type Capacity struct {
	MaxRunning       int           // requests decoded together; 0: 64
	KVTokens         int           // room of the KV cache; 0: 200,000
	PrefillPerSecond float64       // tokens; 0: 20,000
	TokenTime        time.Duration // between tokens of one request when it runs alone; 0: 12 ms
	TransferPerSec   float64       // bytes of KV cache from prefill to decode; 0: 10 GiB
}

// bytesPerToken of KV cache: 36 layers of 8 heads of 128, keys and values, two bytes each.
const bytesPerToken = 36 * 8 * 128 * 2 * 2

func (s Spec) withDefaults() Spec {
	set(&s.Role, Unified)
	set(&s.Model, "Qwen/Qwen3-8B")
	set(&s.DataRanks, 1)
	set(&s.TensorRanks, 1)
	set(&s.PipelineStages, 1)
	set(&s.Load.PromptTokens, 512)
	set(&s.Load.OutputTokens, 256)
	set(&s.Load.MaxOutputTokens, 8*s.Load.OutputTokens)
	set(&s.Load.Group, 4)
	set(&s.Capacity.MaxRunning, 64)
	set(&s.Capacity.KVTokens, 200_000)
	set(&s.Capacity.PrefillPerSecond, 20_000)
	set(&s.Capacity.TokenTime, 12*time.Millisecond)
	set(&s.Capacity.TransferPerSec, 10<<30)
	return s
}

func set[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// EveryVersion is a fleet with each version and role once, two of them as prefill and decode pairs.
func EveryVersion(requestsPerSecond float64) []Spec {
	load := Load{RequestsPerSecond: requestsPerSecond, Streaming: true}
	return []Spec{
		{Name: "sglang-old", Version: SGLang059, Load: load},
		{Name: "sglang", Version: SGLang0515, Load: load, TensorRanks: 8},
		{Name: "sglang-dp", Version: SGLangMain, Load: load, DataRanks: 4, TensorRanks: 8, PipelineStages: 2},
		{Name: "sglang-prefill", Version: SGLangMain, Role: Prefill, Peer: "sglang-decode", Load: load},
		{Name: "sglang-decode", Version: SGLangMain, Role: Decode},
		{Name: "sglang-old-prefill", Version: SGLang059, Role: Prefill, Peer: "sglang-old-decode", Load: load},
		{Name: "sglang-old-decode", Version: SGLang059, Role: Decode},
		{Name: "vllm-v0", Version: VLLMV0, Load: load},
		{Name: "vllm-0.10", Version: VLLM010, Load: load, DataRanks: 2},
		{Name: "vllm", Version: VLLM026, Load: load},
		{Name: "vllm-prefill", Version: VLLM026, Role: Prefill, Peer: "vllm-decode", Load: load},
		{Name: "vllm-decode", Version: VLLM026, Role: Decode},
	}
}
