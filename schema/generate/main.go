// Program generate writes everything that follows from schema/registry: the Go tables of package schema, the constants of
// schema/names, those for producers in Python, and docs/schema.md. Run it from the root of the repository, as make generate
// does; a registry with a fault stops it with file and line.
package main

import (
	"flag"
	"fmt"
	"go/format"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pitwall-otel/pitwall/schema/source"
)

func main() {
	root := flag.String("root", ".", "root of the repository")
	diff := flag.Bool("diff", false, "only say what the registry changes in the newest released version")
	freeze := flag.Bool("release", false, "write schema/released/<version>.yaml, for good")
	flag.Parse()
	do := generateAll
	switch {
	case *diff:
		do = sayChanges
	case *freeze:
		do = writeRelease
	}
	if err := run(*root, do, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "schema/generate:", err)
		os.Exit(1)
	}
}

func run(root string, do func(string, *source.Registry, io.Writer) error, out io.Writer) error {
	registry, err := source.Load(os.DirFS(filepath.Join(root, "schema", "registry")))
	if err != nil {
		return err
	}
	return do(root, registry, out)
}

func generateAll(root string, registry *source.Registry, _ io.Writer) error {
	definition := registry.Compile()
	files := map[string]string{
		filepath.Join("schema", "python", "pitwall_schema.py"): python(definition),
		filepath.Join("docs", "schema.md"):                     document(registry),
	}
	for name, text := range tables(definition) {
		files[filepath.Join("schema", name)] = text
	}
	named, err := constants(definition)
	if err != nil {
		return err
	}
	for name, text := range named {
		files[filepath.Join("schema", "names", name)] = text
	}
	if err := removeStale(root, files); err != nil {
		return err
	}
	for name, text := range files {
		if err := write(filepath.Join(root, name), text); err != nil {
			return err
		}
	}
	return nil
}

// removeStale deletes the tables of producers that are no more.
func removeStale(root string, files map[string]string) error {
	old, err := filepath.Glob(filepath.Join(root, "schema", "generated*.go"))
	if err != nil {
		return err
	}
	return removeAll(slices.DeleteFunc(old, func(name string) bool {
		_, current := files[filepath.Join("schema", filepath.Base(name))]
		return current
	}))
}

func removeAll(names []string) error {
	for _, name := range names {
		if err := os.Remove(name); err != nil {
			return err
		}
	}
	return nil
}

// write leaves a file alone that is what it should be, so that its time does not make others be built again.
func write(name, text string) error {
	content := []byte(text)
	if strings.HasSuffix(name, ".go") {
		formatted, err := format.Source(content)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		content = formatted
	}
	if old, err := os.ReadFile(name); err == nil && string(old) == string(content) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
		return err
	}
	return os.WriteFile(name, content, 0o600)
}
