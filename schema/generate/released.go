package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/pitwall-otel/pitwall/schema/release"
	"github.com/pitwall-otel/pitwall/schema/source"
)

// sayChanges prints the differences to the newest released version, and fails when the version does not allow them.
func sayChanges(root string, registry *source.Registry, out io.Writer) error {
	old, err := release.Newest(os.DirFS(filepath.Join(root, "schema", "released")))
	if err != nil {
		return err
	}
	if old == nil {
		fmt.Fprintln(out, "no version has been released yet")
		return nil
	}
	now := release.Of(registry.Compile())
	changes := release.Compare(old, now)
	if len(changes) == 0 {
		fmt.Fprintf(out, "nothing has changed since %s\n", old.Version)
	}
	for _, c := range changes {
		fmt.Fprintf(out, "%s: %s\n", c.Level, c.Text)
	}
	if faults := release.Check(old, now, changes); len(faults) > 0 {
		return fmt.Errorf("version %s does not allow this:\n%s", now.Version, strings.Join(faults, "\n"))
	}
	return nil
}

// writeRelease freezes the registry as its version. A version is released once.
func writeRelease(root string, registry *source.Registry, _ io.Writer) error {
	now := release.Of(registry.Compile())
	name := filepath.Join(root, "schema", "released", now.Version+".yaml")
	text, err := now.YAML()
	if err != nil {
		return err
	}
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("a released version never changes; raise semconv_version: %w", err)
	}
	if _, err := file.Write(text); err != nil {
		return err
	}
	return file.Close()
}
