package distribution

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The generators run on a copy of the tree, with the tools of the original, so that a failure leaves nothing behind.
func TestGenerateChangesNothing(t *testing.T) {
	tools, err := filepath.Abs(filepath.Join(root, "bin", "tools"))
	require.NoError(t, err)
	before := files(t)
	copied := t.TempDir()
	for _, name := range before {
		copyFile(t, name, filepath.Join(copied, filepath.FromSlash(name)))
	}

	output, err := exec.CommandContext(t.Context(), "make", "-C", copied, "--no-print-directory", "generate", "TOOLS="+tools).CombinedOutput()
	require.NoError(t, err, "make generate: %s", output)

	for _, name := range before {
		after, err := os.ReadFile(filepath.Join(copied, filepath.FromSlash(name)))
		require.NoError(t, err)
		if read(t, name) != string(after) {
			t.Errorf("make generate changes %s: run it and commit what it writes", name)
		}
	}
	assert.Equal(t, before, filesBelow(t, copied), "make generate writes files that are not committed")
}

// copyFile keeps the modification time: make would build the tools anew for a go.mod that looks younger than they are.
func copyFile(t *testing.T, name, target string) {
	t.Helper()
	source := filepath.Join(root, filepath.FromSlash(name))
	info, err := os.Stat(source)
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Dir(target), 0o700))
	require.NoError(t, os.WriteFile(target, []byte(read(t, name)), info.Mode().Perm()))
	require.NoError(t, os.Chtimes(target, info.ModTime(), info.ModTime()))
}
