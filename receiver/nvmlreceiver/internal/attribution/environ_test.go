package attribution

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func runKeys() []string { return []string{"RL_RUN_ID", "WANDB_RUN_ID", "TORCHELASTIC_RUN_ID"} }

func environ(entries ...string) []byte { return []byte(strings.Join(entries, "\x00") + "\x00") }

func TestEnvironment(t *testing.T) {
	f := func(name string, want Identity, entries ...string) {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, want, environment(environ(entries...), variables(runKeys())))
		})
	}
	f("torchrun", Identity{Run: "grpo-7", Rank: "3", LocalRank: "3", WorldSize: "16", Attempt: "1"},
		"PATH=/usr/bin", "RL_RUN_ID=grpo-7", "RANK=3", "LOCAL_RANK=3", "WORLD_SIZE=16", "TORCHELASTIC_RESTART_COUNT=1")
	f("a run's own variable before the tracker's", Identity{Run: "mine", WandbRun: "abc123"}, "WANDB_RUN_ID=abc123", "RL_RUN_ID=mine")
	f("the tracker's where there is no other", Identity{Run: "abc123", WandbRun: "abc123"}, "WANDB_RUN_ID=abc123")
	f("Slurm without torchrun", Identity{SlurmJob: "4711", SlurmStep: "0", Rank: "12", LocalRank: "4", WorldSize: "16"},
		"SLURM_JOB_ID=4711", "SLURM_STEP_ID=0", "SLURM_PROCID=12", "SLURM_LOCALID=4", "SLURM_NTASKS=16")
	f("torchrun under Slurm", Identity{SlurmJob: "4711", Rank: "5"}, "SLURM_PROCID=1", "RANK=5", "SLURM_JOB_ID=4711")
	f("Ray and Kubernetes", Identity{RayJob: "02000000", PodName: "worker-0", PodNamespace: "rl", Role: "rollout", WorkerGroup: "vllm_policy"},
		"RAY_JOB_ID=02000000", "POD_NAME=worker-0", "POD_NAMESPACE=rl", "RL_ROLE=rollout", "RL_WORKER_GROUP=vllm_policy")
	f("torchrun's run without a name is none", Identity{}, "TORCHELASTIC_RUN_ID=none")
	f("a rank that is no number", Identity{}, "RANK=first", "LOCAL_RANK=-1", "WORLD_SIZE=99999999999")
	f("the second spelling where the first is no number", Identity{Rank: "2"}, "RANK=", "SLURM_PROCID=2")
	f("values that nobody can read", Identity{}, "RL_RUN_ID=a\nb", "WANDB_RUN_ID=\xff\xfe")
	f("a value that is too long is another one", Identity{}, "RL_RUN_ID="+strings.Repeat("x", maxValue+1))
	f("no prefix of an allowed name", Identity{}, "RANKS=1", "XRANK=2", "RANK")
	f("nothing", Identity{}, "")
}

// Everything but the allowed values could be a secret.
func TestEnvironmentTakesNothingElse(t *testing.T) {
	text := environ("WANDB_API_KEY=hunter2", "HF_TOKEN=hunter2", "RL_RUN_ID=run", "RL_RUN_ID_TOKEN=hunter2", "AWS_SECRET_ACCESS_KEY=hunter2")
	for _, value := range environment(text, variables(runKeys())) {
		assert.NotContains(t, value, "hunter2")
	}
}

func TestEnvironmentCutOff(t *testing.T) {
	text := environ("RL_RUN_ID=run-1234", "RANK=12")
	for n := range text {
		id := environment(text[:n], variables(runKeys()))
		assert.Contains(t, []string{"", "run-1234"}, id[Run], "a part of an id is another id")
		assert.Empty(t, id[Rank], "cut at %d", n)
	}
}

func FuzzEnvironment(f *testing.F) {
	f.Add(environ("RL_RUN_ID=run", "RANK=1", "SECRET=hunter2"))
	f.Add([]byte("RANK=1"))
	f.Add([]byte{0, 0, '=', 0})
	allowed := variables(runKeys())
	f.Fuzz(func(t *testing.T, text []byte) {
		for field, value := range environment(text, allowed) {
			if value == "" {
				continue
			}
			assert.True(t, Field(field).accepts(value))
			// Each value stands in the text, whole, behind a name that may set its field.
			var found bool
			for _, v := range allowed {
				entry := []byte(v.name + "=" + value + "\x00")
				found = found || int(v.field) == field && (bytes.HasPrefix(text, entry) || bytes.Contains(text, append([]byte{0}, entry...)))
			}
			assert.True(t, found, "%q comes from nowhere", value)
		}
	})
}

// What the kernel writes: a process with a known environment.
func TestEnvironmentOfARealProcess(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "sleep", "60")
	cmd.Env = []string{"RL_RUN_ID=real", "RANK=7", "HF_TOKEN=hunter2"}
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	r := New("/proc", runKeys(), 10)
	// The kernel shows the environment a moment after the program was started.
	require.Eventually(t, func() bool {
		return r.environment(uint32(cmd.Process.Pid)) == Identity{Run: "real", Rank: "7"}
	}, 10*time.Second, time.Millisecond)
	assert.NotContains(t, string(r.buffer), "hunter2", "what was read is overwritten")
}
