package source

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pitwall-otel/pitwall/schema"
)

const manifest = "semconv_version: 1.2.3\nschema_base_url: https://example.com/schemas/\n"

func TestTheRegistryIsSound(t *testing.T) {
	_, err := Load(os.DirFS(filepath.Join("..", "registry")))
	require.NoError(t, err)
}

// Each file in testdata/bad says in its first line which error it must give; \n separates several.
func TestBadRegistryNamesFileAndLine(t *testing.T) {
	names, err := filepath.Glob(filepath.Join("testdata", "bad", "*.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, names)
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".yaml"), func(t *testing.T) {
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			first, _, _ := strings.Cut(string(text), "\n")
			want, found := strings.CutPrefix(first, "# want: ")
			require.True(t, found)
			_, err = Load(fstest.MapFS{manifestName: {Data: []byte(manifest)}, "bad.yaml": {Data: text}})
			assert.EqualError(t, err, "schema registry: "+strings.ReplaceAll(want, `\n`, "\n"))
		})
	}
}

func TestTheWholeForm(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "whole.yaml"))
	require.NoError(t, err)
	r, err := Load(fstest.MapFS{manifestName: {Data: []byte(manifest)}, "whole.yaml": {Data: text}})
	require.NoError(t, err)
	want := schema.Definition{
		Version: "1.2.3", BaseURL: "https://example.com/schemas/",
		Attributes: []schema.Attribute{
			{Name: "inference.role", Type: "enum", Brief: "Role.", Members: []string{"prefill", "decode"}},
			{Name: "rl.dataset", Type: "string", Brief: "Data set."},
			{Name: "rl.layer", Type: "int", Brief: "Layer."},
			{Name: "rl.stat", Type: "enum", Brief: "Statistic.", Members: []string{"mean", "max"}},
		},
		Entities: []schema.Entity{{
			Name: "rl.run", Brief: "A run.",
			Attributes: []schema.Use{{Name: "rl.dataset", Requirement: "required", Role: "identifying"}},
		}},
		Metrics: []schema.Metric{
			{
				Name: "rl.old_score", Instrument: "gauge", Unit: "1", Brief: "Score under an older name.", Stability: "development",
				Deprecated: &schema.Deprecation{RenamedTo: "rl.score", Since: "1.0.0", Reason: "renamed", Note: "One name for both."},
			},
			{
				Name: "rl.score", Instrument: "gauge", Unit: "1", Brief: "Score.", Stability: "development",
				Attributes: []schema.Use{
					{Name: "rl.stat", Requirement: "conditionally_required"},
					{Name: "rl.dataset", Requirement: "recommended"},
					{Name: "rl.layer", Requirement: "opt_in"},
				},
				Table: []schema.TableRule{{
					When: []schema.Condition{{Attribute: "rl.stat", Value: "mean"}},
					Name: schema.Template{Parts: []schema.Part{{Literal: "score"}}}, Unit: "%", Scale: 100,
				}},
			},
		},
		Spans: []schema.Span{{Name: "rl.rollout", Brief: "Rollout.", Kind: "internal", Attributes: []schema.Use{{Name: "rl.dataset"}}}},
		Events: []schema.Event{{
			Name: "rl.state", Brief: "State.", Attributes: []schema.Use{{Name: "rl.dataset", Requirement: "required"}},
		}},
		Producers: []schema.Producer{
			{Name: "roll", Spans: []schema.Rule{{Name: "generate/rollout", To: "rl.rollout"}}},
			{Name: "sglang", Attributes: []schema.AttributeRule{{
				Name: "engine_type", To: "inference.role", Values: []schema.Translation{{Theirs: "D", Ours: "decode"}, {Theirs: "P", Ours: "prefill"}},
			}}},
			{Name: "verl", Metrics: []schema.Rule{
				{Name: "critic/score/max", To: "rl.score", Set: []schema.Condition{{Attribute: "rl.stat", Value: "max"}}},
				{Name: "critic/score/mean", To: "rl.score", Set: []schema.Condition{{Attribute: "rl.stat", Value: "mean"}}},
				{
					Name: "moe/layer_{rl.layer}", Captures: []schema.Capture{{Digits: true}}, To: "rl.score", Type: schema.Gauge,
					Set: []schema.Condition{{Attribute: "rl.stat", Value: "max"}}, Since: "0.4", Until: "0.6",
				},
				{
					Name: "val/{rl.dataset}/acc/{rl.stat}", To: "rl.score", Scale: 0.01,
					Captures: []schema.Capture{{}, {Values: []schema.Translation{{Theirs: "avg", Ours: "mean"}}}},
				},
			}},
		},
	}
	assert.Equal(t, want, r.Compile())
}

func TestManifest(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		_, err := Load(fstest.MapFS{manifestName: {Data: []byte(text)}})
		assert.EqualError(t, err, "schema registry: registry_manifest.yaml:"+want)
	}
	f("semconv_version: 1.0", `1: semconv_version "1.0" is not a semantic version`)
	f("semconv_version: 1.0.0\nversion: 1", "2: field version not found in type source.rawManifest")
	_, err := Load(fstest.MapFS{})
	assert.EqualError(t, err, "schema registry: registry_manifest.yaml:1: semconv_version is missing")
}

// Whatever stands in a registry file, an error names it, and without an error the registry can be used.
func FuzzLoad(f *testing.F) {
	names, err := filepath.Glob(filepath.Join("testdata", "bad", "*.yaml"))
	require.NoError(f, err)
	for _, name := range append(names, filepath.Join("testdata", "whole.yaml")) {
		text, err := os.ReadFile(name)
		require.NoError(f, err)
		f.Add(text)
		f.Add(text[:len(text)/2])
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := Load(fstest.MapFS{manifestName: {Data: []byte(manifest)}, "a.yaml": {Data: text}})
		if err != nil {
			for line := range strings.Lines(strings.TrimPrefix(err.Error(), "schema registry: ")) {
				if strings.HasPrefix(line, "a.yaml:") {
					return
				}
			}
			t.Fatalf("the error does not name the file: %v", err)
		}
		if _, err := schema.New(r.Compile()); err != nil {
			t.Fatalf("a sound registry does not become one: %v", err)
		}
	})
}
