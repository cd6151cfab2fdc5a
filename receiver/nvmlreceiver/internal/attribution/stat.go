package attribution

import (
	"strconv"
	"strings"
)

// stat is what is needed of /proc/<pid>/stat.
type stat struct {
	name    string
	parent  uint32
	started uint64 // clock ticks since the boot; with the pid it names a process for good
}

// Places in /proc/<pid>/stat after the name, counted from 0: see proc_pid_stat(5), where parent is field 4 and starttime 22.
const (
	statParent  = 1
	statStarted = 19
)

// parseStat reads /proc/<pid>/stat. The name stands in brackets and may itself hold brackets and spaces.
func parseStat(text string) (stat, bool) {
	open, end := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')')
	if open < 0 || end < open {
		return stat{}, false
	}
	fields := strings.Fields(text[end+1:])
	if len(fields) <= statStarted {
		return stat{}, false
	}
	parent, err := strconv.ParseUint(fields[statParent], 10, 32)
	if err != nil {
		return stat{}, false
	}
	started, err := strconv.ParseUint(fields[statStarted], 10, 64)
	if err != nil {
		return stat{}, false
	}
	return stat{name: text[open+1 : end], parent: uint32(parent), started: started}, true
}

// namespacePIDs reads the line NSpid of /proc/<pid>/status: the process's ids, from the outermost pid namespace that the
// reader sees to its own. Kernels before 4.1 have no such line.
func namespacePIDs(status string) (pids []uint32) {
	for line := range strings.Lines(status) {
		rest, found := strings.CutPrefix(line, "NSpid:")
		if !found {
			continue
		}
		for field := range strings.FieldsSeq(rest) {
			pid, err := strconv.ParseUint(field, 10, 32)
			if err != nil {
				return nil
			}
			pids = append(pids, uint32(pid))
		}
		return pids
	}
	return nil
}
