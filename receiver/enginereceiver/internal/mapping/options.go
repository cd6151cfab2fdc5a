package mapping

import (
	"errors"
	"fmt"
	"slices"
)

// Options are what all targets of a receiver share.
type Options struct {
	// ScopeName and ScopeVersion are the instrumentation scope's. Points that keep the engine's own name have the scope
	// ScopeName+OriginalScope.
	ScopeName, ScopeVersion string
	// Operation is gen_ai.operation.name; engines do not say it.
	Operation string
	// Host is host.name of engines at a loopback address; empty leaves it out. Others have the address they are asked at.
	Host string
	// Allow and Deny are families by name, as the engine itself writes them (sglang:token_usage, also where a router wrote
	// sglang_token_usage); "*" stands for any text. An empty Allow allows all; Deny wins.
	Allow, Deny []string
	// KeepOriginal also passes families that have a canonical name under their own. Families without one always pass, up to
	// MaxUnknown.
	KeepOriginal bool
	// MaxSeries, MaxUnknown (points under their own name) and MaxWorkers are per target. What is above is dropped and counted.
	MaxSeries, MaxUnknown, MaxWorkers int
	// ForgetAfter is the number of scrapes without a series, or a worker, after which it is forgotten.
	ForgetAfter int
}

// OriginalScope ends the scope's name of points that keep the engine's own name. A processor that translates producers'
// names must leave that scope alone, or KeepOriginal gives each point twice.
const OriginalScope = "/original"

// DefaultOptions hold 64 engines with 8 data-parallel ranks each behind one router.
func DefaultOptions() Options {
	return Options{
		Operation: "text_completion", Deny: DefaultDeny(),
		MaxSeries: 250_000, MaxUnknown: 1000, MaxWorkers: 1024, ForgetAfter: 10,
	}
}

// DefaultDeny are families that mislead or repeat others. They have no canonical name; without this list they would pass
// under their own.
func DefaultDeny() []string {
	return []string{
		"sglang:cache_hit_rate",                  // 0 after each decode report; percent in some builds
		"sglang:num_retracted_reqs",              // per process, and never reset
		"sglang:routing_key_*",                   // buckets that are gauges and not cumulative
		"smg_http_inflight_request_age_count",    // the same
		"smg_engine_*",                           // the router's copy of what engines say
		"vllm:lora_requests_info",                // its value is a date, a new series for each set of adapters
		"vllm:prompt_tokens_cached_total",        // the sum of two sources of prompt_tokens_by_source_total
		"vllm:gpu_prefix_cache_hit_rate",         // a mean since the start, or -1
		"vllm:cpu_prefix_cache_hit_rate",         // the same
		"http_request_duration_highr_seconds",    // http_request_duration_seconds without its endpoint
		"http_request_size_bytes",                // of no use for engines
		"http_response_size_bytes",               // the same
		"sglang:grammar_tree_traversal_time_avg", // means of no use in a histogram
		"sglang:grammar_tree_traversal_time_max", // the same
	}
}

func (o *Options) validate() error {
	for _, limit := range []struct {
		name  string
		value int
	}{
		{"max_series", o.MaxSeries}, {"max_unknown", o.MaxUnknown}, {"max_workers", o.MaxWorkers}, {"forget_after", o.ForgetAfter},
	} {
		if limit.value < 0 || limit.value == 0 && limit.name != "max_unknown" {
			return fmt.Errorf("'%s' is %d; it must be positive", limit.name, limit.value)
		}
	}
	if o.ScopeName == "" {
		return errors.New("the scope's name is missing")
	}
	if slices.Contains(o.Allow, "") || slices.Contains(o.Deny, "") {
		return errors.New("a family's name is empty")
	}
	return nil
}
