package nvmlclient

import (
	"debug/elf"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pitwall-otel/pitwall/internal/nvml"
	"github.com/pitwall-otel/pitwall/internal/nvmltest"
)

// TestDriversThatLackFunctions takes functions out of the library, each in at least one of these drivers. A call to one
// would end the helper.
func TestDriversThatLackFunctions(t *testing.T) {
	functions := slices.DeleteFunc(exported(t, nvmltest.Library(t)), func(name string) bool {
		return slices.Contains([]string{"nvmlInit_v2", "nvmlDeviceGetCount_v2", "nvmlDeviceGetHandleByIndex_v2"}, name)
	})
	require.Greater(t, len(functions), 80)
	every := func(n, rest int) (some []string) {
		for i, f := range functions {
			if i%n == rest {
				some = append(some, f)
			}
		}
		return some
	}
	for name, missing := range map[string][]string{
		"all": functions, "half": every(2, 0), "other half": every(2, 1), "a third": every(3, 0), "a seventh": every(7, 3),
	} {
		t.Run(name, func(t *testing.T) {
			for _, profile := range []string{"h100", "mig", "vgpu", "old"} {
				nvmltest.Script(t, nvmltest.Profile(t, profile), "count=1")
				c := started(t, newClient(t, missing...))
				eventually(t, c, status(nvml.StatusOK))
				s := ask(c)
				require.Zero(t, s.Restarts, s.StatusError)
				require.Equal(t, nvml.DeviceOK, s.Devices[0].State)
				if name == "all" {
					for _, r := range s.Devices[0].Readings {
						require.Equal(t, nvml.Unsupported, r.Absent, r.Field)
					}
				}
			}
		})
	}
}

// exported lists the library's functions.
func exported(t *testing.T, path string) []string {
	f, err := elf.Open(path)
	require.NoError(t, err)
	defer f.Close()
	symbols, err := f.DynamicSymbols()
	require.NoError(t, err)
	var names []string
	for _, s := range symbols {
		if s.Section != elf.SHN_UNDEF && strings.HasPrefix(s.Name, "nvml") {
			names = append(names, s.Name)
		}
	}
	return names
}
