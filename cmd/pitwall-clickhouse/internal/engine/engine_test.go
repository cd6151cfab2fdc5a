package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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

// A full disk has no room for the files of an earlier start.
func TestConfigurationIsNotWrittenAgain(t *testing.T) {
	dir := t.TempDir()
	path, err := writeConfig(dir, 1<<30)
	require.NoError(t, err)
	long := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	f := func(maxMemory uint64, again bool) {
		require.NoError(t, os.Chtimes(path, long, long))
		_, err := writeConfig(dir, maxMemory)
		require.NoError(t, err)
		info, err := os.Stat(path)
		require.NoError(t, err)
		assert.Equal(t, again, info.ModTime().After(long))
	}
	f(1<<30, false)
	f(2<<30, true)
}

func TestToleratedWrites(t *testing.T) {
	dir := t.TempDir()
	assert.EqualValues(t, 0, toleratedWrites(dir))
	for content, want := range map[string]uint64{"": 1, "PID: 7": 0} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "status"), []byte(content), 0o600))
		assert.Equal(t, want, toleratedWrites(dir), "%q", content)
	}
}
