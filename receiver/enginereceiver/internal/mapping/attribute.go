package mapping

import (
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/exposition"
	"github.com/pitwall-otel/pitwall/schema"
	"github.com/pitwall-otel/pitwall/schema/names"
)

// attribute is one of a point. value is a string, int64, float64 or bool.
type attribute struct {
	key   string
	value any
}

// attributes have different keys.
type attributes []attribute

func (a attributes) index(key string) int {
	return slices.IndexFunc(a, func(one attribute) bool { return one.key == key })
}

// add appends unless the key is there.
func (a *attributes) add(key string, value any) {
	if a.index(key) < 0 {
		*a = append(*a, attribute{key, value})
	}
}

// without returns a copy that lacks the key.
func (a attributes) without(key string) attributes {
	return slices.DeleteFunc(slices.Clone(a), func(one attribute) bool { return one.key == key })
}

// sorted returns a copy sorted by key.
func (a attributes) sorted() attributes {
	b := slices.Clone(a)
	slices.SortFunc(b, func(x, y attribute) int { return strings.Compare(x.key, y.key) })
	return b
}

// identity is text that only equal attributes have in common.
func (a attributes) identity() string { return string(a.sorted().appendIdentity(nil)) }

// appendIdentity is for attributes that are sorted.
func (a attributes) appendIdentity(b []byte) []byte {
	for _, one := range a {
		b = append(b, 0)
		b = append(b, one.key...)
		switch v := one.value.(type) {
		case string:
			b = append(b, 0, 's')
			b = append(b, v...)
		case int64:
			b = strconv.AppendInt(append(b, 0, 'i'), v, 10)
		case float64:
			b = strconv.AppendFloat(append(b, 0, 'f'), v, 'g', -1, 64)
		case bool:
			b = strconv.AppendBool(append(b, 0, 'b'), v)
		}
	}
	return b
}

func (a attributes) pcommon() pcommon.Map {
	m := pcommon.NewMap()
	m.EnsureCapacity(len(a))
	for _, one := range a {
		switch v := one.value.(type) {
		case string:
			m.PutStr(one.key, v)
		case int64:
			m.PutInt(one.key, v)
		case float64:
			m.PutDouble(one.key, v)
		case bool:
			m.PutBool(one.key, v)
		}
	}
	return m
}

// typed reads text as the attribute's type; false when it is none.
func typed(a *schema.Attribute, text string) (any, bool) {
	switch a.Type {
	case "int":
		n, err := strconv.ParseInt(text, 10, 64)
		return n, err == nil
	case "double":
		v, err := strconv.ParseFloat(text, 64)
		return v, err == nil
	case "boolean":
		return text == "true", text == "true" || text == "false"
	default:
		return text, true
	}
}

// canonical makes a metric's attributes of a family's labels. Labels that mean nothing here, such as those that an
// operator adds, stay as they are: without them two series would become one.
func (m *Mapper) canonical(f *family, metric *schema.Metric, set []schema.Assignment, labels []exposition.Label) attributes {
	var a attributes
	if f.provider != "" && metric.Attribute(names.AttributeGenAIProviderName) != nil {
		a.add(names.AttributeGenAIProviderName, f.provider)
	}
	if metric.Attribute(names.AttributeGenAIOperationName) != nil && m.options.Operation != "" {
		a.add(names.AttributeGenAIOperationName, m.options.Operation)
	}
	for _, s := range set {
		if v, ok := typed(s.Attribute, s.Value); ok {
			a.add(s.Attribute.Name, v)
		}
	}
	profile := m.profiles[f.producer]
	best := map[string]int{}
	for _, l := range labels {
		to, ok := profile.Attribute(l.Name, metric)
		if !ok {
			continue
		}
		if p, taken := best[to.Name]; !taken || to.Preference < p {
			best[to.Name] = to.Preference
		}
	}
	for _, l := range labels {
		to, ok := profile.Attribute(l.Name, metric)
		if !ok || to.Preference > best[to.Name] || a.index(to.Name) >= 0 {
			a.add(l.Name, l.Value)
			continue
		}
		text, ok := to.Value(l.Value)
		if !ok {
			text = l.Value // the conventions leave enums open
		}
		if v, ok := typed(to.Attribute, text); ok {
			a.add(to.Name, v)
		} else {
			a.add(l.Name, l.Value)
		}
	}
	return a
}

// verbatim are labels as attributes.
func verbatim(labels []exposition.Label) attributes {
	a := make(attributes, 0, len(labels)+2)
	for _, l := range labels {
		a.add(l.Name, l.Value)
	}
	return a
}
