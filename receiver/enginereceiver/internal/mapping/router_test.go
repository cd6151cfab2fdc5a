package mapping

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/pitwall-otel/pitwall/schema/names"
)

// routed is a worker's page as the router repeats it: each colon of the text becomes an underscore, also in HELP and in the
// values of labels, numbers lose their ".0", and worker_addr is added. pad adds labels that only other workers have.
func routed(body, address string, pad ...string) string {
	body = strings.ReplaceAll(body, ":", "_")
	body = regexp.MustCompile(`\.0\n`).ReplaceAllString(body, "\n")
	var b strings.Builder
	for line := range strings.Lines(body) {
		if strings.HasPrefix(line, "#") {
			b.WriteString(line)
			continue
		}
		more := fmt.Sprintf("worker_addr=%q", address)
		for _, label := range pad {
			if !strings.Contains(line, label+"=") {
				more += fmt.Sprintf(",%s=\"\"", label)
			}
		}
		if name, rest, ok := strings.Cut(line, "{"); ok {
			labels, value, _ := strings.Cut(rest, "} ")
			fmt.Fprintf(&b, "%s{%s,%s} %s", name, labels, more, value)
		} else {
			name, value, _ := strings.Cut(line, " ")
			fmt.Fprintf(&b, "%s{%s} %s", name, more, value)
		}
	}
	return b.String()
}

// What a router says of engines is what they say themselves, whatever the router: each engine is a resource of its own.
func TestRouterSaysWhatWorkersSay(t *testing.T) {
	f := func(what string, pageOf func(worker, address string) string) {
		t.Run(what, func(t *testing.T) {
			var body string
			var want []string
			for i, worker := range []string{"sglang-prefill", "sglang-decode-dp", "sglang-0.5.9", "vllm-0.26"} {
				host := fmt.Sprintf("10.0.1.%d:1500%d", i, i)
				body += pageOf(read(t, worker+".prom"), "http://"+host)
				for _, line := range wanted(t, worker) {
					want = append(want, strings.Replace(line, "10.0.0.7:30000", host, 1))
				}
			}
			slices.Sort(want)
			metrics, report := newTarget(t, nil).Map(page(body), noon())
			assert.Equal(t, want, strings.Split(strings.TrimSpace(render(metrics)), "\n"))
			assert.Equal(t, []string{"10.0.1.0:15000", "10.0.1.1:15001", "10.0.1.2:15002", "10.0.1.3:15003"}, report.Workers)
		})
	}
	f("slime's: families concatenated", func(worker, address string) string { return routed(worker, address) })
	f("smg: labels padded", func(worker, address string) string {
		return routed(worker, address, "dp_rank", "priority", "is_streaming", "engine")
	})
	f("one scrape per data-parallel rank: each page twice", func(worker, address string) string {
		return routed(worker, address+"@0") + routed(worker, address+"@1")
	})
}

// A router answers 200 while workers are gone.
func TestWorkersThatVanish(t *testing.T) {
	target := newTarget(t, nil)
	up := func(workers ...string) []string {
		var body string
		for _, w := range workers {
			body += routed("# TYPE sglang:num_running_reqs gauge\nsglang:num_running_reqs 1\n", "http://"+w)
		}
		metrics, report := target.Map(page(body), noon())
		var lines []string
		for line := range strings.Lines(render(metrics)) {
			if strings.Contains(line, names.InferenceEngineUp) {
				lines = append(lines, strings.TrimSpace(line))
			}
		}
		return append(lines, "vanished "+strings.Join(report.Vanished, " "))
	}
	assert.Equal(t, []string{"a:1 inference.engine.up{} gauge 1 = 1", "b:1 inference.engine.up{} gauge 1 = 1", "vanished "}, up("a:1", "b:1"))
	assert.Equal(t, []string{"a:1 inference.engine.up{} gauge 1 = 1", "b:1 inference.engine.up{} gauge 1 = 0", "vanished b:1"}, up("a:1"))
	assert.Equal(t, []string{"a:1 inference.engine.up{} gauge 1 = 1", "b:1 inference.engine.up{} gauge 1 = 0", "vanished "}, up("a:1"))
	assert.Equal(t, []string{"a:1 inference.engine.up{} gauge 1 = 1", "b:1 inference.engine.up{} gauge 1 = 1", "vanished "}, up("a:1", "b:1"))
	down := render(target.Down(noon()))
	assert.Equal(t, "a:1 inference.engine.up{} gauge 1 = 0\nb:1 inference.engine.up{} gauge 1 = 0\n", down)
	assert.Equal(t, []string{"a:1 inference.engine.up{} gauge 1 = 1", "b:1 inference.engine.up{} gauge 1 = 1", "vanished "}, up("a:1", "b:1"))
	target.Truncated()
	assert.Equal(t, []string{"a:1 inference.engine.up{} gauge 1 = 1", "vanished "}, up("a:1"), "what was cut off is not known")
}

func TestWorkerAddress(t *testing.T) {
	for text, want := range map[string]string{
		"http://10.0.0.3:15001":        "10.0.0.3:15001",
		"grpc://Host-1:8001":           "host-1:8001",
		"http://10.0.0.3:15001@7":      "10.0.0.3:15001",
		"10.0.0.3:15001":               "10.0.0.3:15001",
		"https://[fd00::1]:15001/base": "[fd00::1]:15001",
		"http://user:secret@h:1":       "h:1",
		"http://user:secret@h:1@3":     "h:1",
	} {
		assert.Equal(t, want, workerAddress(text), text)
	}
}

// The page's own engine is down for as long as it is asked for, a worker only until it is forgotten.
func TestDownForLong(t *testing.T) {
	f := func(want, body string) {
		target := newTarget(t, nil)
		target.Map(page(body), noon())
		for range 50 {
			target.Down(noon())
		}
		assert.Equal(t, want, strings.TrimSpace(render(target.Down(noon()))))
	}
	f("10.0.0.7:30000 inference.engine.up{} gauge 1 = 0", decoded(1))
	f("", routed(decoded(1), "http://a:1"))
}
