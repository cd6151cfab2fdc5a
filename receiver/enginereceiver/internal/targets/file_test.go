package targets

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func write(t *testing.T, path, content string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path+".new", []byte(content), 0o600))
	require.NoError(t, os.Rename(path+".new", path))
}

func find(t *testing.T, f *Files) []string {
	t.Helper()
	found, err := f.Find(t.Context())
	require.NoError(t, err)
	return namesOf(found)
}

func TestFilesAreReadAgainWhenTheyChange(t *testing.T) {
	folder := t.TempDir()
	list := filepath.Join(folder, "engines.yaml")
	files, err := NewFiles([]string{filepath.Join(folder, "*.yaml"), list})
	require.NoError(t, err)
	assert.Empty(t, find(t, filesOf(t, filepath.Join(folder, "*.yaml"))), "a pattern that matches nothing is not wrong")

	write(t, list, "- a:1\n- {endpoint: b:1, labels: {run: 7}}\n")
	assert.Equal(t, []string{"a:1", "b:1"}, find(t, files))
	write(t, list, "- c:1\n")
	assert.Equal(t, []string{"c:1"}, find(t, files))
	// The same size in the same moment is another file all the same, by its inode.
	before, err := os.Stat(list)
	require.NoError(t, err)
	write(t, list, "- d:1\n")
	require.NoError(t, os.Chtimes(list, before.ModTime(), before.ModTime()))
	assert.Equal(t, []string{"d:1"}, find(t, files))

	write(t, filepath.Join(folder, "more.yaml"), "- e:1\n")
	assert.Equal(t, []string{"d:1", "e:1"}, find(t, files))
	require.NoError(t, os.Remove(list))
	found, err := files.Find(t.Context())
	require.ErrorIs(t, err, os.ErrNotExist, "a file that was named is missing")
	assert.Equal(t, []string{"e:1"}, namesOf(found))
}

func filesOf(t *testing.T, patterns ...string) *Files {
	t.Helper()
	files, err := NewFiles(patterns)
	require.NoError(t, err)
	return files
}

func TestABadFileKeepsItsLastGoodList(t *testing.T) {
	f := func(content, want string) {
		t.Helper()
		folder := t.TempDir()
		list, good := filepath.Join(folder, "a.json"), filepath.Join(folder, "b.json")
		files := filesOf(t, filepath.Join(folder, "*.json"))
		write(t, list, `["a:1"]`)
		write(t, good, `["b:1"]`)
		assert.Equal(t, []string{"a:1", "b:1"}, find(t, files))
		write(t, list, content)
		for range 2 { // unchanged, it is still bad
			found, err := files.Find(t.Context())
			require.ErrorContains(t, err, want)
			assert.Contains(t, err.Error(), list)
			assert.Equal(t, []string{"a:1", "b:1"}, namesOf(found))
		}
		write(t, list, `["c:1"]`)
		assert.Equal(t, []string{"b:1", "c:1"}, sorted(find(t, files)))
	}
	f(`["x:1", "y:`, "not a list of targets")
	f(`["x:1"] ["y:1"]`, "something follows the list")
	f(`{"endpoint": "x:1"}`, "not a list of targets")
	f("- x:1\n - y:1: [", "not a list of targets")
	f("<html>", "not a list of targets")
	f(`["x:1", 7]`, "entry 1: neither an endpoint nor a target")
	f(`[{"endpoint": "x:1", "port": 7}]`, `entry 0: "port": unknown key`)
	f(`[{"targets": ["x:1"], "endpoint": "y:1"}]`, "exclude each other")
	f(`[{"endpoint": "ftp://x:1"}]`, "the scheme")
	f(`["`+strings.Repeat("x", maxFileSize)+`"]`, "larger than")
	f("["+strings.Repeat(`"x:1",`, maxEntries)+`"y:1"]`, "more than 10000 targets")
}

func sorted(list []string) []string {
	if len(list) == 2 && list[0] > list[1] {
		list[0], list[1] = list[1], list[0]
	}
	return list
}

func TestFilesReadOnlyRegularFiles(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(folder, "list.yaml"), 0o700))
	found, err := filesOf(t, filepath.Join(folder, "list.yaml")).Find(t.Context())
	require.ErrorContains(t, err, "not a regular file")
	assert.Empty(t, found)
	_, err = NewFiles([]string{"[a"})
	require.ErrorContains(t, err, `"[a"`)
}

func TestListForms(t *testing.T) {
	f := func(content string, want ...Spec) {
		t.Helper()
		got, err := parseList([]byte(content))
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	f("")
	f("[]")
	f(`["a:1", {"endpoint": "b:1", "kind": "vllm", "metrics_path": "/m", "labels": {"run": "7", "replica": 3}}]`,
		Spec{Endpoint: "a:1"}, Spec{Endpoint: "b:1", Kind: "vllm", MetricsPath: "/m", Labels: map[string]string{"run": "7", "replica": "3"}})
	f("- a:1\n- endpoint: b:1\n  labels: {replica: 3, canary: true}\n",
		Spec{Endpoint: "a:1"}, Spec{Endpoint: "b:1", Labels: map[string]string{"replica": "3", "canary": "true"}})
	labels := map[string]string{"__metrics_path__": "/m", "__scheme__": "https", "run": "7"}
	f("[{\t\"targets\": [\"a:1\", \"b:1\"],\t\"labels\": {\"__metrics_path__\": \"/m\", \"__scheme__\": \"https\", \"run\": \"7\"}}]",
		Spec{Endpoint: "https://a:1", MetricsPath: "/m", Labels: labels}, Spec{Endpoint: "https://b:1", MetricsPath: "/m", Labels: labels})
	f(`[{"targets": []}]`)
	f("[a:1, b:1] # YAML's short form", Spec{Endpoint: "a:1"}, Spec{Endpoint: "b:1"})
}

// A file that is cut anywhere gives an error or the entries that are whole, and never others.
func TestListCutAnywhere(t *testing.T) {
	const whole = `[{"endpoint": "a:10"}, {"endpoint": "b:10"}]`
	for i := range len(whole) {
		specs, err := parseList([]byte(whole[:i]))
		if i > 0 {
			assert.Error(t, err, "%q gives %v", whole[:i], specs)
		}
	}
}

func FuzzParseList(f *testing.F) {
	for _, seed := range []string{"- a:1\n", `["a:1"]`, `[{"targets": ["a:1"], "labels": {"run": "7"}}]`, "- {endpoint: a:1}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		specs, err := parseList(content)
		if err == nil {
			assert.LessOrEqual(t, len(specs), maxEntries)
		}
	})
}

func BenchmarkFindUnchanged(b *testing.B) {
	folder := b.TempDir()
	var text strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&text, "- {endpoint: 10.0.0.%d:30000, labels: {run: r}}\n", i%250)
	}
	path := filepath.Join(folder, "list.yaml")
	require.NoError(b, os.WriteFile(path, []byte(text.String()), 0o600))
	require.NoError(b, os.Chtimes(path, time.Now(), time.Now()))
	files, err := NewFiles([]string{path})
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := files.Find(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
