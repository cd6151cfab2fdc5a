package distribution

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
	"golang.org/x/mod/modfile"
)

// entry is one line of a component list in builder-config.yaml.
type entry struct {
	GoMod  string `yaml:"gomod"`
	Import string `yaml:"import"`
}

// manifest returns the component and provider lists of builder-config.yaml by their key.
func manifest(t *testing.T) map[string][]entry {
	t.Helper()
	var raw map[string]yaml.Node
	require.NoError(t, yaml.Unmarshal([]byte(read(t, "builder-config.yaml")), &raw))
	delete(raw, "dist")
	lists := map[string][]entry{}
	for key, node := range raw {
		var list []entry
		require.NoError(t, node.Decode(&list), key)
		lists[key] = list
	}
	return lists
}

// The builder runs with --skip-get-modules, so nothing but this test makes the manifest's versions true.
func TestManifestVersionsAreThoseOfGoMod(t *testing.T) {
	parsed, err := modfile.Parse("go.mod", []byte(read(t, "go.mod")), nil)
	require.NoError(t, err)
	versions := map[string]string{module: "v0.0.0"}
	for _, require := range parsed.Require {
		versions[require.Mod.Path] = require.Mod.Version
	}
	for _, list := range manifest(t) {
		for _, e := range list {
			path, version, _ := strings.Cut(e.GoMod, " ")
			assert.Equal(t, versions[path], version, "version of %s in builder-config.yaml", path)
		}
	}
}

// A component of ours that nobody listed would be tested and never shipped.
func TestManifestListsEveryComponentOfOurs(t *testing.T) {
	listed := map[string]string{}
	for _, list := range manifest(t) {
		for _, e := range list {
			if e.Import != "" {
				listed[e.Import] = e.GoMod
			}
		}
	}
	want := map[string]string{}
	for _, folder := range componentFolders(t) {
		want[module+"/"+folder] = module + " v0.0.0"
	}
	assert.Equal(t, want, listed)
}

func TestBinaryHasTheManifestsComponents(t *testing.T) {
	output, err := exec.CommandContext(t.Context(), root+"/bin/pitwall", "components").Output()
	require.NoError(t, err, "bin/pitwall components: run make build first")
	var printed map[string]yaml.Node
	require.NoError(t, yaml.Unmarshal(output, &printed))

	lists := manifest(t)
	for key, list := range lists {
		var components []struct {
			Name   string `yaml:"name"`
			Scheme string `yaml:"scheme"`
			Module string `yaml:"module"`
		}
		node := printed[key]
		require.NoError(t, node.Decode(&components), key)
		var want, have []string
		for _, e := range list {
			want = append(want, e.GoMod)
		}
		for _, component := range components {
			have = append(have, component.Module)
		}
		assert.ElementsMatch(t, want, have, "%s of bin/pitwall; run make generate build after a change of builder-config.yaml", key)
	}
}
