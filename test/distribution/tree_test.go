package distribution

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	root   = "../.."
	module = "github.com/pitwall-otel/pitwall"
)

// ignored are the folders .gitignore names: nothing of ours lives there.
var ignored = []string{".git", "bin", "data", "node_modules"}

// files returns every file of ours, relative to the repository's root, slash-separated and sorted.
func files(t *testing.T) []string {
	t.Helper()
	return filesBelow(t, root)
}

func filesBelow(t *testing.T, folder string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if slices.Contains(ignored, name) {
				return fs.SkipDir
			}
			return nil
		}
		found = append(found, filepath.ToSlash(name))
		return nil
	})
	require.NoError(t, err)
	return found
}

// goFiles returns the Go files among files, without those a generator wrote.
func goFiles(t *testing.T) []string {
	t.Helper()
	return slices.DeleteFunc(files(t), func(name string) bool {
		return !strings.HasSuffix(name, ".go") || generated(t, name)
	})
}

// generated reports whether the file carries the line Go's tools use to mark generated code.
func generated(t *testing.T, name string) bool {
	t.Helper()
	for line := range strings.Lines(read(t, name)) {
		if strings.HasPrefix(line, "// Code generated ") && strings.HasSuffix(line, " DO NOT EDIT.\n") {
			return true
		}
	}
	return false
}

func read(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	require.NoError(t, err)
	return string(content)
}
