package attribution

import (
	"strconv"
	"unicode"
	"unicode/utf8"
)

// Field is one thing that an Identity can say; each is the registry's attribute of that name.
type Field int

// The fields, the run's first: those up to RayJob are inherited by child processes, the others are a process's own.
const (
	Run Field = iota
	Attempt
	WandbRun
	SlurmJob
	RayJob
	SlurmStep
	Role
	WorkerGroup
	Rank
	GlobalRank
	LocalRank
	WorldSize
	PodName
	PodNamespace
	PodUID
	Container
	fieldCount
)

// maxValue bounds a value in bytes. A longer one is left out: a part of an id is another id.
const maxValue = 256

// Identity is what is known of a process, by Field; "" is unknown. It can be compared and be the key of a map.
type Identity [fieldCount]string

// Known says whether anything is known.
func (id Identity) Known() bool { return id != Identity{} }

// IsInt says that values of the field are numbers, 0 or more.
func (f Field) IsInt() bool {
	switch f {
	case Attempt, Rank, GlobalRank, LocalRank, WorldSize:
		return true
	default:
		return false
	}
}

func (f Field) inherited() bool { return f <= RayJob }

// accepts says whether a value may stand in the field: text that can be shown, or a number that fits the table's column.
func (f Field) accepts(value string) bool {
	if value == "" || len(value) > maxValue || !utf8.ValidString(value) {
		return false
	}
	if f.IsInt() {
		_, err := strconv.ParseUint(value, 10, 31)
		return err == nil
	}
	for _, r := range value {
		if !unicode.IsGraphic(r) {
			return false
		}
	}
	return true
}

// Merge says what processes that share a GPU have in common. Processes of no run do not count when another one has a run.
// A field on which they disagree is left out; one that only some have is taken. Of several runs nothing is taken but what
// names the place, such as the pod.
func Merge(ids []Identity) Identity {
	var runs bool
	for _, id := range ids {
		runs = runs || id[Run] != ""
	}
	var merged Identity
	var disputed [fieldCount]bool
	for _, id := range ids {
		if runs && id[Run] == "" {
			continue
		}
		for f := range fieldCount {
			switch {
			case id[f] == "" || merged[f] == id[f]:
			case merged[f] == "" && !disputed[f]:
				merged[f] = id[f]
			default:
				merged[f], disputed[f] = "", true
			}
		}
	}
	if disputed[Run] {
		for f := range PodName {
			merged[f] = ""
		}
	}
	return merged
}
