package targets

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pitwall-otel/pitwall/schema/names"
)

const (
	maxLabels     = 16
	maxLabelName  = 128
	maxLabelValue = 512
)

// Attribute is a resource attribute. Number says that Value is an integer and travels as one.
type Attribute struct {
	Key, Value string
	Number     bool
}

// attributes makes resource attributes of labels. Short names stand for the registry's:
//
//	run       rl.run.id
//	attempt   rl.run.attempt
//	role      inference.role for unified, prefill and decode, else rl.role
//	group     rl.worker.group
//	replica   rl.replica.id
//	host      host.name
//
// Other names are taken as they are. Labels with an empty value and those that begin with __, which service discovery
// for Prometheus keeps for itself, are left out.
func attributes(labels map[string]string) ([]Attribute, error) {
	var all []Attribute
	for name, value := range labels {
		if value == "" || strings.HasPrefix(name, "__") {
			continue
		}
		if len(name) > maxLabelName || len(value) > maxLabelValue || !utf8.ValidString(name+value) {
			return nil, fmt.Errorf("label %q must be UTF-8, its name of %d bytes at most and its value of %d", shorten(name), maxLabelName, maxLabelValue)
		}
		a := Attribute{Key: name, Value: value}
		switch name {
		case "run":
			a.Key = names.AttributeRLRunID
		case "attempt":
			a.Key = names.AttributeRLRunAttempt
		case "role":
			if a.Key = names.AttributeRLRole; isInferenceRole(value) {
				a.Key = names.AttributeInferenceRole
			}
		case "group":
			a.Key = names.AttributeRLWorkerGroup
		case "replica":
			a.Key = names.AttributeRLReplicaID
		case "host":
			a.Key = names.AttributeHostName
		}
		if a.Key == names.AttributeRLRunAttempt || a.Key == names.AttributeRLReplicaID {
			a.Number = true
			if _, err := strconv.ParseInt(value, 10, 64); err != nil {
				return nil, fmt.Errorf("label %q must be an integer, not %q", name, shorten(value))
			}
		}
		all = append(all, a)
	}
	if len(all) > maxLabels {
		return nil, fmt.Errorf("%d labels; %d are allowed", len(all), maxLabels)
	}
	slices.SortFunc(all, func(a, b Attribute) int { return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Value, b.Value)) })
	for i := 1; i < len(all); i++ {
		if all[i].Key == all[i-1].Key {
			return nil, fmt.Errorf("two labels are the attribute %q", all[i].Key)
		}
	}
	return all, nil
}

func isInferenceRole(value string) bool {
	return value == "unified" || value == "prefill" || value == "decode"
}
