package fakenvml

import (
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

//go:embed profiles
var profiles embed.FS

// Profiles lists the machines there are scripts of.
func Profiles() []string {
	files, err := profiles.ReadDir("profiles")
	if err != nil {
		return nil // embedded: cannot be
	}
	var names []string
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f.Name(), ".txt"))
	}
	return names
}

// Profile returns the script of a machine: a100, h100, h200, mig, mig16, consumer, old, vgpu, or moving, which is lines
// for behind another one.
func Profile(name string) (string, error) {
	text, err := profiles.ReadFile("profiles/" + name + ".txt")
	if err != nil {
		return "", fmt.Errorf("no profile %q: %w", name, err)
	}
	return string(text), nil
}

// Missing lists the functions that the drivers of a profile lack.
func Missing(profile string) []string {
	if profile != "old" {
		return nil
	}
	return []string{
		"nvmlDeviceGetMemoryInfo_v2", "nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetArchitecture",
		"nvmlDeviceGetJpgUtilization", "nvmlDeviceGetOfaUtilization", "nvmlDeviceGetFanSpeedRPM", "nvmlDeviceGetNumFans",
		"nvmlDeviceGetFanSpeed_v2", "nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2",
		"nvmlDeviceGetGraphicsRunningProcesses_v3", "nvmlDeviceGetGraphicsRunningProcesses_v2",
		"nvmlDeviceGetMPSComputeRunningProcesses_v3", "nvmlDeviceGetMPSComputeRunningProcesses_v2",
		"nvmlDeviceGetMPSComputeRunningProcesses", "nvmlGpmQueryDeviceSupport", "nvmlGpmSampleAlloc", "nvmlGpmSampleFree",
		"nvmlGpmSampleGet", "nvmlGpmMigSampleGet", "nvmlGpmMetricsGet", "nvmlDeviceGetRowRemapperHistogram",
		"nvmlDeviceGetRemappedRows", "nvmlDeviceGetMigMode", "nvmlDeviceGetMaxMigDeviceCount",
		"nvmlDeviceGetMigDeviceHandleByIndex", "nvmlDeviceGetGpuInstanceId", "nvmlDeviceGetComputeInstanceId",
	}
}

// Write puts a script in the place of the one at path, at once for a reader.
func Write(path string, script ...string) error {
	next, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path))
	if err != nil {
		return err
	}
	if _, err := next.WriteString(strings.Join(script, "\n") + "\n"); err != nil {
		_ = next.Close()
		return err
	}
	if err := next.Close(); err != nil {
		return err
	}
	return os.Rename(next.Name(), path)
}
