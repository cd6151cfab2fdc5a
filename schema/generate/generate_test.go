package main

import (
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pitwall-otel/pitwall/schema"
)

const repository = "../.."

// Whoever changes the registry commits what follows from it.
func TestWhatIsGeneratedIsCommitted(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.CopyFS(filepath.Join(root, "schema", "registry"), os.DirFS(filepath.Join(repository, "schema", "registry"))))
	require.NoError(t, run(root, generateAll, io.Discard))
	count := 0
	for _, pattern := range []string{"schema/generated*.go", "schema/names/generated*.go", "schema/python/*.py", "docs/schema.md"} {
		want, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		require.NoError(t, err)
		committed, err := filepath.Glob(filepath.Join(repository, filepath.FromSlash(pattern)))
		require.NoError(t, err)
		assert.Len(t, committed, len(want), pattern)
		for _, name := range want {
			relative, err := filepath.Rel(root, name)
			require.NoError(t, err)
			count++
			if read(t, name) != read(t, filepath.Join(repository, relative)) {
				t.Errorf("%s is not what the registry says: run make generate", relative)
			}
		}
	}
	assert.Greater(t, count, 10)
}

func TestAFileOfAProducerThatIsNoMoreGoes(t *testing.T) {
	root := t.TempDir()
	put(t, root, "schema/registry/registry_manifest.yaml", "semconv_version: 1.0.0\nschema_base_url: https://example.com/\n")
	put(t, root, "schema/generated_producer_old.go", "package schema\n")
	put(t, root, "schema/own.go", "package schema\n")
	require.NoError(t, run(root, generateAll, io.Discard))
	assert.NoFileExists(t, filepath.Join(root, "schema", "generated_producer_old.go"))
	assert.FileExists(t, filepath.Join(root, "schema", "own.go"))
}

// The build stops with file and line, and writes nothing.
func TestABadRegistryStopsTheGenerator(t *testing.T) {
	root := t.TempDir()
	put(t, root, "schema/registry/registry_manifest.yaml", "semconv_version: 1.0.0\n")
	put(t, root, "schema/registry/a.yaml", "groups:\n  - {id: metric.a, type: metric, metric_name: a, brief: A., instrument: gauge, unit: seconds}\n")
	assert.EqualError(t, run(root, generateAll, io.Discard), `schema registry: a.yaml:2: metric "a": unknown unit "seconds"`)
	assert.NoFileExists(t, filepath.Join(root, "schema", "generated.go"))
}

func TestARegistryIsReleasedOnce(t *testing.T) {
	root := t.TempDir()
	put(t, root, "schema/registry/registry_manifest.yaml", "semconv_version: 1.0.0\nschema_base_url: https://example.com/\n")
	require.NoError(t, os.MkdirAll(filepath.Join(root, "schema", "released"), 0o750))
	var said strings.Builder
	require.NoError(t, run(root, sayChanges, &said))
	assert.Equal(t, "no version has been released yet\n", said.String())
	require.NoError(t, run(root, writeRelease, io.Discard))
	assert.ErrorContains(t, run(root, writeRelease, io.Discard), "a released version never changes; raise semconv_version: ")
	said.Reset()
	require.NoError(t, run(root, sayChanges, &said))
	assert.Equal(t, "nothing has changed since 1.0.0\n", said.String())

	put(t, root, "schema/registry/a.yaml", "groups:\n  - {id: event.a, type: event, name: a, brief: A.}\n")
	assert.EqualError(t, run(root, sayChanges, io.Discard), "version 1.0.0 does not allow this:\n"+
		"event a is new: that is a minor change, and the version went from 1.0.0 to 1.0.0 only")
	put(t, root, "schema/registry/registry_manifest.yaml", "semconv_version: 1.1.0\nschema_base_url: https://example.com/\n")
	said.Reset()
	require.NoError(t, run(root, sayChanges, &said))
	assert.Equal(t, "minor: event a is new\n", said.String())
}

func TestIdentifier(t *testing.T) {
	f := func(name, want string) {
		t.Helper()
		assert.Equal(t, want, identifier(name))
	}
	f("rl.loss.policy", "RLLossPolicy")
	f("hw.gpu.io", "HWGPUIO")
	f("gen_ai.server.time_to_first_token", "GenAIServerTimeToFirstToken")
	f("sys.gpu.{rl.device.index}.util_percent", "SysGPURLDeviceIndexUtilPercent")
	f("prime-rl", "PrimeRL")
}

func TestLiteral(t *testing.T) {
	f := func(value any, want string) {
		t.Helper()
		assert.Equal(t, want, literal(reflect.ValueOf(value)))
	}
	f(schema.Rule{}, "Rule{}")
	f(schema.Rule{Name: "a\"b", Type: schema.Gauge, Scale: 0.001, Set: []schema.Condition{{Attribute: "x", Value: "y"}}},
		`Rule{Name: "a\"b", Type: 1, Scale: 0.001, Set: []Condition{{Attribute: "x", Value: "y"}}}`)
	f(schema.Metric{Attributes: []schema.Use{{Name: "a"}}, Deprecated: &schema.Deprecation{Reason: "r"}},
		`Metric{Attributes: []Use{{Name: "a"}}, Deprecated: &Deprecation{Reason: "r"}}`)
	f([]string{"a", "b"}, `[]string{"a", "b"}`)
	f(schema.Capture{Digits: true}, "Capture{Digits: true}")
}

func put(t *testing.T, root, name, text string) {
	t.Helper()
	path := filepath.Join(root, filepath.FromSlash(name))
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o750))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(text)
}
