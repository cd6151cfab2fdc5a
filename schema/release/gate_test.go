package release

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pitwall-otel/pitwall/schema/source"
)

// The gate: what is released stays true.
func TestTheRegistryKeepsWhatIsReleased(t *testing.T) {
	registry, err := source.Load(os.DirFS(filepath.Join("..", "registry")))
	require.NoError(t, err)
	released, err := Newest(os.DirFS(filepath.Join("..", "released")))
	require.NoError(t, err)
	require.NotNil(t, released, "no released version in schema/released")
	now := Of(registry.Compile())
	for _, fault := range Check(released, now, Compare(released, now)) {
		t.Error(fault)
	}
}
