package nvmlreceiver

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// gpuProcess makes a process with an open GPU under a folder that stands for /proc.
func gpuProcess(t *testing.T, root string, pid int, environment ...string) {
	t.Helper()
	folder := filepath.Join(root, strconv.Itoa(pid))
	require.NoError(t, os.RemoveAll(folder))
	require.NoError(t, os.MkdirAll(filepath.Join(folder, "fd"), 0o700))
	for name, text := range map[string]string{
		"stat":    strconv.Itoa(pid) + " (python3) S 1 1 1 0 -1 0 1 2 3 4 5 6 7 8 20 0 9 0 123456 7",
		"environ": strings.Join(environment, "\x00") + "\x00",
		"cgroup":  "0::/kubepods/burstable/pod9a7a1c8e-5d3b-4f1e-8d25-0c0f7d2b9a10/" + strings.Repeat("ab", 32) + "\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	require.NoError(t, os.Symlink("/dev/nvidia0", filepath.Join(folder, "fd", "7")))
	require.NoError(t, os.Symlink("/usr/bin/python3.12", filepath.Join(folder, "exe")))
}

func write(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}
