package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pitwall-otel/pitwall/schema"
)

// population are attributes whose values are members of one crowd, over which a mean is what it says, or the same for all
// points of a line. Every other attribute of a gauge tells apart what has no common mean, such as best-of-8 and mean scores.
func population() []string {
	return []string{
		"cpu", "gen_ai.provider.name", "inference.request.priority", "pitwall.target.version", "rl.agent.name", "rl.benchmark.harness",
		"rl.checkpoint.host", "rl.checkpoint.id", "rl.checkpoint.url", "rl.data.bucket", "rl.environment.name", "rl.head_group", "rl.layer",
		"rl.milestone.target_tokens", "rl.state.name", "rl.step", "rl.token.rank",
	}
}

// Mixed returns the queries that take points of a gauge together although an attribute that they do not mention tells them
// apart.
func (n *Names) Mixed(references []Reference) []string {
	var mixed []string
	for _, r := range references {
		for _, attribute := range n.apart[r.Name] {
			if r.Kind == "metric" && !strings.Contains(r.SQL, "'"+attribute+"'") {
				mixed = append(mixed, fmt.Sprintf("%s: %s: takes points of %q together that %s tells apart", r.File, r.Where, r.Name, attribute))
			}
		}
	}
	slices.Sort(mixed)
	return slices.Compact(mixed) // a query may name a metric several times
}

// addApart keeps what tells apart the points that a name in the table stands for.
func (n *Names) addApart(m *schema.Metric) {
	if m.Instrument != "gauge" { // counters add up, and so do the buckets of histograms
		return
	}
	var consumed []string // by a rule that gives what has the attribute another name
	for _, rule := range m.Table {
		for _, condition := range rule.When {
			consumed = append(consumed, condition.Attribute)
		}
	}
	var apart []string
	for _, use := range m.Attributes {
		if !slices.Contains(population(), use.Name) && !slices.Contains(consumed, use.Name) {
			apart = append(apart, use.Name)
		}
	}
	n.apart[m.Name] = apart
	for _, rule := range m.Table {
		n.apart[rule.Name.String()] = apart
	}
}
