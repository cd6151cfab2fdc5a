package exposition_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Pages that others recorded, where they are beside the repository: each line that is not empty and no comment is a sample.
func TestRecordedPages(t *testing.T) {
	found, err := filepath.Glob(filepath.Join("..", "..", "..", "..", "..", "shared", "samples", "*.prom"))
	require.NoError(t, err)
	if len(found) == 0 {
		t.Log("no recorded pages beside the repository: nothing to read")
	}
	for _, name := range found {
		t.Run(filepath.Base(name), func(t *testing.T) {
			body, err := os.ReadFile(name)
			require.NoError(t, err)
			want := 0
			for line := range bytes.Lines(body) {
				if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
					want++
				}
			}
			got, bad, err := values(body, plain)
			require.NoError(t, err)
			assert.Len(t, got, want)
			assert.Zero(t, bad)
		})
	}
}
