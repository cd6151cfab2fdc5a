//go:build linux && cgo

package main

import (
	"strconv"
	"strings"
	"sync"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/pitwall-otel/pitwall/internal/nvml"
)

const withCgo = true

// library is NVIDIA's, once it has started.
type library struct {
	gonvml.Interface

	mu      sync.Mutex
	symbols map[string]bool
}

func newLibrary(path string) *library {
	var o []gonvml.LibraryOption
	if path != "" {
		o = append(o, gonvml.WithLibraryPath(path))
	}
	return &library{Interface: gonvml.New(o...), symbols: map[string]bool{}}
}

// has says whether the driver has one of the functions; several are versions of one, among which go-nvml chooses.
func (l *library) has(symbols ...string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range symbols {
		there, known := l.symbols[s]
		if !known {
			there = l.Extensions().LookupSymbol(s) == nil
			l.symbols[s] = there
		}
		if there {
			return true
		}
	}
	return false
}

// absent says why there is no value.
func absent(ret gonvml.Return) nvml.Absent {
	switch ret {
	case gonvml.SUCCESS:
		return nvml.Present
	case gonvml.ERROR_NOT_SUPPORTED, gonvml.ERROR_FUNCTION_NOT_FOUND, gonvml.ERROR_INVALID_ARGUMENT,
		gonvml.ERROR_ARGUMENT_VERSION_MISMATCH, gonvml.ERROR_DEPRECATED, gonvml.ERROR_VGPU_ECC_NOT_SUPPORTED,
		gonvml.ERROR_NOT_FOUND:
		return nvml.Unsupported
	case gonvml.ERROR_NO_PERMISSION:
		return nvml.NoPermission
	case gonvml.ERROR_TIMEOUT:
		return nvml.TimedOut
	case gonvml.ERROR_GPU_IS_LOST, gonvml.ERROR_RESET_REQUIRED, gonvml.ERROR_GPU_NOT_FOUND:
		return nvml.Lost
	case gonvml.ERROR_NO_DATA, gonvml.ERROR_NOT_READY:
		return nvml.NotYet
	default:
		return nvml.Failed
	}
}

// statusOf says what a failed nvmlInit means.
func statusOf(ret gonvml.Return) nvml.Status {
	switch ret {
	case gonvml.SUCCESS:
		return nvml.StatusOK
	case gonvml.ERROR_LIBRARY_NOT_FOUND:
		return nvml.StatusNoLibrary
	case gonvml.ERROR_DRIVER_NOT_LOADED:
		return nvml.StatusNoDriver
	case gonvml.ERROR_LIB_RM_VERSION_MISMATCH:
		return nvml.StatusVersionMismatch
	case gonvml.ERROR_NO_PERMISSION:
		return nvml.StatusNoPermission
	default:
		return nvml.StatusInitFailed
	}
}

// maxText bounds what is taken of a string of the library, in bytes.
const maxText = 256

// text makes a string of the library's valid: a broken one has bytes of all kinds, and no end.
func text(s string, ret gonvml.Return) string {
	if ret != gonvml.SUCCESS {
		return ""
	}
	s = strings.ToValidUTF8(s[:min(len(s), maxText)], "\uFFFD")
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '\uFFFD'
		}
		return r
	}, s))
}

// errorText is the driver's words for a failure.
func errorText(l *library, ret gonvml.Return) string {
	switch {
	case ret == gonvml.ERROR_LIBRARY_NOT_FOUND: // then has would remember that there is no function
		return "libnvidia-ml.so.1 cannot be loaded"
	case l.has("nvmlErrorString"):
		return text(ret.Error(), gonvml.SUCCESS)
	default:
		return "NVML error " + strconv.Itoa(int(ret))
	}
}
