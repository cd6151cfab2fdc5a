package fleet

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// merger puts the expositions of several workers together as the routers do: colons become underscores everywhere, before
// anything is read, and each worker's samples get its address as a label.
type merger struct {
	order    []string
	families map[string]*mergedFamily
}

type mergedFamily struct {
	help, kind string
	samples    []mergedSample
}

type mergedSample struct {
	name, value string
	labels      map[string]string
}

// add reads one worker's text. One that the strict parser does not take is left out whole.
func (m *merger) add(text, address string) {
	if m.families == nil {
		m.families = map[string]*mergedFamily{}
	}
	families := map[string]*mergedFamily{}
	var order []string
	var current *mergedFamily
	var name string
	for line := range strings.Lines(strings.ReplaceAll(text, ":", "_")) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "# HELP "):
			var help string
			name, help, _ = strings.Cut(strings.TrimPrefix(line, "# HELP "), " ")
			current = &mergedFamily{help: help}
			families[name] = current
			order = append(order, name)
		case strings.HasPrefix(line, "# TYPE ") && current != nil:
			current.kind = line[strings.LastIndexByte(line, ' ')+1:]
		case line == "":
		default:
			sample, err := parseSample(line)
			if err != nil || current == nil || !strings.HasPrefix(sample.name, name) ||
				current.kind == "counter" && (sample.value == "NaN" || strings.HasPrefix(sample.value, "-")) {
				return
			}
			sample.labels["worker_addr"] = address
			current.samples = append(current.samples, sample)
		}
	}
	for _, name := range order {
		if m.families[name] == nil {
			m.families[name] = &mergedFamily{help: families[name].help, kind: families[name].kind}
			m.order = append(m.order, name)
		}
		m.families[name].samples = append(m.families[name].samples, families[name].samples...)
	}
}

func parseSample(line string) (mergedSample, error) {
	end := strings.LastIndexByte(line, ' ')
	if end < 0 {
		return mergedSample{}, fmt.Errorf("no value in %q", line)
	}
	if _, err := strconv.ParseFloat(line[end+1:], 64); err != nil {
		return mergedSample{}, fmt.Errorf("value of %q: %w", line, err)
	}
	name, rest, labelled := strings.Cut(line[:end], "{")
	s := mergedSample{name: name, value: line[end+1:], labels: map[string]string{}}
	for labelled && rest != "" && rest != "}" {
		key, after, found := strings.Cut(strings.TrimPrefix(rest, ","), "=")
		value, err := strconv.QuotedPrefix(after)
		if !found || err != nil {
			return mergedSample{}, fmt.Errorf("labels of %q", line)
		}
		s.labels[key], _ = strconv.Unquote(value)
		rest = after[len(value):]
	}
	return s, nil
}

// merged writes everything: one HELP and TYPE per family, a blank line between families, labels sorted but le last, and
// whole numbers without a point.
func (m *merger) merged(version RouterVersion) (string, error) {
	if len(m.families) == 0 {
		return "", errors.New("All backend requests failed") //nolint:staticcheck // the router's own words
	}
	var b strings.Builder
	for i, name := range m.order {
		f := m.families[name]
		names := map[string]bool{}
		for _, s := range f.samples {
			for key := range s.labels {
				names[key] = true
			}
		}
		for _, s := range f.samples {
			different := len(s.labels) != len(names)
			if _, bucket := s.labels["le"]; names["le"] && !bucket {
				different = len(s.labels) != len(names)-1
			}
			if different && version == RouterSGL02 {
				return "", fmt.Errorf("Failed to merge metrics: label names of %s differ", name) //nolint:staticcheck // as above
			}
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s %s\n", name, f.help, name, f.kind)
		for _, s := range inOrder(f.samples) {
			if version == RouterSMG {
				for key := range names {
					if _, has := s.labels[key]; !has && key != "le" {
						s.labels[key] = ""
					}
				}
			}
			s.write(&b)
		}
	}
	return b.String(), nil
}

// inOrder puts the sum of a histogram behind its buckets: bucket, sum, count.
func inOrder(samples []mergedSample) []mergedSample {
	series := func(s mergedSample) string {
		labels := maps.Clone(s.labels)
		delete(labels, "le")
		var key strings.Builder
		for _, name := range slices.Sorted(maps.Keys(labels)) {
			key.WriteString(name + "=" + labels[name] + ",")
		}
		return key.String()
	}
	rank := func(s mergedSample) int {
		switch {
		case strings.HasSuffix(s.name, "_sum"):
			return 1
		case strings.HasSuffix(s.name, "_count") && s.labels["le"] == "":
			return 2
		}
		return 0
	}
	var order []string
	bySeries := map[string][]mergedSample{}
	for _, s := range samples {
		key := series(s)
		if bySeries[key] == nil {
			order = append(order, key)
		}
		bySeries[key] = append(bySeries[key], s)
	}
	sorted := make([]mergedSample, 0, len(samples))
	for _, key := range order {
		slices.SortStableFunc(bySeries[key], func(a, b mergedSample) int { return rank(a) - rank(b) })
		sorted = append(sorted, bySeries[key]...)
	}
	return sorted
}

func (s mergedSample) write(b *strings.Builder) {
	b.WriteString(s.name + "{")
	keys := slices.Sorted(maps.Keys(s.labels))
	if i := slices.Index(keys, "le"); i >= 0 {
		keys = append(slices.Delete(keys, i, i+1), "le")
	}
	for i, key := range keys {
		if i > 0 {
			b.WriteByte(',')
		}
		value := s.labels[key]
		if key == "le" && value != "+Inf" {
			value = plain(value)
		}
		b.WriteString(key + `="` + escape(value) + `"`)
	}
	b.WriteString("} " + plain(s.value) + "\n")
}

// plain writes a number without exponent, and whole ones without a point.
func plain(text string) string {
	value, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return text
	}
	return strconv.FormatFloat(value, 'f', -1, 64)
}
