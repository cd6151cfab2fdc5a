package types

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDashboardsAreWhatGrafanasTypesAllow(t *testing.T) {
	files, err := filepath.Glob("../*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	boards := map[string]string{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		boards[strings.TrimSuffix(filepath.Base(file), ".json")] = string(content)
	}
	assert.Empty(t, check(t, boards), "the line is that of the JSON file plus one; a mend belongs in dashboards/internal/board, "+
		"and what Grafana knows and its schema does not, in board.ts")
}

// One thing in a dashboard that passes is changed; the compiler must say so and name it.
func TestEachMistakeIsReported(t *testing.T) {
	sound, err := os.ReadFile("testdata/sound.json")
	require.NoError(t, err)
	boards, wanted := map[string]string{"sound": string(sound)}, map[string]string{"sound": ""}
	f := func(name, old, replacement, want string) {
		t.Helper()
		require.Equal(t, 1, strings.Count(string(sound), old), old)
		boards[name], wanted[name] = strings.Replace(string(sound), old, replacement, 1), want
	}
	f("mode", `"displayMode": "table"`, `"displayMode": "tabel"`, `"tabel"' is not assignable`)
	f("colour", `"color": "red"`, `"colour": "red"`, `"colour"' does not exist`)
	f("calcs", `"calcs": ["max"],`, ``, `'calcs' is missing`)
	f("kind", `"type": "timeseries"`, `"type": "timeserie"`, `"timeserie"' is not assignable`)
	f("foreign", `"orientation": "horizontal"`, `"orientation": "horizontal", "perPage": 3`, `"perPage"' does not exist`)
	f("custom", `"fillOpacity": 8`, `"fillOpacity": "8"`, `'string' is not assignable to type 'number'`)
	f("override", `"id": "custom.width"`, `"id": "custom.widht"`, `"custom.widht"' is not assignable`)
	f("value", `"value": 260`, `"value": "wide"`, `'{ id: "custom.width"; value: string; }' is not assignable`)
	f("row", `"mapping": "auto"`, `"mapping": "automatic"`, `"automatic"' is not assignable`)
	f("variable", `"refresh": 2`, `"refresh": 3`, `'3' is not assignable`)

	found := map[string]string{}
	for _, line := range check(t, boards) {
		name, _, _ := strings.Cut(line, ".ts")
		found[name] += line + "\n"
	}
	for name, want := range wanted {
		if want == "" {
			assert.Empty(t, found[name], name)
		} else {
			assert.Contains(t, found[name], want, name)
		}
	}
}

// check returns what the compiler has to say of each board, by name.
func check(t *testing.T, boards map[string]string) []string {
	t.Helper()
	modules, err := filepath.Abs("../../node_modules")
	require.NoError(t, err)
	compiler := filepath.Join(modules, ".bin", "tsc")
	if _, err := os.Stat(compiler); err != nil {
		t.Fatalf("the TypeScript compiler is not installed: run `make deps` (%v)", err)
	}
	dir := t.TempDir()
	require.NoError(t, os.Symlink(modules, filepath.Join(dir, "node_modules")))
	types, err := os.ReadFile("board.ts")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "board.ts"), types, 0o600))
	arguments := []string{"--noEmit", "--strict", "--skipLibCheck", "--module", "esnext", "--moduleResolution", "bundler", "--pretty", "false"}
	for name, board := range boards {
		literal := "import type { Board } from './board'; export const board: Board =\n" + board
		require.NoError(t, os.WriteFile(filepath.Join(dir, name+".ts"), []byte(literal), 0o600))
		arguments = append(arguments, name+".ts")
	}
	command := exec.CommandContext(t.Context(), compiler, arguments...)
	command.Dir = dir
	output, err := command.CombinedOutput()
	said := strings.TrimSpace(string(output))
	if said == "" {
		require.NoError(t, err)
		return nil
	}
	// What a line says is explained in lines below it that begin with a space.
	return strings.Split(strings.ReplaceAll(said, "\n ", " "), "\n")
}
