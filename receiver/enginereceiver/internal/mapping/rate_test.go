package mapping

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// 100 tokens in ten seconds, 40 of 60 prompt tokens new; an idle engine has 0 and not the last value; age goes on.
func TestRatesAndAge(t *testing.T) {
	target := newTarget(t, nil)
	body := func(decode, compute, cache, done int) string {
		return fmt.Sprintf("# TYPE sglang:realtime_tokens_total counter\nsglang:realtime_tokens_total{mode=\"decode\"} %d\n"+
			"sglang:realtime_tokens_total{mode=\"prefill_compute\"} %d\nsglang:realtime_tokens_total{mode=\"prefill_cache\"} %d\n"+
			"# TYPE sglang:num_requests_total counter\nsglang:num_requests_total %d\n", decode, compute, cache, done)
	}
	f := func(seconds int, body string, want ...string) {
		metrics, _ := target.Map(page(body), noon().Add(time.Duration(seconds)*time.Second))
		var got []string
		for line := range strings.Lines(render(metrics)) {
			if strings.Contains(line, "rate{") || strings.Contains(line, "age{") {
				got = append(got, strings.TrimPrefix(strings.TrimSpace(line), "10.0.0.7:30000 inference."))
			}
		}
		assert.Equal(t, want, got)
	}
	f(0, body(1000, 500, 100, 7), "engine.counter.age{} gauge s = 0")
	f(10, body(1100, 540, 120, 9), "engine.counter.age{} gauge s = 0", "requests.rate{} gauge {request}/s = 0.2",
		"tokens.rate{gen_ai.token.type=input} gauge {token}/s = 6", "tokens.rate{gen_ai.token.type=output} gauge {token}/s = 10")
	f(30, body(1100, 540, 120, 9), "engine.counter.age{} gauge s = 20", "requests.rate{} gauge {request}/s = 0",
		"tokens.rate{gen_ai.token.type=input} gauge {token}/s = 0", "tokens.rate{gen_ai.token.type=output} gauge {token}/s = 0")
	f(40, body(50, 10, 0, 1), "engine.counter.age{} gauge s = 0", "requests.rate{} gauge {request}/s = 0.1",
		"tokens.rate{gen_ai.token.type=input} gauge {token}/s = 1", "tokens.rate{gen_ai.token.type=output} gauge {token}/s = 5")
}

// The queue was empty at 10 s, and has not been since.
func TestAgeOfTheQueue(t *testing.T) {
	target := newTarget(t, nil)
	for i, s := range []struct {
		waiting int
		age     string
	}{{3, "0"}, {0, "0"}, {1, "10"}, {5, "20"}, {2, "30"}, {0, "0"}, {1, "10"}} {
		body := fmt.Sprintf("# TYPE vllm:num_requests_waiting gauge\nvllm:num_requests_waiting{engine=\"1\"} %d\n", s.waiting)
		metrics, _ := target.Map(page(body), noon().Add(time.Duration(i)*10*time.Second))
		assert.Contains(t, render(metrics), "inference.requests.waiting.age{inference.rank.data=1} gauge s = "+s.age+"\n", "scrape %d", i)
	}
}
