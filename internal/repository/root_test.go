package repository

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRoot(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "a", "b"), 0o755))
	t.Chdir(filepath.Join(dir, "a", "b"))
	_, err = Root()
	require.EqualError(t, err, "no go.mod above the tests")

	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), nil, 0o600))
	root, err := Root()
	require.NoError(t, err)
	require.Equal(t, dir, root)
}
