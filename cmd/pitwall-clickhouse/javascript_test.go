package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestJavaScriptClient(t *testing.T) {
	modules := filepath.Join(filepath.Dir(library), "..", "..")
	_, err := os.Stat(filepath.Join(modules, "@clickhouse", "client"))
	require.NoError(t, err, "the JavaScript client is missing, run `make deps`")
	h := start(t, t.TempDir())
	for mode, compression := range map[string]string{"plain": "0", "gzip": "1"} {
		t.Run(mode, func(t *testing.T) {
			cmd := exec.Command("node", "testdata/client.cjs")
			cmd.Env = append(os.Environ(), "CLICKHOUSE_URL="+h.url, "COMPRESSION="+compression, "NODE_PATH="+modules)
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, string(out))
			assert.NotContains(t, string(out), "not ok")
			assert.Equal(t, 21, strings.Count("\n"+string(out), "\nok "), "%s", out)
		})
	}
}
