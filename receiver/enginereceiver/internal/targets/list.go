package targets

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// A list longer than this was not meant for us.
const maxEntries = 10_000

// parseList reads a list in JSON or YAML. An entry is an endpoint, a target as Spec has it, or Prometheus' form
// {targets: [endpoint …], labels: {…}}, whose labels __metrics_path__ and __scheme__ are obeyed.
func parseList(content []byte) ([]Spec, error) {
	entries, err := entriesOf(content)
	if err != nil {
		return nil, err
	}
	var specs []Spec
	for i, entry := range entries {
		specs, err = appendEntry(specs, entry)
		if err != nil {
			return nil, fmt.Errorf("entry %d: %w", i, err)
		}
		if len(specs) > maxEntries {
			return nil, fmt.Errorf("more than %d targets", maxEntries)
		}
	}
	return specs, nil
}

func entriesOf(content []byte) (entries []any, err error) {
	content = bytes.TrimSpace(content)
	// YAML reads most of JSON, but not tabs; and JSON's own parser knows when the end is missing.
	if len(content) > 0 && (content[0] == '[' || content[0] == '{') {
		decoder := json.NewDecoder(bytes.NewReader(content))
		decoder.UseNumber()
		if err = decoder.Decode(&entries); err == nil {
			if decoder.More() {
				return nil, errors.New("something follows the list")
			}
			return entries, nil
		}
	}
	if yamlErr := yaml.Unmarshal(content, &entries); yamlErr != nil {
		if err == nil {
			err = yamlErr
		}
		return nil, fmt.Errorf("not a list of targets in YAML or JSON: %w", err)
	}
	return entries, nil
}

func appendEntry(specs []Spec, entry any) ([]Spec, error) {
	if endpoint, ok := entry.(string); ok {
		return append(specs, Spec{Endpoint: endpoint}), nil
	}
	fields, ok := entry.(map[string]any)
	if !ok {
		return nil, errors.New("neither an endpoint nor a target")
	}
	var spec Spec
	var endpoints []any
	for key, value := range fields {
		var err error
		switch key {
		case "endpoint":
			spec.Endpoint, err = text(value)
		case "kind":
			spec.Kind, err = text(value)
		case "metrics_path":
			spec.MetricsPath, err = text(value)
		case "labels":
			spec.Labels, err = labelsOf(value)
		case "targets":
			if endpoints, ok = value.([]any); !ok {
				err = errors.New("not a list")
			}
		default:
			err = errors.New("unknown key")
		}
		if err != nil {
			return nil, fmt.Errorf("%q: %w", shorten(key), err)
		}
	}
	if _, found := fields["targets"]; !found {
		return append(specs, spec), nil
	}
	if spec.Endpoint != "" {
		return nil, errors.New(`"endpoint" and "targets" exclude each other`)
	}
	if path := spec.Labels["__metrics_path__"]; path != "" && spec.MetricsPath == "" {
		spec.MetricsPath = path
	}
	for _, value := range endpoints {
		one := spec
		var err error
		if one.Endpoint, err = text(value); err != nil {
			return nil, fmt.Errorf(`"targets": %w`, err)
		}
		if scheme := spec.Labels["__scheme__"]; scheme != "" {
			one.Endpoint = scheme + "://" + one.Endpoint
		}
		specs = append(specs, one)
	}
	return specs, nil
}

func labelsOf(value any) (map[string]string, error) {
	fields, ok := value.(map[string]any)
	if !ok {
		return nil, errors.New("not a map")
	}
	labels := make(map[string]string, len(fields))
	for name, value := range fields {
		var err error
		if labels[name], err = text(value); err != nil {
			return nil, fmt.Errorf("label %q: %w", shorten(name), err)
		}
	}
	return labels, nil
}

// text takes what YAML and JSON make of a word without quotes: run 7 and run "7" are the same.
func text(value any) (string, error) {
	switch v := value.(type) {
	case string:
		return v, nil
	case json.Number:
		return v.String(), nil
	case int:
		return strconv.Itoa(v), nil
	case bool:
		return strconv.FormatBool(v), nil
	}
	return "", errors.New("not text")
}
