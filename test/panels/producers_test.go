package panels

import (
	"bytes"
	"encoding/json"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
)

// producers are the training frameworks; the two engines among the fixtures are TestEngineVersions'.
var producers = []string{"verl", "slime", "prime-rl", "openrlhf", "nemo-rl", "areal", "skyrl"}

// Why frameworks lack something that others log.
const (
	noLoss     = "it logs the policy's loss alone, which has its own panel, and no total"
	noLength   = "among its names that were read is no length of answers without their prompts"
	noUpdateKL = "it logs no KL between the policies before and after the update"
)

// TestProducers sends what each training framework logs, under the framework's own names, and says which panels it fills.
// The names are those of testdata/producers, and what the lists of processor/schemaprocessor's tests have besides.
func TestProducers(t *testing.T) {
	s := startStack(t)
	now := time.Now()
	for _, producer := range producers {
		s.send(t, readProducer(t, producer), now)
	}
	require.Eventually(t, func() bool {
		return s.run(t, "SELECT uniqExact(run_id) FROM "+database+".metric_points WHERE run_id IN ('"+strings.Join(producers, "', '")+"')") ==
			strconv.Itoa(len(producers))
	}, time.Minute, 200*time.Millisecond, "not every run is in the table")

	source, w := s.dataSource(t), window{now.Add(-10 * time.Minute), now.Add(time.Minute)}
	c := cover(t, source, "pitwall-training", w, producers)
	golden(t, "coverage-training", c.String())
	golden(t, "coverage-model", cover(t, source, "pitwall-model", w, producers).without().String())
	c.requireCore(t, []string{
		"Loss (xychart)", "Step (stat)", "Reward (xychart)", "Length of answers (xychart)",
		"KL of the update (xychart)", "Entropy (xychart)",
	}, lacks{
		"slime":    {"Reward (xychart)": "it logs only what the verifier gave, rollout/raw_reward, which is rl.score"},
		"prime-rl": {"Length of answers (xychart)": noLength, "KL of the update (xychart)": noUpdateKL},
		"openrlhf": {
			"Loss (xychart)":    noLoss,
			"Entropy (xychart)": "it logs only the entropy loss, coefficient included",
		},
		"nemo-rl": {"KL of the update (xychart)": noUpdateKL},
		"areal":   {"Loss (xychart)": noLoss, "Length of answers (xychart)": noLength},
		"skyrl":   {"KL of the update (xychart)": noUpdateKL},
	})
}

// producer is one framework's list of metrics.
type producer struct {
	Scope           string
	Resource        map[string]any
	BecomesResource map[string]any `yaml:"becomes_resource"`
	Every           map[string]any
	Metrics         []logged
}

type logged struct {
	Send, Wire string
	Value      float64
	With       map[string]any
}

// readProducer reads the fixture of processor/schemaprocessor and adds the names of testdata/producers that it leaves out.
func readProducer(t *testing.T, name string) producer {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "processor", "schemaprocessor", "testdata", "producers", name+".yaml"))
	require.NoError(t, err)
	var p producer
	require.NoError(t, yaml.Unmarshal(text, &p))
	for key, value := range p.Resource { // in the framework's own key
		if value == p.BecomesResource["rl.run.id"] {
			p.Resource[key] = name
		}
	}
	names, err := os.ReadFile(filepath.Join("testdata", "producers", name+".txt"))
	require.NoError(t, err)
	for line := range strings.Lines(string(names)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		for _, metric := range expand(strings.TrimSpace(line)) {
			if !slices.ContainsFunc(p.Metrics, func(m logged) bool { return m.Send == metric }) {
				p.Metrics = append(p.Metrics, logged{Send: metric, Value: 0.5})
			}
		}
	}
	return p
}

// expand writes out the alternatives of a{b,c}d, as a shell does; braces do not nest.
func expand(pattern string) []string {
	before, rest, found := strings.Cut(pattern, "{")
	if !found {
		return []string{pattern}
	}
	choices, after, _ := strings.Cut(rest, "}")
	var all []string
	for choice := range strings.SplitSeq(choices, ",") {
		for _, tail := range expand(after) {
			all = append(all, before+choice+tail)
		}
	}
	return all
}

// send posts what the framework logs of three steps, a minute between them, the last one now.
func (s *stack) send(t *testing.T, p producer, now time.Time) {
	t.Helper()
	type object = map[string]any
	attributes := func(all ...map[string]any) []object {
		list := []object{}
		for _, m := range all {
			for key, value := range m {
				switch value := value.(type) {
				case int:
					list = append(list, object{"key": key, "value": object{"intValue": strconv.Itoa(value)}})
				case float64:
					list = append(list, object{"key": key, "value": object{"doubleValue": value}})
				default:
					list = append(list, object{"key": key, "value": object{"stringValue": value}})
				}
			}
		}
		return list
	}
	var metrics []object
	for step := range 3 {
		at := strconv.FormatInt(now.Add(time.Duration(step-2)*time.Minute).UnixNano(), 10)
		for _, m := range p.Metrics {
			value := m.Value
			if math.IsNaN(value) || math.IsInf(value, 0) {
				value = 1 // the fixtures' strange values are not this test's matter
			}
			point := object{"timeUnixNano": at, "asDouble": value, "attributes": attributes(p.every(t, step), m.With)}
			metrics = append(metrics, object{"name": m.Send, "unit": m.Wire, "gauge": object{"dataPoints": []object{point}}})
		}
	}
	body, err := json.Marshal(object{"resourceMetrics": []object{{
		"resource":     object{"attributes": attributes(p.Resource)},
		"scopeMetrics": []object{{"scope": object{"name": p.Scope}, "metrics": metrics}},
	}}})
	require.NoError(t, err)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+s.otlp+"/v1/metrics", bytes.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer answer.Body.Close()
	require.Equal(t, http.StatusOK, answer.StatusCode)
}

// every is what stands on each point of a step: the framework's own key of it, moved on; prime-rl sends it as text.
func (p producer) every(t *testing.T, step int) map[string]any {
	t.Helper()
	moved := map[string]any{}
	for key, value := range p.Every {
		switch value := value.(type) {
		case int:
			moved[key] = value + step
		case string:
			number, err := strconv.Atoi(value)
			require.NoError(t, err, key)
			moved[key] = strconv.Itoa(number + step)
		default:
			require.Fail(t, "what stands on every point is not a step", "%s: %v", key, value)
		}
	}
	return moved
}
