package distribution

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// stack loads compose/compose.yaml with the loader of Docker Compose, every profile active.
func stack(t *testing.T, env ...string) *types.Project {
	t.Helper()
	options, err := cli.NewProjectOptions([]string{filepath.Join(root, "compose/compose.yaml")},
		cli.WithEnv(env), cli.WithResolvedPaths(true), cli.WithProfiles([]string{"*"}))
	require.NoError(t, err)
	project, err := options.LoadProject(t.Context())
	require.NoError(t, err)
	return project
}

func TestStackStartsWithoutProfilesAsTheReadmeSays(t *testing.T) {
	var always []string
	profiles := map[string]string{}
	for name, service := range stack(t).Services {
		if len(service.Profiles) == 0 {
			always = append(always, name)
		} else {
			profiles[name] = strings.Join(service.Profiles, ",")
		}
	}
	assert.ElementsMatch(t, []string{"secrets", "clickhouse", "pitwall", "grafana"}, always)
	assert.Equal(t, map[string]string{"gpu": "gpu", "demo": "demo", "tempo": "tempo", "jaeger": "jaeger"}, profiles)
}

func TestStackListensOnLoopbackOnly(t *testing.T) {
	published := map[string][]string{}
	for name, service := range stack(t).Services {
		for _, port := range service.Ports {
			assert.Equal(t, "127.0.0.1", port.HostIP, "%s %s", name, port.Published)
			published[name] = append(published[name], port.Published)
		}
		assert.NotEqual(t, "host", service.NetworkMode, name)
		assert.False(t, service.Privileged, name)
	}
	assert.Equal(t, map[string][]string{
		"clickhouse": {"8123"}, "grafana": {"3000"}, "pitwall": {"4317", "4318", "13133", "13134", "13135"},
		"tempo": {"3200"}, "jaeger": {"16686"},
	}, published)
}

func TestStackImagesArePinned(t *testing.T) {
	for name, service := range stack(t).Services {
		_, tag, found := strings.Cut(service.Image, ":")
		assert.True(t, found && tag != "latest" && tag != "", "service %s: image %q", name, service.Image)
		if service.Build != nil {
			assert.FileExists(t, filepath.Join(service.Build.Context, service.Build.Dockerfile), name)
			assert.Contains(t, read(t, "compose/pitwall/Dockerfile"), " AS "+service.Build.Target+"\n", name)
		}
	}
}

// What a container mounts from the repository is there, and no container may write to it.
func TestStackMounts(t *testing.T) {
	for name, service := range stack(t).Services {
		for _, volume := range service.Volumes {
			if volume.Type != types.VolumeTypeBind {
				continue
			}
			assert.True(t, volume.ReadOnly, "%s: %s", name, volume.Source)
			_, err := os.Stat(volume.Source)
			assert.NoError(t, err, "%s: %s", name, volume.Source)
		}
	}
}

func TestStackSecretsAreFilesOnly(t *testing.T) {
	project := stack(t)
	for name, service := range project.Services {
		for key, value := range service.Environment {
			if value != nil && strings.Contains(key, "PASSWORD") {
				assert.Contains(t, *value, "/run/secrets/", "%s: %s", name, key)
			}
		}
		for _, volume := range service.Volumes {
			if volume.Target == "/run/secrets" {
				assert.Equal(t, name != "secrets", volume.ReadOnly, name)
				assert.Equal(t, "secrets", volume.Source, name)
			}
		}
	}
	// Each secret that a file of the stack reads is one that is made.
	made := read(t, "compose/clickhouse/make-secrets.sh")
	for _, use := range []struct{ file, secret string }{
		{"compose/compose.yaml", "clickhouse_admin"},
		{"compose/compose.yaml", "grafana_admin"},
		{"compose/clickhouse/accounts.sh", "clickhouse_writer"},
		{"compose/clickhouse/accounts.sh", "clickhouse_reader"},
		{"compose/pitwall/stack.yaml", "clickhouse_writer"},
		{"compose/grafana/provisioning/datasources/pitwall.yaml", "clickhouse_reader"},
	} {
		assert.Contains(t, read(t, use.file), use.secret)
		assert.Contains(t, made, use.secret)
	}
}

// Tempo's and Jaeger's images have nothing to run a check with; the rest says when it is ready, and is waited for.
func TestStackStartsInOrder(t *testing.T) {
	project := stack(t)
	for name, service := range project.Services {
		if !slices.Contains([]string{"secrets", "demo", "tempo", "jaeger"}, name) {
			assert.NotNil(t, service.HealthCheck, name)
		}
		for other, dependency := range service.DependsOn {
			want := types.ServiceConditionHealthy
			if other == "secrets" {
				want = types.ServiceConditionCompletedSuccessfully
			}
			assert.Equal(t, want, dependency.Condition, "%s waits for %s", name, other)
		}
	}
	assert.Contains(t, project.Services["grafana"].DependsOn, "clickhouse")
	assert.Contains(t, project.Services["pitwall"].DependsOn, "clickhouse")
	assert.Contains(t, project.Services["gpu"].DependsOn, "pitwall")
	assert.Contains(t, project.Services["demo"].DependsOn, "pitwall")
}

// The collector accepts what its containers are started with, for each choice of where traces go.
func TestStackCollectorConfigurations(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "clickhouse_writer")
	require.NoError(t, os.WriteFile(secret, []byte("secret"), 0o600))
	inContainer := strings.NewReplacer("/run/secrets/clickhouse_writer", secret, "/hostfs", "/")
	f := func(service string, env ...string) {
		t.Helper()
		project := stack(t, env...)
		args := []string{"validate"}
		for _, arg := range project.Services[service].Command {
			target := strings.TrimPrefix(arg, "--config=")
			for _, volume := range project.Services[service].Volumes {
				if volume.Target == target {
					content, err := os.ReadFile(volume.Source)
					require.NoError(t, err)
					local := filepath.Join(t.TempDir(), filepath.Base(target))
					require.NoError(t, os.WriteFile(local, []byte(inContainer.Replace(string(content))), 0o600))
					args = append(args, "--config="+local)
				}
			}
		}
		require.Len(t, args, 1+len(project.Services[service].Command), "every file of the command is mounted")
		cmd := exec.CommandContext(t.Context(), "bin/pitwall", args...)
		cmd.Dir = root
		cmd.Env = os.Environ()
		for key, value := range project.Services[service].Environment {
			if value != nil {
				cmd.Env = append(cmd.Env, key+"="+*value)
			}
		}
		output, err := cmd.CombinedOutput()
		assert.NoError(t, err, "%s %v: %s", service, env, output)
	}

	f("pitwall")
	f("pitwall", "PITWALL_TRACES=tempo")
	f("pitwall", "PITWALL_TRACES=jaeger")
	f("gpu")
}
