package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLockNamesItsOwnerAndEndsWithIt(t *testing.T) {
	dir := t.TempDir()
	first, err := lock(dir)
	require.NoError(t, err)
	_, err = lock(dir)
	assert.Equal(t, &InUseError{Dir: dir, PID: os.Getpid()}, err)
	require.NoError(t, first.Close())
	second, err := lock(dir)
	require.NoError(t, err)
	require.NoError(t, second.Close())
}

func TestConfigurationIsPrivateAndGrantsNoSource(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a&b")
	require.NoError(t, os.Mkdir(dir, 0o700))
	path, err := writeConfig(dir, 1<<30)
	require.NoError(t, err)
	config, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Contains(t, string(config), "a&amp;b/users.xml</users_config>")
	assert.Contains(t, string(config), "<max_server_memory_usage>1073741824<")
	assert.Regexp(t, `<default>\s*<keep_free_space_bytes>[1-9]\d+</keep_free_space_bytes>`, string(config))
	users, err := os.ReadFile(filepath.Join(dir, "users.xml"))
	require.NoError(t, err)
	for _, word := range []string{"SOURCES", "SYSTEM", "FILE", "URL", "DICTIONARY", "BACKUP", "ALL ON"} {
		for line := range strings.SplitSeq(string(users), "\n") {
			if strings.Contains(line, "GRANT") {
				assert.NotContains(t, line, word)
			}
		}
	}
	for _, name := range []string{"config.xml", "users.xml"} {
		info, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode().Perm(), name)
	}
}
