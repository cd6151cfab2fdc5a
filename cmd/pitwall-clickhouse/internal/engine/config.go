package engine

import (
	"bytes"
	_ "embed"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"text/template"

	"golang.org/x/sys/unix"
)

//go:embed config.xml.tmpl
var configTemplate string

//go:embed users.xml.tmpl
var usersTemplate string

// privileges are what SQL may do. Absent on purpose: SOURCES (files, URLs, other
// servers), SYSTEM, BACKUP, dictionaries (they read files and URLs), functions,
// users and named collections.
const privileges = "SHOW, SELECT, INSERT, ALTER, CREATE DATABASE, CREATE TABLE, CREATE VIEW, " +
	"CREATE TEMPORARY TABLE, CREATE ARBITRARY TEMPORARY TABLE, DROP, UNDROP TABLE, TRUNCATE, OPTIMIZE, " +
	"CHECK, KILL QUERY ON *.*"

// tableEngines are those that keep their rows inside the data directory.
func tableEngines() []string {
	return []string{
		"MergeTree", "ReplacingMergeTree", "SummingMergeTree", "AggregatingMergeTree", "CollapsingMergeTree",
		"VersionedCollapsingMergeTree", "CoalescingMergeTree", "Memory", "Null", "Buffer", "Set", "Join",
		"Merge", "Log", "TinyLog", "StripeLog",
	}
}

// frozenSettings name files or servers to be read or written, or the language
// that statements are parsed in. The engine checks none of them against the grants.
func frozenSettings() []string {
	return []string{
		"dialect", "format_schema", "format_schema_source", "output_format_schema",
		"format_template_row", "format_template_resultset", "format_avro_schema_registry_url",
		"send_logs_level", "allow_introspection_functions",
		"merge_tree_disk", "merge_tree_storage_policy",
	}
}

// writeConfig writes both configuration files and returns the path of the
// engine's. maxMemory is in bytes.
func writeConfig(dir string, maxMemory uint64) (string, error) {
	config, users := filepath.Join(dir, "config.xml"), filepath.Join(dir, "users.xml")
	grants := []string{privileges}
	for _, name := range tableEngines() {
		grants = append(grants, "TABLE ENGINE ON "+name)
	}
	err := writeTemplate(users, usersTemplate, map[string]any{
		// A single statement must leave room for merges and for the others.
		"QueryMemory": maxMemory / 4 * 3,
		"Frozen":      frozenSettings(),
		"Grants":      grants,
	})
	if err != nil {
		return "", err
	}
	free, err := keepFree(dir)
	if err != nil {
		return "", err
	}
	return config, writeTemplate(config, configTemplate, map[string]any{
		"KeepFree":   free,
		"Users":      escape(users),
		"Memory":     maxMemory,
		"MarkCache":  maxMemory / 16,
		"SmallCache": maxMemory / 64,
	})
}

// keepFree is the room on the disk, in bytes, below which the engine begins no INSERT and no merge: 512 MiB, and of a small disk a
// tenth. A write that fails costs a restart, see ErrWriteFailed.
func keepFree(dir string) (uint64, error) {
	var disk unix.Statfs_t
	if err := unix.Statfs(dir, &disk); err != nil {
		return 0, fmt.Errorf("size of the disk of %s: %w", dir, err)
	}
	return min(512<<20, disk.Blocks*uint64(disk.Bsize)/10), nil
}

func writeTemplate(path, text string, values map[string]any) error {
	t, err := template.New(filepath.Base(path)).Parse(text)
	if err != nil {
		return fmt.Errorf("engine configuration: %w", err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, values); err != nil {
		return fmt.Errorf("engine configuration: %w", err)
	}
	if written, err := os.ReadFile(path); err == nil && bytes.Equal(written, b.Bytes()) {
		return nil // a full disk has no room for it
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		return fmt.Errorf("engine configuration: %w", err)
	}
	return nil
}

func escape(s string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(s)) // a bytes.Buffer does not fail
	return b.String()
}
