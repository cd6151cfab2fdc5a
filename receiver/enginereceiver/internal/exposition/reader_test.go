package exposition_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/exposition"
)

const (
	plain       = "text/plain; version=0.0.4; charset=utf-8"
	openMetrics = "application/openmetrics-text; version=1.0.0; charset=utf-8"
)

// read writes each sample as "family type part name {labels} value @timestamp".
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

func TestSamplesBelongToFamilies(t *testing.T) {
	f := func(name, contentType, body string, want ...string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			got, bad, err := read(body, contentType, exposition.DefaultLimits())
			assert.NoError(t, err)
			assert.Equal(t, want, got)
			assert.Zero(t, bad.Total())
		})
	}
	f("counter in text", plain, "# TYPE vllm:prompt_tokens_total counter\nvllm:prompt_tokens_total{engine=\"0\"} 5\n",
		`vllm:prompt_tokens_total counter value vllm:prompt_tokens_total{engine="0"} 5`)
	f("counter in OpenMetrics", openMetrics, "# TYPE vllm_prompt_tokens counter\nvllm_prompt_tokens_total 5\nvllm_prompt_tokens_created 1.7e9\n# EOF\n",
		`vllm_prompt_tokens_total counter value vllm_prompt_tokens_total{} 5`,
		`vllm_prompt_tokens_total counter created vllm_prompt_tokens_created{} 1.7e+09`)
}
