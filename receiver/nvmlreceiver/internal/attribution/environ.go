package attribution

import (
	"bytes"
)

// variable is an environment variable that may be read, and what it says.
type variable struct {
	name  string
	field Field
}

// variables is the allow-list. Of several that say the same the first one that is set counts. runKeys name the run.
func variables(runKeys []string) []variable {
	var list []variable
	for _, name := range runKeys {
		list = append(list, variable{name, Run})
	}
	return append(list, []variable{
		{"RL_RUN_ATTEMPT", Attempt},
		{"TORCHELASTIC_RESTART_COUNT", Attempt},
		{"SLURM_RESTART_COUNT", Attempt},
		{"WANDB_RUN_ID", WandbRun},
		{"SLURM_JOB_ID", SlurmJob},
		{"RAY_JOB_ID", RayJob},
		{"SLURM_STEP_ID", SlurmStep},
		{"RL_ROLE", Role},
		{"RL_WORKER_GROUP", WorkerGroup},
		{"RL_RANK", Rank},
		{"RANK", Rank},
		{"OMPI_COMM_WORLD_RANK", Rank},
		{"SLURM_PROCID", Rank},
		{"RL_RANK_GLOBAL", GlobalRank},
		{"RL_RANK_LOCAL", LocalRank},
		{"LOCAL_RANK", LocalRank},
		{"OMPI_COMM_WORLD_LOCAL_RANK", LocalRank},
		{"SLURM_LOCALID", LocalRank},
		{"RL_WORLD_SIZE", WorldSize},
		{"WORLD_SIZE", WorldSize},
		{"OMPI_COMM_WORLD_SIZE", WorldSize},
		{"SLURM_NTASKS", WorldSize},
		{"POD_NAME", PodName},
		{"K8S_POD_NAME", PodName},
		{"POD_NAMESPACE", PodNamespace},
		{"K8S_POD_NAMESPACE", PodNamespace},
	}...)
}

// none is what torchrun calls a run that nobody named.
const none = "none"

// environment takes the values of the allowed variables out of the text of /proc/<pid>/environ, NAME=value strings that
// each end in a zero byte. Only what the allow-list names is copied. A last string without its zero byte was cut off and is
// left out, as are values that do not fit their field.
func environment(text []byte, allowed []variable) (id Identity) {
	var place [fieldCount]int // of the variable that set the field, 1 for the first of the list
	for len(text) > 0 {
		entry, rest, whole := bytes.Cut(text, []byte{0})
		if !whole {
			return id
		}
		text = rest
		name, value, found := bytes.Cut(entry, []byte{'='})
		if !found {
			continue
		}
		for i, v := range allowed {
			if string(name) != v.name || place[v.field] != 0 && place[v.field] <= i+1 {
				continue
			}
			if s := string(value); v.field.accepts(s) && (v.field != Run || s != none) {
				id[v.field], place[v.field] = s, i+1
			}
		}
	}
	return id
}
