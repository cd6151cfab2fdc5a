package xid

import (
	"strconv"
)

// Severity is one of the registry's nvidia.gpu.error.severity.
type Severity string

// The severities.
const (
	Info    Severity = "info"
	Warning Severity = "warning"
	Error   Severity = "error"
	Fatal   Severity = "fatal"
)

// Action is one of the registry's nvidia.gpu.error.action.
type Action string

// The actions.
const (
	Nothing        Action = "none"
	RestartProcess Action = "restart_process"
	ResetGPU       Action = "reset_gpu"
	RebootNode     Action = "reboot_node"
	DrainAndReset  Action = "drain_and_reset"
	Replace        Action = "replace"
)

// Meaning is what an Xid stands for.
type Meaning struct {
	Name     string
	Severity Severity
	Action   Action
	// Advice says what to do in a sentence; empty where the action says it all.
	Advice string
}

// Lookup returns the meaning of an Xid, and false for a number that is not known, with a meaning that asks to look it up.
func Lookup(number uint64) (Meaning, bool) {
	if m, ok := engines(number); ok {
		return m, true
	}
	m, ok := memory(number)
	if !ok {
		m, ok = links(number)
	}
	if !ok {
		m, ok = other(number)
	}
	if !ok {
		return Meaning{
			Name: "Xid " + strconv.FormatUint(number, 10), Severity: Error, Action: Nothing,
			Advice: "Unknown here: look it up in NVIDIA's Xid catalogue.",
		}, false
	}
	return m, true
}

// engines are errors of one of the GPU's units in the work of one program, which loses its channel.
func engines(number uint64) (Meaning, bool) {
	program := func(name string) (Meaning, bool) {
		return Meaning{Name: name, Severity: Error, Action: RestartProcess}, true
	}
	switch number {
	case 8:
		return program("GPU stopped processing")
	case 11, 80:
		return program("Corrupt commands in a push buffer")
	case 13:
		return Meaning{
			"Exception in the graphics engine", Error, RestartProcess,
			"Mostly a fault of the program, such as an array out of bounds: run it under compute-sanitizer. On one GPU only, test the GPU.",
		}, true
	case 18:
		return program("Copy engine could not start")
	case 25:
		return program("Invalid display settings")
	case 31:
		return Meaning{
			"Memory page fault", Error, RestartProcess,
			"Mostly an illegal address in the program: run it under compute-sanitizer. On one GPU only, test the GPU.",
		}, true
	case 32:
		return program("Invalid or corrupt push buffer")
	case 37:
		return program("Driver firmware error")
	case 39, 40, 41, 70, 71, 72, 75, 76, 77, 85, 126, 127, 128, 129, 130, 131, 132, 133, 134, 135:
		return program("Error in a copy engine")
	case 42, 60, 68, 83, 84, 88, 89, 96, 97, 98:
		return program("Error in a video decoder")
	case 43:
		return Meaning{
			"GPU stopped processing a program's work", Error, RestartProcess,
			"The program is stopped, the GPU is well. Mostly a fault of the program.",
		}, true
	case 44:
		return program("Fault in graphics processing while the context was switched")
	case 45:
		return Meaning{
			"Work removed after an earlier error", Info, Nothing,
			"A program ended or was killed, or another error made its work end: look for the Xid before this one.",
		}, true
	case 65, 73, 142:
		return program("Error in a video encoder")
	case 66, 67:
		return Meaning{"Illegal access by the driver", Warning, Nothing, ""}, true
	case 69:
		return program("Class error in the graphics engine")
	case 82, 99, 100, 101, 102, 103, 104, 105:
		return program("Error in a JPEG decoder")
	case 86, 139:
		return program("Error in an optical flow engine")
	case 141:
		return Meaning{"Error in CUDA's fast path", Warning, Nothing, ""}, true
	}
	return Meaning{}, false
}
