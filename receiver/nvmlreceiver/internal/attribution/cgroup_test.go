package attribution

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestControlGroup(t *testing.T) {
	id := strings.Repeat("0123456789abcdef", 4)
	f := func(name, text string, want Identity) {
		t.Run(name, func(t *testing.T) { assert.Equal(t, want, controlGroup(text)) })
	}
	pod := "9a7a1c8e-5d3b-4f1e-8d25-0c0f7d2b9a10"
	f("containerd under systemd", "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod9a7a1c8e_5d3b_4f1e_8d25_0c0f7d2b9a10.slice/cri-containerd-"+id+".scope\n",
		Identity{PodUID: pod, Container: id})
	f("cgroupfs", "11:memory:/kubepods/burstable/pod"+pod+"/"+id+"\n10:cpu,cpuacct:/kubepods/burstable/pod"+pod+"/"+id+"\n",
		Identity{PodUID: pod, Container: id})
	f("guaranteed pod", "0::/kubepods.slice/kubepods-pod9a7a1c8e_5d3b_4f1e_8d25_0c0f7d2b9a10.slice/crio-"+id+".scope", Identity{PodUID: pod, Container: id})
	f("mirror pod", "0::/kubepods/besteffort/pod0123456789abcdef0123456789abcdef/"+id, Identity{PodUID: "0123456789abcdef0123456789abcdef", Container: id})
	f("Docker", "0::/system.slice/docker-"+id+".scope\n", Identity{Container: id})
	f("Docker, old", "4:devices:/docker/"+id+"\n", Identity{Container: id})
	f("Podman", "0::/machine.slice/libpod-"+id+".scope/container\n", Identity{Container: id})
	f("Slurm, first version", "5:cpuset:/slurm/uid_1000/job_4711/step_0/task_3\n", Identity{SlurmJob: "4711", SlurmStep: "0"})
	f("Slurm, second version", "0::/system.slice/slurmstepd.scope/job_4711/step_batch/user/task_0\n", Identity{SlurmJob: "4711", SlurmStep: "batch"})
	f("seen from another control group", "0::/../../kubepods-pod9a7a1c8e_5d3b_4f1e_8d25_0c0f7d2b9a10.slice/cri-containerd-"+id+".scope", Identity{PodUID: pod, Container: id})
	f("a user's session", "0::/user.slice/user-1000.slice/session-3.scope\n", Identity{})
	f("a job that is not Slurm's", "0::/job_4711/step_0\n", Identity{})
	f("names that look like it", "0::/pod/podinfo/tripod9a7a1c8e-5d3b-4f1e-8d25-0c0f7d2b9a10/"+id[1:]+"\n", Identity{})
	f("no colons", "/docker/"+id, Identity{})
	f("nothing", "", Identity{})
}

func FuzzControlGroup(f *testing.F) {
	f.Add("0::/kubepods.slice/kubepods-pod9a7a1c8e_5d3b_4f1e_8d25_0c0f7d2b9a10.slice/crio-" + strings.Repeat("a", 64) + ".scope")
	f.Add("5:cpuset:/slurm/uid_1000/job_4711/step_0/task_3\n")
	f.Fuzz(func(t *testing.T, text string) {
		id := controlGroup(text)
		assert.Contains(t, text, id[Container])
		assert.Contains(t, strings.ReplaceAll(text, "_", "-"), id[PodUID])
		assert.Contains(t, []int{0, 64}, len(id[Container]))
		assert.Contains(t, []int{0, 32, 36}, len(id[PodUID]))
		for field, value := range id {
			assert.True(t, value == "" || Field(field).accepts(value))
		}
	})
}
