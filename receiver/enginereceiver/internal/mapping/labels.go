package mapping

import (
	"slices"
	"strconv"
	"strings"

	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/exposition"
	"github.com/pitwall-otel/pitwall/schema"
	"github.com/pitwall-otel/pitwall/schema/names"
)

// choose returns the mapping whose labels the series has, and the labels that it does not consume.
func choose(mappings []schema.Mapping, labels []exposition.Label) (*schema.Mapping, []exposition.Label) {
	for i := range mappings {
		m := &mappings[i]
		var rest []exposition.Label
		met := 0
		for _, l := range labels {
			if holds(m.When, l) {
				met++
				continue
			}
			rest = append(rest, l)
		}
		if met == len(m.When) {
			return m, rest
		}
	}
	return nil, nil
}

func holds(when []schema.Condition, l exposition.Label) bool {
	for _, c := range when {
		if c.Attribute == l.Name && c.Value == l.Value {
			return true
		}
	}
	return false
}

// withoutRanks takes out the labels that tell apart what says the same: ranks become the order of preference.
func (l *line) withoutRanks(labels []exposition.Label) []exposition.Label {
	var rest []exposition.Label
	profile := l.mapper.profiles[l.family.producer]
	for _, label := range labels {
		shift := -1
		if to, ok := profile.Attribute(label.Name, nil); ok {
			switch to.Name {
			case names.AttributeInferenceRankPipeline:
				shift = 32
			case names.AttributeInferenceRankTensor:
				shift = 16
			case names.AttributeInferenceRankExpert:
				shift = 0
			}
		}
		if label.Name == "pid" {
			l.several = true
			continue
		}
		n, err := strconv.ParseUint(label.Value, 10, 16)
		if shift < 0 || err != nil {
			rest = append(rest, label)
			continue
		}
		l.rank |= rank(n) << shift
	}
	return rest
}

// label returns the value of a label as it stands there.
func (l *line) label(name string) string {
	for _, label := range l.labels {
		if label.Name == name {
			return label.Value
		}
	}
	return ""
}

// renamed returns the labels with those of older releases as the registry knows them.
func (l *line) renamed() []exposition.Label {
	if l.family.producer != sglang {
		return l.labels
	}
	labels := slices.Clone(l.labels)
	for i := range labels {
		label := &labels[i]
		switch {
		case label.Name == "name" && l.family.name != "sglang:func_latency_seconds" && l.label("model_name") == "":
			label.Name = "model_name" // until late 2024
		case label.Name == "cache_source" && strings.HasPrefix(label.Value, "storage_"):
			label.Value = "storage" // one per backend
		}
	}
	if l.family.name == "sglang:cached_tokens_total" && l.label("cache_source") == "" {
		labels = append(labels, exposition.Label{Name: "cache_source", Value: "any"})
	}
	return labels
}
