package fleet

import (
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func start(t *testing.T, options Options) *Fleet {
	t.Helper()
	f, err := Start(options)
	require.NoError(t, err)
	t.Cleanup(f.Close)
	return f
}

// get asks without keeping the connection, which would look like a leak.
func get(t *testing.T, url string) (status int, contentType, body string) {
	t.Helper()
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true}}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	response, err := client.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, response.Header.Get("Content-Type"), string(text)
}

// families are an exposition's samples by name, in their order.
type families map[string][]mergedSample

// scrape reads an exposition, which must be one to Prometheus' own parser.
func scrape(t *testing.T, url string) families {
	t.Helper()
	status, _, body := get(t, url)
	require.Equal(t, http.StatusOK, status, body)
	parser := expfmt.NewTextParser(model.LegacyValidation)
	_, err := parser.TextToMetricFamilies(strings.NewReader(body))
	require.NoError(t, err)
	all := families{}
	for line := range strings.Lines(body) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			s, err := parseSample(line)
			require.NoError(t, err)
			all[s.name] = append(all[s.name], s)
		}
	}
	return all
}

// sum adds the samples of a name that carry the labels, key=value.
func (f families) sum(name string, labels ...string) float64 {
	var sum float64
	for _, s := range f[name] {
		if s.has(labels) {
			sum += s.number()
		}
	}
	return sum
}

func (s mergedSample) has(labels []string) bool {
	for _, label := range labels {
		key, value, _ := strings.Cut(label, "=")
		if s.labels[key] != value {
			return false
		}
	}
	return true
}

func (s mergedSample) number() float64 {
	value, err := strconv.ParseFloat(s.value, 64)
	if err != nil {
		panic(err)
	}
	return value
}

// Every version's exposition says what the ledger says, which is added up from the requests themselves.
func TestExpositionsAgreeWithTheLedger(t *testing.T) {
	f := start(t, Options{Seed: 1, Engines: EveryVersion(4), KeepValues: true})
	f.Advance(90 * time.Second)
	for _, e := range f.Engines() {
		t.Run(e.Name(), func(t *testing.T) {
			got := scrape(t, e.URL()+"/metrics")
			life := lifeOf(f, e.Name(), 0)
			want := life.Last
			require.Equal(t, 1, life.Serves)
			require.Positive(t, want.Finished)

			prefix, finished, between, queue := "vllm:", "request_success_total", "inter_token_latency_seconds", "request_queue_time_seconds"
			var once []string
			switch e.Spec().Version {
			case VLLMV0, VLLM010:
				between = "time_per_output_token_seconds"
			case VLLM026:
			case SGLang059, SGLang0515, SGLangMain:
				prefix, finished, queue, once = "sglang:", "num_requests_total", "queue_time_seconds", []string{"pp_rank=0"}
				realtime := func(mode string) float64 {
					return got.sum("sglang:realtime_tokens_total", "pp_rank=0", "mode="+mode)
				}
				assert.InDelta(t, want.DecodedTokens, realtime("decode"), 0)
				assert.InDelta(t, want.CachedTokens, realtime("prefill_cache"), 0)
				assert.InDelta(t, want.ComputedTokens+want.RepeatedTokens, realtime("prefill_compute"), 0)
			}
			assert.InDelta(t, want.Finished, got.sum(prefix+finished), 0)
			assert.InDelta(t, want.PromptTokens, got.sum(prefix+"prompt_tokens_total"), 0)
			assert.InDelta(t, want.Output, got.sum(prefix+"generation_tokens_total"), 0)
			same(t, got, prefix+"time_to_first_token_seconds", want.FirstToken)
			same(t, got, prefix+between, want.BetweenTokens)
			same(t, got, prefix+"e2e_request_latency_seconds", want.EndToEnd)
			same(t, got, prefix+queue, want.QueueTime, once...)
		})
	}
}

// same compares a histogram, over all its series, with the observations of the ledger: count, sum and every bucket.
func same(t *testing.T, got families, name string, want Durations, labels ...string) {
	t.Helper()
	if want.Count == 0 {
		assert.Zero(t, got.sum(name+"_count", labels...), name)
		return
	}
	assert.InDelta(t, want.Count, got.sum(name+"_count", labels...), 0, name)
	assert.InDelta(t, want.Sum.Seconds(), got.sum(name+"_sum", labels...), 1e-9*want.Sum.Seconds(), name)
	buckets := map[string]int64{}
	for _, s := range got[name+"_bucket"] {
		if s.has(labels) {
			buckets[s.labels["le"]] += int64(s.number())
		}
	}
	for le, count := range buckets {
		bound, err := strconv.ParseFloat(le, 64)
		require.NoError(t, err)
		if le == "+Inf" {
			assert.Equal(t, want.Count, count, name)
			continue
		}
		assert.Equal(t, want.AtMost(time.Duration(math.Round(bound*1e9))), count, "%s up to %s", name, le)
	}
}

func lifeOf(f *Fleet, name string, number int) Life {
	for _, life := range f.Lives() {
		if life.Engine == name && life.Number == number {
			return life
		}
	}
	return Life{}
}
