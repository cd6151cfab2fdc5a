package test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The host pipeline stands in both files, because a configuration must work alone; it must not drift apart.
func TestHostPipelineIsTheSameOnANodeAndInAnAgent(t *testing.T) {
	node := hostPart(t, "single-node.yaml")
	assert.Contains(t, node, "host_metrics:")
	assert.Contains(t, node, "transform/rates:")
	assert.Equal(t, node, hostPart(t, "agent.yaml"))
}

// hostPart returns what stands between the two comments that mark the host's part.
func hostPart(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "config", name))
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(text), "# --- this host: the same in ")
	require.True(t, found)
	part, _, found := strings.Cut(rest, "# --- end of what is the same in ")
	require.True(t, found)
	_, part, _ = strings.Cut(part, "\n")
	return part
}
