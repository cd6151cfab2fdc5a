package mapping

import "strings"

// Producers in the registry, which are also values of gen_ai.provider.name.
const (
	sglang = "sglang"
	vllm   = "vllm"
	router = "sglang-router"
)

// origin says whose family a name is.
type origin struct {
	// producer is "" for what nobody here knows.
	producer string
	// provider is the engine that the points are about, "" for a router's own.
	provider string
	// name is the family's in the producer's own spelling: sglang:token_usage also where a router wrote sglang_token_usage.
	name string
}

func originOf(family string) origin {
	for _, p := range [...]struct{ prefix, producer, own string }{
		{"sglang:", sglang, "sglang:"},
		{"sglang_", sglang, "sglang:"},
		{"vllm:", vllm, "vllm:"},
		{"vllm_", vllm, "vllm:"},
		{"ray_vllm_", vllm, "vllm:"},
		{"ray_vllm:", vllm, "vllm:"},
		{"smg_", router, "smg_"},
		{"sgl_router_", router, "sgl_router_"},
		{"sgl_tokenizer_", router, "sgl_tokenizer_"},
	} {
		if suffix, ok := strings.CutPrefix(family, p.prefix); ok {
			o := origin{producer: p.producer, provider: p.producer, name: p.own + suffix}
			if p.producer == router {
				o.provider = ""
			}
			return o
		}
	}
	if strings.HasPrefix(family, "http_") {
		// Of the web framework under vLLM; SGLang's have its prefix.
		return origin{producer: vllm, name: family}
	}
	return origin{name: family}
}

// matches says whether a name fits one of the patterns, in which "*" stands for any text.
func matches(patterns []string, name string) bool {
	for _, pattern := range patterns {
		if glob(pattern, name) {
			return true
		}
	}
	return false
}

func glob(pattern, text string) bool {
	literal, rest, more := strings.Cut(pattern, "*")
	if !more {
		return pattern == text
	}
	text, ok := strings.CutPrefix(text, literal)
	if !ok {
		return false
	}
	for {
		literal, rest, more = strings.Cut(rest, "*")
		if !more {
			return strings.HasSuffix(text, literal)
		}
		i := strings.Index(text, literal)
		if i < 0 {
			return false
		}
		text = text[i+len(literal):]
	}
}

// superseded says which names are older ones of a family that a release may show beside the new one: where both are there
// the new one counts. The higher the older.
func superseded(name string) uint64 {
	switch name {
	case "sglang:num_prefill_prealloc_queue_reqs", "sglang:gpu_execution_seconds_total", "sglang:engine_load_weights_time",
		"sglang:cache_config_info",
		"vllm:time_per_output_token_seconds", "vllm:gpu_cache_usage_perc":
		return 1
	case "vllm:gpu_prefix_cache_queries_total", "vllm:gpu_prefix_cache_hits_total":
		return 2
	case "vllm:gpu_prefix_cache_queries", "vllm:gpu_prefix_cache_hits":
		return 3
	case "vllm:prefix_cache_queries", "vllm:prefix_cache_hits":
		return 1
	}
	return 0
}
