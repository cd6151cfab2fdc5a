package fakenvml

import (
	"debug/elf"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBuildLeavesFunctionsOut(t *testing.T) {
	dir := t.TempDir()
	functions := func(missing ...string) string {
		path, err := Build(dir, missing...)
		require.NoError(t, err)
		f, err := elf.Open(path)
		require.NoError(t, err)
		defer f.Close()
		symbols, err := f.DynamicSymbols()
		require.NoError(t, err)
		var names strings.Builder
		for _, s := range symbols {
			if s.Section != elf.SHN_UNDEF {
				names.WriteString(s.Name + " ")
			}
		}
		return names.String()
	}
	all := functions()
	require.Contains(t, all, "nvmlInit_v2 ")
	require.Contains(t, all, "nvmlDeviceGetUUID ")
	require.NotContains(t, all, "read_again", "only NVML's names are told to others")
	require.NotContains(t, functions("nvmlDeviceGetUUID"), "nvmlDeviceGetUUID ")
	require.Equal(t, all, functions())
}

func TestBuildLeavesALibraryAlone(t *testing.T) {
	dir := t.TempDir()
	path, err := Build(dir)
	require.NoError(t, err)
	before, err := os.Stat(path)
	require.NoError(t, err)
	_, err = Build(dir)
	require.NoError(t, err)
	after, err := os.Stat(path)
	require.NoError(t, err)
	require.True(t, os.SameFile(before, after))
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	require.Len(t, files, 2, "nothing else is left behind")
}

func TestProfiles(t *testing.T) {
	require.Equal(t, []string{"a100", "consumer", "h100", "h200", "mig", "mig16", "moving", "old", "vgpu"}, Profiles())
	for _, name := range Profiles() {
		script, err := Profile(name)
		require.NoError(t, err)
		for line := range strings.Lines(script) {
			require.Regexp(t, `^(#.*|[a-z]\S*=.+)\n$`, line, name)
		}
	}
	_, err := Profile("b300")
	require.ErrorContains(t, err, `no profile "b300"`)
}
