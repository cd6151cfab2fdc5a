package mapping

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/pitwall-otel/pitwall/schema/names"
)

// Every metric that engines should have in common comes from a page of each engine, or the engine has nothing like it.
func TestEachEngineHasEachMetric(t *testing.T) {
	made := map[string]string{}
	for _, name := range pages(t) {
		metrics, _ := newTarget(t, nil).Map(page(read(t, name+".prom")), noon())
		engine, _, _ := strings.Cut(name, "-")
		for line := range strings.Lines(render(metrics)) {
			what, _, _ := strings.Cut(strings.Fields(line)[1], "{")
			made[engine] += " " + what + " "
		}
	}
	const has = ""
	for _, m := range []struct{ name, sglang, vllm string }{
		{names.GenAIServerTimeToFirstToken, has, has},
		{names.GenAIServerRequestDuration, has, has},
		{names.GenAIServerTimePerOutputToken, "measures nothing by request", has},
		{names.InferenceInterTokenLatency, has, has},
		{names.InferenceRequestQueueDuration, has, has},
		{names.InferenceRequestPrefillDuration, "only the stage prefill_forward", has},
		{names.InferenceRequestDecodeDuration, "nothing", has},
		{names.InferenceRequestStageDuration, has, "nothing"},
		{names.InferenceRequestsRunning, has, has},
		{names.InferenceRequestsWaiting, has, has},
		{names.InferenceRequestsWaitingByReason, has, has},
		{names.InferenceRequestsPaused, has, "sleeps instead: " + names.InferenceEngineState},
		{names.InferenceRequestsFinished, has, has},
		{names.InferencePreemptions, has, has},
		{names.InferencePreemptionTokens, has, has},
		{names.InferenceTokensOutput, has, has},
		{names.InferenceTokensPrompt, has, has},
		{names.InferencePrefixCacheLookupTokens, has, has},
		{names.InferencePrefixCacheHitTokens, has, has},
		{names.InferenceKVCacheUsage, has, has},
		{names.InferenceKVCacheTokens, has, "only the share"},
		{names.InferenceKVCacheCapacity, has, has},
		{names.InferenceKVCacheEvictedTokens, has, "nothing"},
		{names.InferenceSpecDecodeAcceptLength, has, has},
		{names.InferenceSpecDecodeAcceptRate, has, has},
		{names.InferencePDQueueRequests, has, "requests.waiting.by_reason deferred is the nearest"},
		{names.InferencePDKVTransferDuration, has, has},
		{names.InferencePDKVTransferBootstrapDuration, has, "nothing"},
		{names.InferencePDKVTransferAllocDuration, has, "nothing"},
		{names.InferencePDKVTransferSize, has, has},
		{names.InferencePDKVTransferThroughput, has, "nothing"},
		{names.InferencePDFailures, has, has},
		{names.InferencePDRetries, has, "nothing"},
		{names.InferenceWeightsLoadDuration, has, "nothing"},
		{names.InferenceEngineState, has, has},
		{names.InferenceEngineUp, has, has},
		{names.InferenceEngineCounterAge, has, has},
	} {
		for engine, lacks := range map[string]string{"sglang": m.sglang, "vllm": m.vllm} {
			assert.Equal(t, lacks == has, strings.Contains(made[engine], " "+m.name+" "), "%s of %s", m.name, engine)
		}
	}
	for _, name := range []string{names.InferenceRouterRequests, names.InferenceRouterRequestDuration, names.InferenceRouterRetries} {
		assert.Contains(t, made["smg"], name)
		assert.Contains(t, made["sgl"], name)
	}
}
