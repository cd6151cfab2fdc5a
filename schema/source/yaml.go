package source

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"regexp"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"
)

type rawManifest struct {
	Name           string `yaml:"name"`
	Description    string `yaml:"description"`
	SemconvVersion string `yaml:"semconv_version"`
	SchemaBaseURL  string `yaml:"schema_base_url"`
}

// group is one entry of groups as it is written, with its line. The fields are those of the semantic conventions.
type group struct {
	line int

	ID          string         `yaml:"id"`
	Type        string         `yaml:"type"`
	Name        string         `yaml:"name"`
	Brief       string         `yaml:"brief"`
	Note        string         `yaml:"note"`
	Stability   string         `yaml:"stability"`
	DisplayName string         `yaml:"display_name"`
	MetricName  string         `yaml:"metric_name"`
	Instrument  string         `yaml:"instrument"`
	Unit        string         `yaml:"unit"`
	SpanKind    string         `yaml:"span_kind"`
	Attributes  []rawAttribute `yaml:"attributes"`
	Deprecated  *deprecated    `yaml:"deprecated"`
	Annotations annotations    `yaml:"annotations"`
}

// rawAttribute defines an attribute (id, in an attribute_group) or refers to one (ref, elsewhere).
type rawAttribute struct {
	line int

	ID          string        `yaml:"id"`
	Ref         string        `yaml:"ref"`
	Type        attributeType `yaml:"type"`
	Brief       string        `yaml:"brief"`
	Note        string        `yaml:"note"`
	Stability   string        `yaml:"stability"`
	Requirement requirement   `yaml:"requirement_level"`
	Role        string        `yaml:"role"`
	Examples    scalars       `yaml:"examples"`
	Deprecated  *deprecated   `yaml:"deprecated"`
	Annotations annotations   `yaml:"annotations"`
}

type deprecated struct {
	Reason    string `yaml:"reason"`
	RenamedTo string `yaml:"renamed_to"`
	Note      string `yaml:"note"`
}

type annotations struct {
	Pitwall struct {
		Since        string      `yaml:"since"`
		DeprecatedIn string      `yaml:"deprecated_in"`
		Sources      []rawSource `yaml:"sources"`
		Table        []rawRule   `yaml:"table"`
	} `yaml:"pitwall"`
}

type rawRule struct {
	line int

	When  pairs    `yaml:"when"`
	Name  string   `yaml:"name"`
	Unit  string   `yaml:"unit"`
	Scale *float64 `yaml:"scale"`
}

type rawSource struct {
	line int

	Producer string `yaml:"producer"`
	Name     string `yaml:"name"`
	Unit     string `yaml:"unit"`
	Type     string `yaml:"type"`
	When     pairs  `yaml:"when"`
	Set      pairs  `yaml:"set"`
	Values   values `yaml:"values"`
	Since    string `yaml:"since"`
	Until    string `yaml:"until"`
	Derived  bool   `yaml:"derived"`
	Note     string `yaml:"note"`
}

// attributeType is "string", "int" …, or the members of an enum of strings.
type attributeType struct {
	name    string
	members []member
}

type member struct {
	ID        string      `yaml:"id"`
	Value     string      `yaml:"value"`
	Brief     string      `yaml:"brief"`
	Note      string      `yaml:"note"`
	Stability string      `yaml:"stability"`
	Deprecate *deprecated `yaml:"deprecated"`
}

func (t *attributeType) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		t.name = node.Value
		return nil
	}
	var enum struct {
		Members []member `yaml:"members"`
	}
	if err := node.Decode(&enum); err != nil {
		return err
	}
	t.name, t.members = "enum", enum.Members
	return nil
}

// requirement is "required", "recommended" …, or a mapping of one of them to the condition in words.
type requirement string

func (r *requirement) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.MappingNode && len(node.Content) == 2 {
		node = node.Content[0]
	}
	return node.Decode((*string)(r))
}

// scalars is one scalar or a list of them, as text.
type scalars []string

func (s *scalars) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind != yaml.SequenceNode {
		node = &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{node}}
	}
	for _, item := range node.Content {
		if item.Kind == yaml.SequenceNode {
			for _, inner := range item.Content {
				*s = append(*s, inner.Value)
			}
			continue
		}
		*s = append(*s, item.Value)
	}
	return nil
}

// pair is a mapping's entry. pairs are sorted by key, so that what is generated from them does not change by itself.
type pair struct{ key, value string }

type pairs []pair

func (p *pairs) UnmarshalYAML(node *yaml.Node) error {
	var m map[string]string
	if err := node.Decode(&m); err != nil {
		return err
	}
	for key, value := range m {
		*p = append(*p, pair{key, value})
	}
	slices.SortFunc(*p, func(a, b pair) int { return cmp.Compare(a.key, b.key) })
	return nil
}

// values are {attribute: {theirs: ours}}; for the sources of an attribute {theirs: ours}, which stands under "".
type values map[string]pairs

func (v *values) UnmarshalYAML(node *yaml.Node) error {
	*v = values{}
	if node.Kind == yaml.MappingNode && len(node.Content) > 0 && node.Content[1].Kind == yaml.ScalarNode {
		var flat pairs
		err := node.Decode(&flat)
		(*v)[""] = flat
		return err
	}
	return node.Decode((*map[string]pairs)(v))
}

var lineOf = regexp.MustCompile(`^(?:yaml: )?line (\d+): `)

// parse reads the text twice: strictly into structs, which refuses a misspelt key but knows no lines, and into nodes,
// which know them.
func (l *loader) parse(name string, text []byte, content any) *yaml.Node {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	var wrong *yaml.TypeError
	switch err := decoder.Decode(content); {
	case err == nil, errors.Is(err, io.EOF):
	case errors.As(err, &wrong):
		for _, message := range wrong.Errors {
			l.failYAML(name, message)
		}
	default:
		l.failYAML(name, err.Error())
	}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil || len(document.Content) == 0 {
		return &yaml.Node{Line: 1}
	}
	return document.Content[0]
}

// failYAML turns the line inside the YAML library's message into ours.
func (l *loader) failYAML(name, message string) {
	line := 1
	if found := lineOf.FindStringSubmatch(message); found != nil {
		line, _ = strconv.Atoi(found[1])
		message = message[len(found[0]):]
	}
	l.fail(Place{name, line}, "%s", message)
}

func (l *loader) parseGroups(name string, text []byte) []group {
	var content struct {
		Groups []group `yaml:"groups"`
	}
	document := l.parse(name, text, &content)
	groups := child(document, "groups")
	for i := range content.Groups {
		g, node := &content.Groups[i], element(groups, i)
		g.line = node.Line
		placeAnnotations(&g.Annotations, node)
		for j := range g.Attributes {
			attribute := element(child(node, "attributes"), j)
			g.Attributes[j].line = attribute.Line
			placeAnnotations(&g.Attributes[j].Annotations, attribute)
		}
	}
	return content.Groups
}

func placeAnnotations(a *annotations, parent *yaml.Node) {
	node := child(child(parent, "annotations"), "pitwall")
	for i := range a.Pitwall.Table {
		a.Pitwall.Table[i].line = element(child(node, "table"), i).Line
	}
	for i := range a.Pitwall.Sources {
		a.Pitwall.Sources[i].line = element(child(node, "sources"), i).Line
	}
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
