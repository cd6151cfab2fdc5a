package schema

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"slices"

	"go.yaml.in/yaml/v3"
)

// file is a registry file as it is written, each part with its line.
type file struct {
	name   string
	groups []group
}

type group struct {
	line int

	ID          string         `yaml:"id"`
	Type        string         `yaml:"type"`
	Brief       string         `yaml:"brief"`
	Note        string         `yaml:"note"`
	Stability   string         `yaml:"stability"`
	DisplayName string         `yaml:"display_name"`
	MetricName  string         `yaml:"metric_name"`
	Instrument  string         `yaml:"instrument"`
	Unit        string         `yaml:"unit"`
	Attributes  []rawAttribute `yaml:"attributes"`
	Annotations struct {
		Pitwall struct {
			Since   string `yaml:"since"`
			Sources []any  `yaml:"sources"`
			Table   []rule `yaml:"table"`
		} `yaml:"pitwall"`
	} `yaml:"annotations"`
}

// rawAttribute defines an attribute (id, in an attribute_group) or refers to one (ref, in a metric).
type rawAttribute struct {
	line int

	ID               string        `yaml:"id"`
	Ref              string        `yaml:"ref"`
	Type             attributeType `yaml:"type"`
	Brief            string        `yaml:"brief"`
	Stability        string        `yaml:"stability"`
	RequirementLevel string        `yaml:"requirement_level"`
	Examples         []string      `yaml:"examples"`
}

type rule struct {
	line int

	When  conditions `yaml:"when"`
	Name  string     `yaml:"name"`
	Unit  string     `yaml:"unit"`
	Scale *float64   `yaml:"scale"`
}

// attributeType is "string", "int" …, or the members of an enum of strings.
type attributeType struct {
	name    string
	members []string
}

func (t *attributeType) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		t.name = node.Value
		return nil
	}
	var enum struct {
		Members []struct {
			ID        string `yaml:"id"`
			Value     string `yaml:"value"`
			Brief     string `yaml:"brief"`
			Stability string `yaml:"stability"`
		} `yaml:"members"`
	}
	if err := node.Decode(&enum); err != nil {
		return err
	}
	t.name = "string"
	for _, member := range enum.Members {
		t.members = append(t.members, member.Value)
	}
	return nil
}

// conditions is a mapping in the file and sorted by attribute here.
type conditions []Condition

func (c *conditions) UnmarshalYAML(node *yaml.Node) error {
	var values map[string]string
	if err := node.Decode(&values); err != nil {
		return err
	}
	for attribute, value := range values {
		*c = append(*c, Condition{Attribute: attribute, Value: value})
	}
	slices.SortFunc(*c, func(a, b Condition) int { return cmp.Compare(a.Attribute, b.Attribute) })
	return nil
}

// parse reads the text twice: strictly into structs, which refuses a misspelt key but knows no lines, and into nodes,
// which know them.
func (l *loader) parse(name string, text []byte) file {
	var content struct {
		Groups []group `yaml:"groups"`
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&content); err != nil && !errors.Is(err, io.EOF) {
		l.fail(name, 1, "%w", err)
		return file{name: name}
	}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil || len(document.Content) == 0 {
		return file{name: name}
	}
	groups := child(document.Content[0], "groups")
	for i := range content.Groups {
		g, node := &content.Groups[i], element(groups, i)
		g.line = node.Line
		for j := range g.Attributes {
			g.Attributes[j].line = element(child(node, "attributes"), j).Line
		}
		table := g.Annotations.Pitwall.Table
		for j := range table {
			table[j].line = element(child(child(child(node, "annotations"), "pitwall"), "table"), j).Line
		}
	}
	return file{name: name, groups: content.Groups}
}

// child returns the value of a mapping's key, an empty node at the mapping's line when it is not there in plain sight
// (a merge key).
func child(mapping *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return resolve(mapping.Content[i+1])
		}
	}
	return &yaml.Node{Line: mapping.Line}
}

func element(sequence *yaml.Node, i int) *yaml.Node {
	if i < len(sequence.Content) {
		return resolve(sequence.Content[i])
	}
	return &yaml.Node{Line: sequence.Line}
}

func resolve(node *yaml.Node) *yaml.Node {
	if node.Kind == yaml.AliasNode {
		return node.Alias
	}
	return node
}
