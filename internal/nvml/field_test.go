package nvml

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFieldsHaveTheirNamesAndClasses holds String and Class to the list of constants as it is written in field.go.
func TestFieldsHaveTheirNamesAndClasses(t *testing.T) {
	source, err := os.ReadFile("field.go")
	require.NoError(t, err)
	list := regexp.MustCompile(`(?s)const \(\n\t_ Field = iota\n(.*?)\n\tfieldCount`).FindSubmatch(source)
	require.NotNil(t, list)

	class, field := "", Field(0)
	for _, m := range regexp.MustCompile(`(?m)^\t(?:// (Class\w+)|([A-Z]\w+)\b)`).FindAllSubmatch(list[1], -1) {
		if len(m[1]) > 0 {
			class = string(m[1])
			continue
		}
		field++
		require.Equal(t, string(m[2]), field.String())
		want := map[string]Class{
			"ClassUtilization": ClassUtilization, "ClassMemory": ClassMemory, "ClassPower": ClassPower,
			"ClassTemperature": ClassTemperature, "ClassClocks": ClassClocks, "ClassThrottle": ClassThrottle,
			"ClassPCIe": ClassPCIe, "ClassPCIeRate": ClassPCIeRate, "ClassNVLink": ClassNVLink, "ClassECC": ClassECC,
			"ClassModes": ClassModes, "ClassLimits": ClassLimits, "ClassGPM": ClassGPM, "ClassProcesses": ClassProcesses,
		}[class]
		switch field {
		case ProcessUtilization: // the three share a heading
			want = ClassProcessUtilization
		case VGPUInstances:
			want = ClassVGPU
		}
		require.Equal(t, want, field.Class(), field)
	}
	require.Equal(t, fieldCount-1, field)
	require.Equal(t, Class(0), fieldCount.Class())
	require.Empty(t, fieldCount.String())
	require.Empty(t, Field(0).String())
}

func TestClassesAreBitsOfAll(t *testing.T) {
	var all Class
	for f := Field(1); f < fieldCount; f++ {
		all |= f.Class()
	}
	require.Equal(t, Class(AllClasses), all)
}

func TestWords(t *testing.T) {
	require.Equal(t, "drain_and_reset", RecoveryActionName(4)) // NVML_GPU_RECOVERY_ACTION_DRAIN_AND_RESET
	require.Empty(t, RecoveryActionName(6))
	require.Empty(t, RecoveryActionName(-1))
	require.Equal(t, "exclusive_process", ComputeModeName(3)) // NVML_COMPUTEMODE_EXCLUSIVE_PROCESS
	require.Equal(t, "helper_started", EventHelperStarted.String())
	require.Equal(t, "error", Failed.String())
	require.Empty(t, Present.String())
}
