package exposition_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/exposition"
)

const (
	plain       = "text/plain; version=0.0.4; charset=utf-8"
	openMetrics = "application/openmetrics-text; version=1.0.0; charset=utf-8"
)

// read writes each sample as "family type part name{labels} value @timestamp".
func read(body, contentType string, limits exposition.Limits) (lines []string, bad exposition.Bad, err error) {
	types := [...]string{"unknown", "counter", "gauge", "histogram", "summary", "info", "stateset", "gaugehistogram"}
	parts := [...]string{"value", "bucket", "sum", "count", "created"}
	r := exposition.NewReader([]byte(body), contentType, limits)
	for r.Next() {
		s := r.Sample()
		var labels []string
		for _, l := range r.Labels(nil) {
			labels = append(labels, fmt.Sprintf("%s=%q", l.Name, l.Value))
		}
		line := fmt.Sprintf("%s %s %s %s{%s} %v", s.Family, types[s.Type], parts[s.Part], s.Name, strings.Join(labels, ","), s.Value)
		if s.HasTimestamp {
			line += fmt.Sprintf(" @%d", s.Timestamp)
		}
		lines = append(lines, line)
	}
	return lines, r.Bad(), r.Err()
}

// reads checks what a body without bad lines gives.
func reads(t *testing.T, name, contentType string, body []string, want ...string) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		got, bad, err := read(strings.Join(body, "\n")+"\n", contentType, exposition.DefaultLimits())
		require.NoError(t, err)
		assert.Equal(t, want, got)
		assert.Zero(t, bad)
	})
}

func TestOneFormForBothFormats(t *testing.T) {
	want := []string{
		`x_total counter value x_total{a="1"} 5`,
		`x_total counter created x_created{a="1"} 1.7e+09`,
		`h_seconds histogram bucket h_seconds_bucket{le="1.0"} 2`,
		`h_seconds histogram bucket h_seconds_bucket{le="+Inf"} 3`,
		`h_seconds histogram count h_seconds_count{} 3`,
		`h_seconds histogram sum h_seconds_sum{} 4.5`,
		`h_seconds histogram created h_seconds_created{} 1.7e+09`,
		`q summary value q{quantile="0.5"} 1`,
		`q summary sum q_sum{} 9`,
	}
	reads(t, "text", plain, []string{
		`# HELP x_total Help.`, `# TYPE x_total counter`, `x_total{a="1"} 5.0`,
		`# TYPE x_created gauge`, `x_created{a="1"} 1.7e9`,
		`# TYPE h_seconds histogram`, `h_seconds_bucket{le="1.0"} 2`, `h_seconds_bucket{le="+Inf"} 3`,
		`h_seconds_count 3`, `h_seconds_sum 4.5`, `# TYPE h_seconds_created gauge`, `h_seconds_created 1.7e9`,
		`# TYPE q summary`, `q{quantile="0.5"} 1`, `q_sum 9`,
	}, want...)
	reads(t, "OpenMetrics", openMetrics, []string{
		`# HELP x Help.`, `# TYPE x counter`, `x_total{a="1"} 5.0`, `x_created{a="1"} 1.7e9`,
		`# TYPE h_seconds histogram`, `# UNIT h_seconds seconds`, `h_seconds_bucket{le="1.0"} 2 # {trace_id="7"} 0.5 1.7e9`,
		`h_seconds_bucket{le="+Inf"} 3`, `h_seconds_count 3`, `h_seconds_sum 4.5`, `h_seconds_created 1.7e9`,
		`# TYPE q summary`, `q{quantile="0.5"} 1`, `q_sum 9`, `# EOF`,
	}, want...)
}

func TestFamiliesOfEngines(t *testing.T) {
	f := func(name string, body []string, want ...string) {
		t.Helper()
		reads(t, name, plain, body, want...)
	}
	f("vLLM: a histogram whose name ends in _total",
		[]string{`# TYPE vllm:iteration_tokens_total histogram`, `vllm:iteration_tokens_total_bucket{le="1.0"} 2`, `vllm:iteration_tokens_total_sum 2`},
		`vllm:iteration_tokens_total histogram bucket vllm:iteration_tokens_total_bucket{le="1.0"} 2`,
		`vllm:iteration_tokens_total histogram sum vllm:iteration_tokens_total_sum{} 2`)
	f("router: a gauge whose name ends in _count, with le",
		[]string{`# TYPE smg_http_inflight_request_age_count gauge`, `smg_http_inflight_request_age_count{gt="30",le="60"} 0`},
		`smg_http_inflight_request_age_count gauge value smg_http_inflight_request_age_count{gt="30",le="60"} 0`)
	f("SGLang: _sum first",
		[]string{
			`# TYPE sglang:e2e_request_latency_seconds histogram`, `sglang:e2e_request_latency_seconds_sum{m="a"} 1`,
			`sglang:e2e_request_latency_seconds_bucket{le="0.07500000000000001",m="a"} 0`,
		},
		`sglang:e2e_request_latency_seconds histogram sum sglang:e2e_request_latency_seconds_sum{m="a"} 1`,
		`sglang:e2e_request_latency_seconds histogram bucket sglang:e2e_request_latency_seconds_bucket{le="0.07500000000000001",m="a"} 0`)
	f("a family in two places, the second without a TYPE line",
		[]string{`# TYPE a counter`, `a{w="1"} 1`, `# TYPE b gauge`, `b 1`, `a{w="2"} 2`, `# TYPE a counter`, `a{w="3"} 3`},
		`a counter value a{w="1"} 1`, `b gauge value b{} 1`, `a counter value a{w="2"} 2`, `a counter value a{w="3"} 3`)
	f("no TYPE line", []string{`a_bucket{le="1"} 1`, `a_created 5`},
		`a_bucket unknown value a_bucket{le="1"} 1`, `a_created unknown value a_created{} 5`)
	f("a name that another begins with",
		[]string{`# TYPE a gauge`, `# TYPE a_b histogram`, `a_b_sum 1`, `a 2`, `a_c 3`},
		`a_b histogram sum a_b_sum{} 1`, `a gauge value a{} 2`, `a_c unknown value a_c{} 3`)
	f("counters without _total, vLLM's first engine",
		[]string{`# TYPE vllm:prompt_tokens counter`, `vllm:prompt_tokens 1`, `# TYPE vllm:prompt_tokens_created gauge`, `vllm:prompt_tokens_created 5`},
		`vllm:prompt_tokens counter value vllm:prompt_tokens{} 1`, `vllm:prompt_tokens counter created vllm:prompt_tokens_created{} 5`)
	f("a summary without quantiles", []string{`# TYPE s summary`, `s_count 1`, `s_sum 2`},
		`s summary count s_count{} 1`, `s summary sum s_sum{} 2`)
	f("a TYPE that the samples contradict is left to the caller", []string{`# TYPE h histogram`, `h 5`}, `h histogram value h{} 5`)
	f("timestamps, infinities, NaN", []string{`a 1 1700000000000`, `b +Inf`, `c -Inf`, `d NaN`},
		`a unknown value a{} 1 @1700000000000`, `b unknown value b{} +Inf`, `c unknown value c{} -Inf`, `d unknown value d{} NaN`)
	f("escapes", []string{`a{b="x\"y\\z\nw",c="{=,}"} 1`}, `a unknown value a{b="x\"y\\z\nw",c="{=,}"} 1`)
	f("spaces", []string{`  a  {  b = "1" , }  2  3  `, "\tc\t4"}, `a unknown value a{b="1"} 2 @3`, `c unknown value c{} 4`)
	f("quoted names", []string{`# TYPE "a.b" counter`, `{"a.b",c="1"} 1`}, `a.b counter value a.b{c="1"} 1`)
	f("CRLF", []string{"# TYPE a counter\r", "a 1\r"}, `a counter value a{} 1`)
	f("an exemplar, which text does not have", []string{`# TYPE a counter`, `a{b="1"} 1 # {t="x"} 0.5`, `c{d="# {"} 2`},
		`a counter value a{b="1"} 1`, `c unknown value c{d="# {"} 2`)
	f("EOF in the middle, comments, blank lines", []string{`a 1`, `# EOF`, ``, `# a comment with "`, "#", " \t", `b 2`},
		`a unknown value a{} 1`, `b unknown value b{} 2`)
}

// client_python 0.23 to 0.25 escape the samples of a name with a colon and not its metadata, when OpenMetrics was asked for.
func TestColonInMetadataUnderscoreInSamples(t *testing.T) {
	reads(t, "OpenMetrics", openMetrics, []string{
		`# TYPE vllm:prompt_tokens counter`, `vllm_prompt_tokens_total 1`, `vllm_prompt_tokens_created 5`,
		`# TYPE vllm:ttft histogram`, `vllm_ttft_bucket{le="1"} 1`, `vllm_ttft_count 1`,
		`# TYPE vllm:running gauge`, `vllm_running 3`, `# EOF`,
	},
		`vllm_prompt_tokens_total counter value vllm_prompt_tokens_total{} 1`,
		`vllm_prompt_tokens_total counter created vllm_prompt_tokens_created{} 5`,
		`vllm_ttft histogram bucket vllm_ttft_bucket{le="1.0"} 1`, `vllm_ttft histogram count vllm_ttft_count{} 1`,
		`vllm_running gauge value vllm_running{} 3`)
	reads(t, "text, apart from each other", plain, []string{
		`# TYPE vllm:ttft histogram`, `# TYPE vllm:running gauge`, `vllm_ttft_sum 1`, `vllm_running 3`,
	}, `vllm_ttft histogram sum vllm_ttft_sum{} 1`, `vllm_running gauge value vllm_running{} 3`)
}

func TestOpenMetricsTypes(t *testing.T) {
	reads(t, "all", openMetrics, []string{
		`# TYPE i info`, `i_info{v="1"} 1`, `# TYPE s stateset`, `s{s="a"} 1`, `# TYPE g gaugehistogram`, `g_bucket{le="1.0"} 1`,
		`g_gcount 1`, `g_gsum 2`, `# TYPE u unknown`, `u 1 1.5`, `# EOF`,
	},
		`i_info info value i_info{v="1"} 1`, `s stateset value s{s="a"} 1`,
		`g gaugehistogram bucket g_bucket{le="1.0"} 1`, `g gaugehistogram count g_gcount{} 1`, `g gaugehistogram sum g_gsum{} 2`,
		`u unknown value u{} 1 @1500`)
}

func TestContentTypesAreNotBelieved(t *testing.T) {
	for _, contentType := range []string{"", "text/plain", "text/plain; version=1.0.0; charset=utf-8", "application/json", "text/html", ";;"} {
		reads(t, contentType, contentType, []string{`# TYPE vllm:a counter`, `vllm:a 1`}, `vllm:a counter value vllm:a{} 1`)
	}
	reads(t, "escaping=underscores", "application/openmetrics-text; version=1.0.0; escaping=underscores",
		[]string{`# TYPE a counter`, `a_total 1 1.5`}, `a_total counter value a_total{} 1 @1500`)
}
