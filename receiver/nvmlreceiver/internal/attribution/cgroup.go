package attribution

import (
	"strings"
)

// containerIDLength is that of the ids of Docker, containerd, CRI-O and Podman: 32 bytes in hexadecimal.
const containerIDLength = 64

// controlGroup reads /proc/<pid>/cgroup, "hierarchy:controllers:path" a line, and takes the ids of container, pod and Slurm
// job out of the paths. It knows how systemd and cgroupfs spell them:
//
//	/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod<uid with _>.slice/cri-containerd-<id>.scope
//	/kubepods/burstable/pod<uid>/<id>
//	/system.slice/docker-<id>.scope, /docker/<id>, /machine.slice/libpod-<id>.scope
//	/slurm/uid_1000/job_42/step_0/task_0, /system.slice/slurmstepd.scope/job_42/step_0/user/task_0
func controlGroup(text string) (id Identity) {
	for line := range strings.Lines(text) {
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(parts) < 3 {
			continue
		}
		slurm := strings.Contains(parts[2], "/slurm")
		for segment := range strings.SplitSeq(parts[2], "/") {
			name := strings.TrimSuffix(strings.TrimSuffix(segment, ".scope"), ".slice")
			if container := name[strings.LastIndexByte(name, '-')+1:]; isHex(container, containerIDLength) {
				id[Container] = container
			}
			if uid, ok := podUID(name); ok {
				id[PodUID] = uid
			}
			if job, ok := strings.CutPrefix(name, "job_"); ok && slurm && SlurmJob.accepts(job) {
				id[SlurmJob] = job
			}
			if step, ok := strings.CutPrefix(name, "step_"); ok && slurm && SlurmStep.accepts(step) {
				id[SlurmStep] = step
			}
		}
	}
	return id
}

// podUID finds the uid in "pod<uid>" and "kubepods-burstable-pod<uid with _ for ->".
func podUID(name string) (string, bool) {
	i := strings.LastIndex(name, "pod")
	if i < 0 || i > 0 && name[i-1] != '-' {
		return "", false
	}
	uid := strings.ReplaceAll(name[i+len("pod"):], "_", "-")
	bare := strings.ReplaceAll(uid, "-", "")
	// A mirror pod's uid is a hash without dashes.
	if !isHex(bare, 32) || len(uid) != 36 && len(uid) != 32 {
		return "", false
	}
	return uid, true
}

func isHex(s string, length int) bool {
	if len(s) != length {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
