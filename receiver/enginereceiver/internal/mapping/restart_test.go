package mapping

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/open-telemetry/opentelemetry-collector-contrib/processor/cumulativetodeltaprocessor"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/processor/processortest"

	"github.com/pitwall-otel/pitwall/schema/names"
)

// history scrapes pages one after another, ten seconds apart, and returns what the shipped pipeline's next processor
// makes of it: how much each count grew in all, by metric. An empty page is a scrape that failed.
func history(t *testing.T, target *Target, pages ...string) map[string]float64 {
	t.Helper()
	sink := &consumertest.MetricsSink{}
	f := cumulativetodeltaprocessor.NewFactory()
	deltas, err := f.CreateMetrics(t.Context(), processortest.NewNopSettings(f.Type()), f.CreateDefaultConfig(), sink)
	require.NoError(t, err)
	at := time.Now().Add(time.Second) // the processor takes what began before it for old
	grown := map[string]float64{}
	for _, body := range pages {
		at = at.Add(10 * time.Second)
		metrics := target.Down(at)
		if body != "" {
			metrics, _ = target.Map(page(body), at)
		}
		require.NoError(t, deltas.ConsumeMetrics(context.Background(), metrics))
	}
	for _, metrics := range sink.AllMetrics() {
		add(t, grown, metrics)
	}
	return grown
}

func add(t *testing.T, grown map[string]float64, metrics pmetric.Metrics) {
	t.Helper()
	for _, rm := range metrics.ResourceMetrics().All() {
		for _, sm := range rm.ScopeMetrics().All() {
			for _, m := range sm.Metrics().All() {
				switch m.Type() {
				case pmetric.MetricTypeSum:
					for _, d := range m.Sum().DataPoints().All() {
						assert.GreaterOrEqual(t, d.DoubleValue(), 0.0, m.Name())
						grown[m.Name()] += d.DoubleValue()
					}
				case pmetric.MetricTypeHistogram:
					for _, d := range m.Histogram().DataPoints().All() {
						grown[m.Name()] += float64(d.Count())
						grown[m.Name()+" above 1"] += float64(d.BucketCounts().At(d.BucketCounts().Len() - 1))
					}
				default:
				}
			}
		}
	}
}

const (
	tokens   = names.InferenceTokensOutput
	finished = names.InferenceTokensFinished
	aborted  = names.InferenceRequestsAborted
	waits    = names.InferenceRequestQueueDuration
)

func decoded(n int) string {
	return fmt.Sprintf("# TYPE sglang:realtime_tokens_total counter\nsglang:realtime_tokens_total{mode=\"decode\"} %d\n", n)
}

func prompted(n int) string {
	return fmt.Sprintf("# TYPE sglang:prompt_tokens_total counter\nsglang:prompt_tokens_total %d\n", n)
}

func abortions(n int) string {
	return fmt.Sprintf("# TYPE sglang:num_aborted_requests_total counter\nsglang:num_aborted_requests_total %d\n", n)
}

// queued is a histogram with fast requests, and slow ones above the bound.
func queued(bound string, fast, slow int) string {
	return fmt.Sprintf("# TYPE sglang:queue_time_seconds histogram\nsglang:queue_time_seconds_sum %d\n"+
		"sglang:queue_time_seconds_bucket{le=%q} %d\nsglang:queue_time_seconds_bucket{le=\"+Inf\"} %d\nsglang:queue_time_seconds_count %d\n",
		fast+slow, bound, fast, fast+slow, fast+slow)
}

// Counts are those since the first scrape: what was before is not known to be of this run. "2 after 20" below is an engine
// that counted to 20, restarted, and counted to 2.
func TestCountsAcrossRestarts(t *testing.T) {
	f := func(what string, want map[string]float64, pages ...string) {
		t.Run(what, func(t *testing.T) {
			assert.Equal(t, want, history(t, newTarget(t, nil), pages...))
		})
	}
	f("growth", map[string]float64{tokens: 15}, decoded(10), decoded(15), decoded(15), decoded(25))
	f("2 after 20, twice", map[string]float64{tokens: 10 + 2 + 5 + 1},
		decoded(10), decoded(20), decoded(2), decoded(7), decoded(1))
	f("a restart right after the first scrape", map[string]float64{tokens: 3 + 4}, decoded(10), decoded(3), decoded(7))
	f("one count had overtaken its old value: 7 after 2", map[string]float64{tokens: 1, finished: 1, aborted: 7},
		decoded(10)+prompted(50)+abortions(2), decoded(1)+prompted(1)+abortions(7))
	f("one count alone goes back", map[string]float64{tokens: 5 + 5, finished: 5 + 5, aborted: 1},
		decoded(10)+prompted(50)+abortions(2), decoded(15)+prompted(55)+abortions(1), decoded(20)+prompted(60)+abortions(1))
	f("a count that appears on an engine that was there", map[string]float64{tokens: 5, aborted: 3},
		decoded(10), decoded(15)+abortions(3))
	f("scrapes that fail, and nothing restarts", map[string]float64{tokens: 5}, decoded(10), "", "", decoded(15))
	f("scrapes that fail, and a restart", map[string]float64{tokens: 4}, decoded(10), "", "", decoded(4))
	f("a count that is away for a scrape", map[string]float64{tokens: 3, aborted: 5 + 1},
		decoded(10)+abortions(2), decoded(11), decoded(12)+abortions(7), decoded(13)+abortions(8))
	f("a histogram", map[string]float64{waits: 10 + 1 + 10, waits + " above 1": 4 + 1 + 4},
		queued("1.0", 2, 3), queued("1.0", 8, 7), queued("1.0", 0, 1), queued("1", 6, 5))
	f("a histogram with other buckets after a restart", map[string]float64{waits: 4 + 6, waits + " above 1": 2 + 3},
		queued("1.0", 20, 30), queued("2.0", 2, 2), queued("2.0", 5, 5))
	f("a histogram with other buckets and no restart: what is new in it is not known", map[string]float64{waits: 6, waits + " above 1": 3},
		queued("1.0", 2, 2), queued("2.0", 20, 20), queued("2.0", 23, 23))
}

// The first scrape is refused, so what it said of the start is not known either: the second one says it.
func TestCountsAfterARefusal(t *testing.T) {
	f := func(want map[string]float64, refused int, pages ...string) {
		t.Helper()
		target, sink := newTarget(t, nil), &consumertest.MetricsSink{}
		factory := cumulativetodeltaprocessor.NewFactory()
		deltas, err := factory.CreateMetrics(t.Context(), processortest.NewNopSettings(factory.Type()), factory.CreateDefaultConfig(), sink)
		require.NoError(t, err)
		at, grown := time.Now().Add(time.Second), map[string]float64{}
		for n, body := range pages {
			at = at.Add(10 * time.Second)
			metrics, _ := target.Map(page(body), at)
			if n < refused {
				target.Refused()
				continue
			}
			require.NoError(t, deltas.ConsumeMetrics(context.Background(), metrics))
		}
		for _, metrics := range sink.AllMetrics() {
			add(t, grown, metrics)
		}
		assert.Equal(t, want, grown)
	}
	f(map[string]float64{tokens: 10}, 1, decoded(10), decoded(15), decoded(25))
	f(map[string]float64{tokens: 1}, 3, decoded(10), decoded(15), decoded(25), decoded(30), decoded(31))
	f(map[string]float64{waits: 3, waits + " above 1": 1}, 1, queued("1.0", 2, 3), queued("1.0", 8, 7), queued("1.0", 10, 8))
	f(map[string]float64{tokens: 10, aborted: 3}, 1, decoded(10), decoded(15)+abortions(3), decoded(25)+abortions(3))
	f(map[string]float64{tokens: 4 + 1}, 1, decoded(10), decoded(4), decoded(5))
}

// Tensor ranks count the same: when one goes another stands for it, and nothing is counted again.
func TestCountsWhenARankGoes(t *testing.T) {
	ranks := func(counts ...int) string {
		body := "# TYPE sglang:realtime_tokens_total counter\n"
		for rank, n := range counts {
			if n > 0 {
				body += fmt.Sprintf("sglang:realtime_tokens_total{mode=\"decode\",tp_rank=\"%d\"} %d\n", rank, n)
			}
		}
		return body
	}
	f := func(want float64, pages ...string) {
		assert.Equal(t, map[string]float64{tokens: want}, history(t, newTarget(t, nil), pages...))
	}
	f(10, ranks(100, 99), ranks(110, 109))
	f(10, ranks(100, 99), ranks(0, 99), ranks(0, 99), ranks(0, 110))
	f(10, ranks(100, 99), ranks(0, 99), ranks(110, 109))
}

// vLLM says when it started and when each count began.
func TestCountsWithStartTimes(t *testing.T) {
	born := time.Now().Add(15 * time.Second)
	preempted := func(process time.Time, n int) string {
		return fmt.Sprintf("# TYPE process_start_time_seconds gauge\nprocess_start_time_seconds %d\n"+
			"# TYPE vllm:num_preemptions_total counter\nvllm:num_preemptions_total{engine=\"0\"} %d\n", process.Unix(), n)
	}
	f := func(what string, want float64, pages ...string) {
		assert.Equal(t, map[string]float64{names.InferencePreemptions: want}, history(t, newTarget(t, nil), pages...), what)
	}
	f("another process counted further than the one before", 12, preempted(born.Add(-time.Hour), 10), preempted(born, 12))
	f("an engine that started after the collector: all is new", 12+3, "", preempted(born, 12), preempted(born, 15))
	f("an old engine", 3, preempted(born.Add(-time.Hour), 12), preempted(born.Add(-time.Hour), 15))
}

func TestAnotherEngineAtTheSameAddress(t *testing.T) {
	served := func(model string, n int) string {
		return fmt.Sprintf("# TYPE sglang:num_requests_total counter\nsglang:num_requests_total{model_name=%q} %d\n", model, n)
	}
	got := history(t, newTarget(t, nil), served("a", 10), served("a", 15), served("b", 4), served("b", 6))
	assert.Equal(t, map[string]float64{names.InferenceRequestsFinished: 5 + 4 + 2}, got)
}

// What is away for so long that it was forgotten comes back as an old count, of which nothing is known to be new.
func TestCountsThatComeBack(t *testing.T) {
	f := func(want map[string]float64, pages ...string) {
		assert.Equal(t, want, history(t, newTarget(t, func(o *Options) { o.ForgetAfter = 2 }), pages...))
	}
	f(map[string]float64{tokens: 6, aborted: 1}, decoded(10)+abortions(5), decoded(11), decoded(12), decoded(13), decoded(14),
		decoded(15)+abortions(7), decoded(16)+abortions(8))
	f(map[string]float64{tokens: 1}, decoded(10), "", "", "", "", "", decoded(15), decoded(16))
}

// A count for which there was no room before is not new when there is some.
func TestCountsThatFindRoomLate(t *testing.T) {
	unknown := func(n int) string {
		return fmt.Sprintf("# TYPE new_seconds histogram\nnew_seconds_bucket{le=\"1\"} 0\nnew_seconds_bucket{le=\"+Inf\"} %d\n", n)
	}
	f := func(limit func(*Options), want map[string]float64, pages ...string) {
		target := newTarget(t, func(o *Options) { o.ForgetAfter = 2; limit(o) })
		assert.Equal(t, want, history(t, target, pages...))
	}
	f(func(o *Options) { o.MaxSeries = 2 }, map[string]float64{tokens: 6, aborted: 76 - 72},
		decoded(10)+prompted(5)+abortions(70), decoded(11)+abortions(71), decoded(12)+abortions(72), decoded(13)+abortions(73), decoded(14)+abortions(74),
		decoded(15)+abortions(75), decoded(16)+abortions(76))
	f(func(o *Options) { o.MaxUnknown = 1 }, map[string]float64{tokens: 6, aborted: 3, "new_seconds": 76 - 72, "new_seconds above 1": 76 - 72},
		decoded(10)+"a 1\n"+unknown(70), decoded(11)+unknown(71), decoded(12)+unknown(72), decoded(13)+unknown(73)+abortions(3),
		decoded(14)+unknown(74), decoded(15)+unknown(75), decoded(16)+unknown(76))
}

// Counts whose labels change without end are forgotten, and then that they were: what comes back may be one of them.
func TestCountsThatChangeWithoutEnd(t *testing.T) {
	target := newTarget(t, func(o *Options) { o.ForgetAfter = 2 })
	pages := []string{decoded(10) + abortions(5), decoded(11)}
	for i := range 6 {
		body := decoded(12 + i)
		for k := range 3000 {
			body += fmt.Sprintf("# TYPE sglang:num_requests_total counter\nsglang:num_requests_total{tenant=\"%d\"} 0\n", i*3000+k)
		}
		pages = append(pages, body)
	}
	grown := history(t, target, append(pages, decoded(18)+abortions(7), decoded(19)+abortions(8))...)
	assert.Len(t, target.ordered[0].counted, maxForgotten)
	assert.Equal(t, 9.0, grown[tokens])
	assert.Equal(t, 1.0, grown[aborted])
}

// What is not on the page for ForgetAfter scrapes is forgotten.
func TestForgetting(t *testing.T) {
	target := newTarget(t, func(o *Options) { o.ForgetAfter = 2 })
	got := history(t, target, decoded(10)+abortions(5), decoded(11), decoded(12), decoded(13), decoded(14))
	assert.Equal(t, map[string]float64{tokens: 4}, got)
	assert.Len(t, target.series, 1)
	assert.Len(t, target.families, 1)
	assert.Len(t, target.ordered[0].points, 4, "tokens, their rate, up and age")
}

// Processes' files are added up in any order, so seconds may come back with another last digit.
func TestCountsOfSecondsThatJitter(t *testing.T) {
	busy := func(seconds string) string {
		return "# TYPE sglang:forward_execution_seconds_total counter\nsglang:forward_execution_seconds_total " + seconds + "\n"
	}
	got := history(t, newTarget(t, nil), busy("1000.0000000001"), busy("1000"), busy("1001"))
	assert.InDelta(t, 1, got[names.InferenceForwardTime], 1e-6)
}

// The engine restarts, and the rank that answers first is another than the one that was counted.
func TestRestartWithAnotherRankFirst(t *testing.T) {
	rank := func(rank, n int) string {
		return fmt.Sprintf("# TYPE sglang:realtime_tokens_total counter\nsglang:realtime_tokens_total{mode=\"decode\",tp_rank=\"%d\"} %d\n", rank, n)
	}
	got := history(t, newTarget(t, nil), rank(0, 100)+prompted(50), rank(1, 5)+prompted(3), rank(1, 9)+prompted(3))
	assert.Equal(t, map[string]float64{tokens: 9, finished: 3}, got)
}

// The start times themselves: what began before a page that was cut is not new, nor what is in other buckets.
func TestStartTimes(t *testing.T) {
	f := func(want string, truncated bool, pages ...string) {
		target, line := newTarget(t, nil), ""
		for i, body := range pages {
			if truncated && i == len(pages)-2 {
				target.Truncated()
			}
			metrics, _ := target.Map(page(body), noon().Add(time.Duration(i)*10*time.Second))
			line = render(metrics)
		}
		assert.Contains(t, line, want)
	}
	f(aborted+"{} sum {request} = 7 since 10", false, decoded(10), decoded(11), decoded(12)+abortions(7))
	f(aborted+"{} sum {request} = 7 since 20", true, decoded(10), decoded(11), decoded(12)+abortions(7))
	f(aborted+"{} sum {request} = 2 since 10.001", false, decoded(10)+abortions(7), decoded(11)+abortions(8), decoded(12)+abortions(2))
	f("[2 buckets 2:9 +Inf:9] since 10", false, queued("1.0", 2, 2), queued("2.0", 9, 9))
	f("[2 buckets 1:9 +Inf:9] since 0", false, queued("1.0", 2, 2), queued("1.0", 9, 9))
}

// An engine whose clock is ahead or behind says impossible start times: they are no reason to count anything twice.
func TestStartTimesOfAnotherClock(t *testing.T) {
	counted := func(process, created time.Duration, n int) string {
		now := time.Now()
		return fmt.Sprintf("# TYPE process_start_time_seconds gauge\nprocess_start_time_seconds %d\n"+
			"# TYPE vllm:num_preemptions_total counter\nvllm:num_preemptions_total %d\n"+
			"# TYPE vllm:num_preemptions_created gauge\nvllm:num_preemptions_created %d\n", now.Add(process).Unix(), n, now.Add(created).Unix())
	}
	f := func(what string, want float64, pages ...string) {
		assert.Equal(t, map[string]float64{names.InferencePreemptions: want}, history(t, newTarget(t, nil), pages...), what)
	}
	const hour, ahead = time.Hour, 15 * time.Second // between the first two scrapes
	f("ahead", 3+2, counted(ahead, ahead, 10), counted(ahead, ahead, 13), counted(ahead, ahead, 15))
	f("far ahead", 3+2, counted(hour, hour, 10), counted(hour, hour, 13), counted(hour, hour, 15))
	f("far ahead, and a restart", 13+2, counted(hour, hour, 10), counted(2*hour, 2*hour, 13), counted(2*hour, 2*hour, 15))
	f("behind, and a restart", 13+2, counted(-2*hour, -2*hour, 10), counted(-hour, -hour, 13), counted(-hour, -hour, 15))
	f("a process start that shows late", 3+2, strings.Join(strings.SplitAfter(counted(ahead, ahead, 10), "\n")[2:], ""),
		counted(ahead, ahead, 13), counted(ahead, ahead, 15))
}
