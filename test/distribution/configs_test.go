package distribution

import (
	"os"
	"os/exec"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// variable finds ${env:NAME} without a default: what a configuration needs from its environment.
var variable = regexp.MustCompile(`\$\{env:(\w+)\}`)

func TestShippedConfigurationsAreValid(t *testing.T) {
	configs := shippedConfigs(t)
	require.NotEmpty(t, configs)
	for _, name := range configs {
		t.Run(path.Base(name), func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), "bin/pitwall", "validate", "--config", name)
			cmd.Dir = root
			cmd.Env = os.Environ()
			for _, match := range variable.FindAllStringSubmatch(read(t, name), -1) {
				cmd.Env = append(cmd.Env, match[1]+"=https://example.com:443")
			}
			output, err := cmd.CombinedOutput()
			assert.NoError(t, err, "%s", output)
		})
	}
}

// scripts/run and the README name addresses that config/single-node.yaml listens on.
func TestSingleNodeListensWhereTheReadmeSays(t *testing.T) {
	for _, name := range []string{"config/single-node.yaml", "scripts/run", "README.md"} {
		text := read(t, name)
		for _, address := range []string{"127.0.0.1:4317", "127.0.0.1:4318", "127.0.0.1:8123", "127.0.0.1:13133", "127.0.0.1:13135"} {
			assert.Contains(t, text, address, name)
		}
	}
}

func shippedConfigs(t *testing.T) []string {
	t.Helper()
	var configs []string
	for _, name := range files(t) {
		if strings.HasPrefix(name, "config/") && strings.HasSuffix(name, ".yaml") {
			configs = append(configs, name)
		}
	}
	return configs
}
