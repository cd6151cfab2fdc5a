package mapping

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/pitwall-otel/pitwall/schema/names"
)

func TestDroppedLines(t *testing.T) {
	const head = "# TYPE sglang:num_running_reqs gauge\nsglang:num_running_reqs 1\n"
	f := func(body string, reason Reason, lines int) {
		_, report := newTarget(t, nil).Map(page(head+body), noon())
		assert.Equal(t, lines, report.Dropped[reason], "%s: %s", reason, body)
		total := 0
		for _, n := range report.Dropped {
			total += n
		}
		assert.Equal(t, report.Samples, report.Series+total, "each line became part of a point or was dropped: %s", body)
	}
	f("# TYPE sglang:cache_hit_rate gauge\nsglang:cache_hit_rate 38.5\n", DropDenied, 1)
	f("# TYPE python_gc_objects_collected_total counter\npython_gc_objects_collected_total 3\n", DropRuntime, 1)
	f("# TYPE vllm:some_info gauge\nvllm:some_info{a=\"b\"} 1\n", DropInfo, 1)
	f("# TYPE vllm:x_created gauge\nvllm:x_created 1.7e9\n", DropCreated, 1)
	f("# TYPE sglang:queue_time_seconds gauge\nsglang:queue_time_seconds 1\n", DropType, 1)
	f("# TYPE sglang:num_requests_total gauge\nsglang:num_requests_total 1\n", DropType, 1)
	f("# TYPE sglang:cached_tokens_total counter\nsglang:cached_tokens_total{cache_source=\"total\"} 1\n", DropLabel, 1)
	f("sglang:num_running_reqs{tp_rank=\"1\"} 1\nsglang:num_running_reqs{tp_rank=\"2\"} 1\n", DropRank, 2)
	f("sglang:num_running_reqs{priority=\"1\"} 1\n", DropPriority, 1)
	f("sglang:num_running_reqs 2\n", DropDuplicate, 1)
	f("# TYPE sglang:token_usage gauge\nsglang:token_usage NaN\n", DropNaN, 1)
	f("# TYPE sglang:token_usage gauge\nsglang:token_usage +Inf\n", DropInfinite, 1)
	f("# TYPE sglang:token_usage gauge\nsglang:token_usage -1\n", DropNegative, 1)
	f("# TYPE sglang:queue_time_seconds histogram\nsglang:queue_time_seconds_bucket{le=\"1\"} 1\nsglang:queue_time_seconds_sum 1\n", DropHistogram, 2)
	f("# TYPE sglang:queue_time_seconds histogram\nsglang:queue_time_seconds_bucket{le=\"1\"} 3\nsglang:queue_time_seconds_bucket{le=\"+Inf\"} 2\n", DropHistogram, 2)
	f("# TYPE vllm:kv_cache_usage_perc gauge\nvllm:kv_cache_usage_perc 0.5\n# TYPE vllm:gpu_cache_usage_perc gauge\nvllm:gpu_cache_usage_perc 0.5\n", DropRepeated, 1)
	f("# TYPE vllm:gpu_cache_usage_perc gauge\nvllm:gpu_cache_usage_perc 0.5\n# TYPE vllm:kv_cache_usage_perc gauge\nvllm:kv_cache_usage_perc 0.5\n", DropRepeated, 1)
}

// Lines of a histogram come in any order and in several places; le is a number; the last of two equal lines counts.
func TestHistogramLines(t *testing.T) {
	f := func(want string, lines ...string) {
		body := "# TYPE sglang:queue_time_seconds histogram\n"
		for _, line := range lines {
			body += "sglang:queue_time_seconds" + line + "\n"
		}
		metrics, _ := newTarget(t, nil).Map(page(body), noon())
		got := ""
		for line := range strings.Lines(render(metrics)) {
			if _, after, ok := strings.Cut(line, names.InferenceRequestQueueDuration+"{} histogram s = "); ok {
				got = strings.TrimSuffix(after, " since 0\n")
			}
		}
		assert.Equal(t, want, got, lines)
	}
	f("count 9 sum 12 [3 buckets 1:2 2.5:3 +Inf:4]",
		`_bucket{le="1"} 2`, `_bucket{le="2.5"} 5`, `_bucket{le="+Inf"} 9`, `_sum 12`, `_count 9`)
	f("count 9 sum 12 [3 buckets 1:2 2.5:3 +Inf:4]",
		`_count 9`, `_bucket{le="+Inf"} 9`, `_bucket{le="2.50"} 5`, `_sum 12`, `_bucket{le="1.0"} 2`)
	f("count 9 sum 12 [3 buckets 1:2 2.5:3 +Inf:4]",
		`_sum 12`, `_bucket{le="1"} 1`, `_bucket{le="1"} 2`, `_bucket{le="2.5"} 5`, `_count 9`)
	f("count 9 sum none [2 buckets 1:2 +Inf:7]", `_bucket{le="1"} 2`, `_bucket{le="+Inf"} 9`)
	f("count 9 sum 12 [0 buckets]", `_sum 12`, `_count 9`)
	f("count 3 sum 12 [2 buckets 1:2 +Inf:1]", `_bucket{le="1"} 2`, `_bucket{le="+Inf"} 3`, `_sum 12`, `_count 9`)
	f("", `_bucket{le="1"} 2`, `_sum 12`)
	f("", `_bucket{le="wide"} 2`, `_sum 12`)
	f("", ` 7`)
	f("count 9 sum none [2 buckets 1:2 +Inf:7]", ` 7`, `_bucket{le="1"} 2`, `{le="1"} 3`, `_bucket{le="+Inf"} 9`)
	f("", `_bucket{le="1"} 2`, `_count 1`)
}

func TestLimits(t *testing.T) {
	many := func(name string, n int) string {
		body := fmt.Sprintf("# TYPE %s gauge\n", name)
		for i := range n {
			body += fmt.Sprintf("%s{x=\"%d\"} 1\n", name, i)
		}
		return body
	}
	f := func(change func(*Options), body string, reason Reason, dropped int) {
		target := newTarget(t, change)
		for range 3 {
			_, report := target.Map(page(body), noon())
			assert.Equal(t, dropped, report.Dropped[reason])
		}
		assert.LessOrEqual(t, len(target.series), 1000)
	}
	f(func(o *Options) { o.MaxSeries = 30 }, many("sglang:num_running_reqs", 100), DropMaxSeries, 70)
	f(func(o *Options) { o.MaxUnknown = 30 }, many("sglang:new_gauge", 100), DropMaxUnknown, 70)
	f(func(o *Options) { o.MaxUnknown = 0 }, many("sglang:new_gauge", 100), DropMaxUnknown, 100)
	f(func(o *Options) { o.MaxWorkers = 30 }, strings.ReplaceAll(many("sglang:num_running_reqs", 100), "x=", "worker_addr="), DropMaxWorkers, 70)
	f(func(o *Options) { o.Allow = []string{"sglang:num_*", "vllm:*"} }, many("sglang:token_usage", 100), DropDenied, 100)
	f(func(o *Options) { o.Deny = []string{"sglang:num_running*"} }, many("sglang_num_running_reqs", 100), DropDenied, 100)
}

// Bounds that change with each page, or are without end, do not pile up.
func TestBoundsWithoutEnd(t *testing.T) {
	target := newTarget(t, nil)
	for scrape := range 200 {
		body := "# TYPE sglang:queue_time_seconds histogram\n"
		for i := range 50 {
			body += fmt.Sprintf("sglang:queue_time_seconds_bucket{le=\"%d\"} %d\n", scrape*100+i, i)
		}
		metrics, _ := target.Map(page(body+"sglang:queue_time_seconds_count 50\n"), noon().Add(time.Duration(scrape)*time.Second))
		assert.Contains(t, render(metrics), "count 50 sum none [51 buckets ")
	}
	body := "# TYPE sglang:queue_time_seconds histogram\n"
	for i := range 2000 {
		body += fmt.Sprintf("sglang:queue_time_seconds_bucket{le=\"%d\"} %d\n", i, i)
	}
	_, report := newTarget(t, nil).Map(page(body), noon())
	assert.Equal(t, 2000-maxSlots, report.Dropped[DropMaxSeries])
	body = "# TYPE sglang:cached_tokens_total counter\n"
	for i := range 100 {
		body += fmt.Sprintf("sglang:cached_tokens_total{cache_source=\"storage_%d\"} 1\n", i)
	}
	metrics, report := newTarget(t, nil).Map(page(body), noon())
	assert.Equal(t, 100-maxParts, report.Dropped[DropMaxSeries])
	assert.Contains(t, render(metrics), "inference.tokens.finished.cached{inference.cache.tier=storage} sum {token} = 64 ")
}

// Room that is free again is used.
func TestRoomForUnknown(t *testing.T) {
	target := newTarget(t, func(o *Options) { o.MaxUnknown, o.ForgetAfter = 1, 2 })
	series := func(name string) string { return fmt.Sprintf("# TYPE sglang:%s gauge\nsglang:%s 1\n", name, name) }
	target.Map(page(series("a")+series("b")), noon())
	for range 4 {
		target.Map(page(series("b")), noon())
	}
	metrics, _ := target.Map(page(series("b")), noon())
	assert.Equal(t, "10.0.0.7:30000 ORIGINAL sglang:b{} gauge  = 1\n", render(metrics))
}

func TestOptions(t *testing.T) {
	f := func(want string, change func(*Options)) {
		o := DefaultOptions()
		o.ScopeName = "engine"
		change(&o)
		_, err := New(o)
		assert.EqualError(t, err, want)
	}
	f("'max_series' is 0; it must be positive", func(o *Options) { o.MaxSeries = 0 })
	f("'max_unknown' is -1; it must be positive", func(o *Options) { o.MaxUnknown = -1 })
	f("'forget_after' is 0; it must be positive", func(o *Options) { o.ForgetAfter = 0 })
	f("a family's name is empty", func(o *Options) { o.Deny = []string{""} })
	f("the scope's name is missing", func(o *Options) { o.ScopeName = "" })
}

func TestKeepOriginal(t *testing.T) {
	metrics, _ := newTarget(t, func(o *Options) { o.KeepOriginal = true }).Map(page("# TYPE sglang:num_running_reqs gauge\nsglang:num_running_reqs{model_name=\"m\",tp_rank=\"0\"} 7\n"), noon())
	assert.Equal(t, `10.0.0.7:30000 ORIGINAL sglang:num_running_reqs{model_name=m tp_rank=0} gauge  = 7
10.0.0.7:30000 inference.engine.up{} gauge 1 = 1
10.0.0.7:30000 inference.requests.running{gen_ai.request.model=m} gauge {request} = 7
`, render(metrics))
}

// What the registry does not know is marked as the schema processor marks it.
func TestUnknownFamiliesAreMarked(t *testing.T) {
	target := newTarget(t, func(o *Options) { o.KeepOriginal = true })
	metrics, report := target.Map(page("# TYPE sglang:new gauge\nsglang:new 1\n# TYPE other_seconds histogram\nother_seconds_bucket{le=\"+Inf\"} 1\n"+
		"# TYPE sglang:num_running_reqs gauge\nsglang:num_running_reqs 7\n"), noon())
	marks := map[string]string{}
	for _, sm := range metrics.ResourceMetrics().At(0).ScopeMetrics().All() {
		for _, m := range sm.Metrics().All() {
			marks[m.Name()], _ = m.Metadata().AsRaw()["pitwall.schema"].(string)
		}
	}
	assert.Equal(t, map[string]string{
		"sglang:new": "unknown", "other_seconds": "unknown", "sglang:num_running_reqs": "",
		names.InferenceRequestsRunning: "", names.InferenceEngineUp: "", names.InferenceEngineCounterAge: "",
	}, marks)
	assert.Equal(t, 2, report.Unknown)
	assert.Equal(t, sglang, report.Provider)
	assert.Equal(t, 9, report.Expected)
	assert.Len(t, report.Missing, 8)
	_, report = target.Map(page("# TYPE sglang:new gauge\nsglang:new 1\n"), noon())
	assert.Equal(t, 1, report.Unknown)
}

func TestOriginOf(t *testing.T) {
	f := func(family, producer, provider, name string) {
		assert.Equal(t, origin{producer, provider, name}, originOf(family))
	}
	f("sglang:token_usage", "sglang", "sglang", "sglang:token_usage")
	f("sglang_token_usage", "sglang", "sglang", "sglang:token_usage")
	f("vllm:num_requests_running", "vllm", "vllm", "vllm:num_requests_running")
	f("vllm_num_requests_running", "vllm", "vllm", "vllm:num_requests_running")
	f("ray_vllm_num_requests_running", "vllm", "vllm", "vllm:num_requests_running")
	f("ray_vllm:num_requests_running", "vllm", "vllm", "vllm:num_requests_running")
	f("smg_worker_health", "sglang-router", "", "smg_worker_health")
	f("sgl_router_worker_health", "sglang-router", "", "sgl_router_worker_health")
	f("http_requests_total", "vllm", "", "http_requests_total")
	f("trtllm_request_success_total", "", "", "trtllm_request_success_total")
	f("sglangs_are_not_this", "", "", "sglangs_are_not_this")
}

func TestResources(t *testing.T) {
	o := DefaultOptions()
	o.ScopeName, o.ScopeVersion, o.Host = "engine", "1.2.3", "node-1"
	m, err := New(o)
	require.NoError(t, err)
	f := func(host, body string, want map[string]any) {
		attributes := pcommon.NewMap()
		attributes.PutStr(names.AttributeRLRunID, "r1")
		attributes.PutStr(names.AttributeInferenceRole, "decode")
		metrics, _ := m.NewTarget(Identity{Host: host, Port: 8000, Attributes: attributes}).Map(page(body), noon())
		rm := metrics.ResourceMetrics().At(0)
		want[names.AttributeRLRunID], want[names.AttributeInferenceRole] = "r1", "decode"
		assert.Equal(t, want, rm.Resource().Attributes().AsRaw())
		sm := rm.ScopeMetrics().At(0)
		assert.Equal(t, "engine", sm.Scope().Name())
		assert.Equal(t, "1.2.3", sm.Scope().Version())
		assert.Equal(t, m.registry.SchemaURL(), sm.SchemaUrl())
	}
	const line = "# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running"
	f("10.0.0.9", line+" 1\n", map[string]any{
		"service.instance.id": "10.0.0.9:8000", "host.name": "10.0.0.9", "server.address": "10.0.0.9", "server.port": int64(8000), "inference.scope": "engine",
	})
	f("127.0.0.1", line+" 1\n", map[string]any{
		"service.instance.id": "127.0.0.1:8000", "host.name": "node-1", "server.address": "127.0.0.1", "server.port": int64(8000), "inference.scope": "engine",
	})
	f("10.0.0.9", line+"{worker_addr=\"http://[fd00::1]:1\"} 1\n", map[string]any{
		"service.instance.id": "[fd00::1]:1", "host.name": "fd00::1", "server.address": "fd00::1", "server.port": int64(1), "inference.scope": "engine",
	})
	f("10.0.0.9", line+"{worker_addr=\"http://127.0.0.1:1\"} 1\n", map[string]any{
		"service.instance.id": "127.0.0.1:1", "host.name": "10.0.0.9", "server.address": "127.0.0.1", "server.port": int64(1), "inference.scope": "engine",
	})
}
