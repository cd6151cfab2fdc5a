package fleet

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSameSeedSameValues(t *testing.T) {
	run := func(seed uint64) []Totals {
		f := start(t, Options{Seed: seed, Engines: EveryVersion(2)})
		f.Advance(20 * time.Second)
		f.Engine("sglang").Submit(50)
		f.Advance(20 * time.Second)
		var all []Totals
		for _, e := range f.Engines() {
			all = append(all, e.Totals())
		}
		return all
	}
	first := run(7)
	assert.Equal(t, first, run(7))
	assert.NotEqual(t, first, run(8))
}

func TestARestartedEngineCountsFromZeroOnAnotherPort(t *testing.T) {
	f := start(t, Options{Seed: 1, Engines: []Spec{{Name: "one", Version: VLLM026, Load: Load{RequestsPerSecond: 5}}}})
	e := f.Engine("one")
	f.Advance(30 * time.Second)
	before := scrape(t, e.URL()+"/metrics").sum("vllm:generation_tokens_total")
	old := e.URL()
	e.Kill()
	assert.False(t, e.Alive())
	_, err := http.Get(old + "/metrics") //nolint:bodyclose // it must fail
	require.Error(t, err)

	require.NoError(t, e.Restart())
	assert.NotEqual(t, old, e.URL())
	assert.Zero(t, scrape(t, e.URL()+"/metrics").sum("vllm:generation_tokens_total"))
	f.Advance(10 * time.Second)
	after := scrape(t, e.URL()+"/metrics").sum("vllm:generation_tokens_total")
	assert.Less(t, after, before)

	lives := f.Lives()
	require.Len(t, lives, 2)
	assert.True(t, lives[0].Ended)
	assert.Equal(t, 1, lives[0].Serves)
	assert.InDelta(t, before, lives[0].Last.Output, 0)
	assert.Equal(t, 2, lives[1].Serves)
	assert.Zero(t, lives[1].First.Output)
	assert.InDelta(t, after, lives[1].Last.Output, 0)
}

func TestAHungEngineAnswersNothingUntilItRecovers(t *testing.T) {
	f := start(t, Options{Seed: 1, Engines: []Spec{{Name: "one", Version: SGLang0515}}})
	e := f.Engine("one")
	e.Hang()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, e.URL()+"/metrics", nil)
	require.NoError(t, err)
	_, err = http.DefaultClient.Do(request) //nolint:bodyclose // it must fail
	require.ErrorIs(t, err, context.DeadlineExceeded)
	e.Recover()
	scrape(t, e.URL()+"/metrics")
	assert.Equal(t, 1, lifeOf(f, "one", 0).Serves)

	e.AnswerHTML()
	status, kind, body := get(t, e.URL()+"/metrics")
	assert.Equal(t, http.StatusOK, status)
	assert.Equal(t, "text/html", kind)
	assert.Contains(t, body, "<html>")
	e.Recover()
	scrape(t, e.URL()+"/metrics")
}

// What SGLang's users see: the tokenizer's counters stand still while answers are long, the scheduler's move.
func TestSGLangCountsRequestsOnlyWhenTheyFinish(t *testing.T) {
	f := start(t, Options{Seed: 1, Engines: []Spec{
		{Name: "one", Version: SGLangMain, Load: Load{OutputTokens: 100_000, MaxOutputTokens: 200_000}},
	}})
	e := f.Engine("one")
	f.Advance(time.Second)
	empty := scrape(t, e.URL()+"/metrics")
	assert.NotContains(t, empty, "sglang:num_running_reqs", "a gauge that was never set")
	assert.Contains(t, empty, "sglang:prefill_effective_tokens_total", "made at the start")

	e.Submit(4)
	f.Advance(10 * time.Second)
	got := scrape(t, e.URL()+"/metrics")
	assert.InDelta(t, 4, got.sum("sglang:num_running_reqs"), 0)
	assert.Positive(t, got.sum("sglang:realtime_tokens_total", "mode=decode"))
	assert.NotContains(t, got, "sglang:generation_tokens_total")
	assert.Equal(t, "NaN", got["sglang:fwd_occupancy"][0].value)

	e.Abort()
	f.Advance(10 * time.Second)
	got = scrape(t, e.URL()+"/metrics")
	assert.InDelta(t, 4, got.sum("sglang:num_running_reqs"), 0, "idle: frozen at what was")
	assert.InDelta(t, 4, got.sum("sglang:num_aborted_requests_total"), 0)
}

func TestAPauseForNewWeights(t *testing.T) {
	f := start(t, Options{Seed: 1, Engines: []Spec{
		{Name: "sglang", Version: SGLangMain, Load: Load{RequestsPerSecond: 5}}, {Name: "vllm", Version: VLLM026},
	}})
	f.Advance(10 * time.Second)
	for _, e := range f.Engines() {
		e.Pause()
	}
	before := f.Engine("sglang").Totals().DecodedTokens
	f.Advance(3 * time.Second)
	assert.Equal(t, before, f.Engine("sglang").Totals().DecodedTokens)
	vllm := scrape(t, f.Engine("vllm").URL()+"/metrics")
	assert.InDelta(t, 1, vllm.sum("vllm:engine_sleep_state", "sleep_state=weights_offloaded"), 0)
	assert.Zero(t, vllm.sum("vllm:engine_sleep_state", "sleep_state=awake"))
	f.Engine("sglang").Continue()
	got := scrape(t, f.Engine("sglang").URL()+"/metrics")
	assert.InDelta(t, 3, got.sum("sglang:weight_load_duration_seconds", "source=distributed"), 0)
}

func TestSickEngines(t *testing.T) {
	f := start(t, Options{Seed: 1, Engines: []Spec{
		{Name: "small", Version: VLLM026, Load: Load{RequestsPerSecond: 6}},
		{Name: "slow", Version: SGLang0515, Load: Load{RequestsPerSecond: 6}},
	}})
	f.Advance(20 * time.Second)
	assert.Zero(t, f.Engine("small").Totals().Preemptions)
	f.Engine("small").SetKVTokens(20_000)
	f.Engine("small").SetLoad(40)
	f.Engine("slow").SetSlowness(20)
	f.Advance(60 * time.Second)

	small, slow := f.Engine("small").Totals(), f.Engine("slow").Totals()
	assert.Positive(t, small.Preemptions)
	got := scrape(t, f.Engine("small").URL()+"/metrics")
	assert.InDelta(t, small.Preemptions, got.sum("vllm:num_preemptions_total"), 0)
	assert.Greater(t, got.sum("vllm:kv_cache_usage_perc"), 0.8)
	assert.Greater(t, slow.Waiting, 100)
	assert.InDelta(t, slow.Waiting, scrape(t, f.Engine("slow").URL()+"/metrics").sum("sglang:num_queue_reqs"), 0)
}

// A prefill engine hands every request on: what finished there has begun at its peer.
func TestDisaggregation(t *testing.T) {
	f := start(t, Options{Seed: 1, Engines: EveryVersion(3)})
	f.Advance(time.Minute)
	for prefill, decode := range map[string]string{"sglang-prefill": "sglang-decode", "vllm-prefill": "vllm-decode"} {
		from, to := f.Engine(prefill).Totals(), f.Engine(decode).Totals()
		assert.Positive(t, to.Finished)
		assert.Equal(t, from.Finished, from.Output, "one token each")
		measured := from.Transfers
		if prefill == "vllm-prefill" {
			measured = to.Transfers
		}
		assert.Equal(t, from.Finished, measured.Count)
		assert.InDelta(t, from.Finished, to.QueueTime.Count+int64(to.Waiting), 2)
	}
	got := scrape(t, f.Engine("sglang-prefill").URL()+"/metrics")
	assert.Positive(t, got.sum("sglang:kv_transfer_latency_ms_count"))
	old := scrape(t, f.Engine("sglang-old-prefill").URL()+"/metrics")
	assert.Positive(t, old.sum("sglang:kv_transfer_latency_ms"), "a gauge of the same name")
	assert.Contains(t, old, "sglang:num_prefill_prealloc_queue_reqs")
}

func TestRouters(t *testing.T) {
	specs := EveryVersion(3)
	alike := []Spec{specs[1], specs[1], specs[1]}
	alike[1].Name, alike[2].Name = "second", "third"
	for _, test := range []struct {
		version RouterVersion
		specs   []Spec
		status  int
	}{
		{RouterSGL02, alike, http.StatusOK},
		{RouterSGL02, specs[:3], http.StatusInternalServerError},
		{RouterSlime, specs, http.StatusOK},
		{RouterSMG, specs, http.StatusOK},
	} {
		f := start(t, Options{Seed: 1, Engines: test.specs, Router: test.version, RouterTimeout: time.Minute})
		f.Advance(30 * time.Second)
		status, _, body := get(t, f.Router().URL()+"/engine_metrics")
		require.Equal(t, test.status, status, test.version)
		if status != http.StatusOK {
			continue
		}
		got := scrape(t, f.Router().URL()+"/engine_metrics")
		for _, e := range f.Engines() {
			if e.Spec().Version.sglang() {
				direct := scrape(t, e.URL()+"/metrics")
				for _, name := range []string{"realtime_tokens_total", "num_requests_total", "e2e_request_latency_seconds_bucket"} {
					assert.InDelta(t, direct.sum("sglang:"+name), got.sum("sglang_"+name, "worker_addr="+e.URL()), 0, e.Name())
				}
			}
		}
		assert.NotContains(t, strings.ReplaceAll(body, "http://127.0.0.1:", ""), ":", "colons become underscores")
		assert.Equal(t, test.version == RouterSMG, strings.Contains(body, `dp_rank=""`))

		f.Engines()[1].Kill()
		assert.NotContains(t, addresses(scrape(t, f.Router().URL()+"/engine_metrics")), f.Engines()[1].URL(), "left out without a word")
		workersOf(t, f, test.version)
	}
}

func TestARouterLeavesAHungWorkerOut(t *testing.T) {
	f := start(t, Options{Seed: 1, Engines: EveryVersion(3), Router: RouterSlime, RouterTimeout: time.Second})
	f.Advance(10 * time.Second)
	f.Engine("sglang").Hang()
	assert.NotContains(t, addresses(scrape(t, f.Router().URL()+"/engine_metrics")), f.Engine("sglang").URL())
}

func addresses(got families) (all []string) {
	for _, samples := range got {
		for _, s := range samples {
			all = append(all, s.labels["worker_addr"])
		}
	}
	return all
}

func workersOf(t *testing.T, f *Fleet, version RouterVersion) {
	t.Helper()
	var want, got []string
	for _, e := range f.Engines() {
		want = append(want, e.URL())
	}
	if version == RouterSGL02 {
		_, _, body := get(t, f.Router().URL()+"/list_workers")
		var answer struct{ URLs []string }
		require.NoError(t, json.Unmarshal([]byte(body), &answer))
		assert.Equal(t, want, answer.URLs)
		return
	}
	_, _, body := get(t, f.Router().URL()+"/workers")
	var answer struct{ Workers []struct{ URL string } }
	require.NoError(t, json.Unmarshal([]byte(body), &answer))
	for _, w := range answer.Workers {
		got = append(got, w.URL)
	}
	assert.Equal(t, want, got)

	own := scrape(t, f.Router().MetricsURL()+"/metrics")
	routed := f.Router().Routed()
	assert.Positive(t, routed.Lost)
	assert.InDelta(t, routed.Finished+routed.Lost, own.sum("smg_router_requests_total"), 0)
	assert.InDelta(t, routed.Finished, own.sum("smg_router_request_duration_seconds_count"), 0)
}

// Who asks for OpenMetrics gets names that do not belong together, as from client_python.
func TestOpenMetricsHasTheDefect(t *testing.T) {
	f := start(t, Options{Seed: 1, Engines: []Spec{{Name: "one", Version: SGLangMain, Load: Load{RequestsPerSecond: 5}}}})
	f.Advance(20 * time.Second)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, f.Engine("one").URL()+"/metrics", nil)
	require.NoError(t, err)
	request.Header.Set("Accept", "application/openmetrics-text;version=1.0.0,text/plain;q=0.5")
	response, err := client.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	assert.Contains(t, response.Header.Get("Content-Type"), "openmetrics")
	assert.Contains(t, string(body), "# TYPE sglang:num_requests counter\n")
	assert.Contains(t, string(body), "\nsglang_num_requests_total{")
	assert.True(t, strings.HasSuffix(string(body), "# EOF\n"))
}

func TestBadOptions(t *testing.T) {
	for want, options := range map[string]Options{
		`version "sglang-9" is not known`:     {Engines: []Spec{{Name: "a", Version: "sglang-9"}}},
		`two engines are called "a"`:          {Engines: []Spec{{Name: "a", Version: VLLM026}, {Name: "a", Version: VLLM026}}},
		`its peer "b" is not in the fleet`:    {Engines: []Spec{{Name: "a", Version: VLLM026, Role: Prefill, Peer: "b"}}},
		`router version "nginx" is not known`: {Engines: []Spec{{Name: "a", Version: VLLM026}}, Router: "nginx"},
	} {
		_, err := Start(options)
		assert.ErrorContains(t, err, want)
	}
}

func TestDriveFollowsTheClock(t *testing.T) {
	f := start(t, Options{Seed: 1, Engines: []Spec{{Name: "a", Version: VLLM026}}})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); f.Drive(ctx, 1000) }()
	require.Eventually(t, func() bool { return f.Now() > 20*time.Second }, 30*time.Second, 5*time.Millisecond)
	cancel()
	<-done
}
