package nvml

// RecoveryActionName returns the registry's word (nvidia.gpu.recovery_action) for a value of RecoveryAction, "" for one
// it does not know.
func RecoveryActionName(value float64) string {
	return word(value, "none", "gpu_reset", "node_reboot", "drain_p2p", "drain_and_reset", "recover_imex_domain")
}

// ComputeModeName returns the registry's word (nvidia.gpu.compute_mode) for a value of ComputeMode, "" for one it does
// not know.
func ComputeModeName(value float64) string {
	return word(value, "default", "exclusive_thread", "prohibited", "exclusive_process")
}

// BrandName returns the word for a number of NVML's nvmlBrandType_t, "" for an unknown one.
func BrandName(n int) string {
	return word(float64(n), "", "quadro", "tesla", "nvs", "grid", "geforce", "titan", "nvidia_vapps", "nvidia_vpc",
		"nvidia_vcs", "nvidia_vws", "nvidia_cloud_gaming", "quadro_rtx", "nvidia_rtx", "nvidia", "geforce_rtx", "titan_rtx")
}

// ArchitectureName returns the word for a number of NVML's nvmlDeviceArchitecture_t, "" for an unknown one.
func ArchitectureName(n int) string {
	return word(float64(n), "", "", "kepler", "maxwell", "pascal", "volta", "turing", "ampere", "ada", "hopper",
		"blackwell", "", "", "rubin")
}

// VirtualizationName returns the word for a number of NVML's nvmlGpuVirtualizationMode_t, "" for an unknown one.
func VirtualizationName(n int) string {
	return word(float64(n), "none", "passthrough", "vgpu", "host_vgpu", "host_vsga")
}

func word(value float64, words ...string) string {
	if value < 0 || value >= float64(len(words)) {
		return ""
	}
	return words[int(value)]
}

// String returns the reason in words, "" when there is none.
func (a Absent) String() string {
	return word(float64(a), "", "unsupported", "no_permission", "timeout", "lost", "not_yet", "error")
}

// String returns the event's name for logs.
func (k EventKind) String() string {
	return word(float64(k), "", "xid", "double_bit_ecc",
		"mig_config", "single_bit_ecc_storm", "dram_retirement", "dram_retirement_failure", "non_fatal_poison",
		"fatal_poison", "unavailable", "recovery_action", "lost", "found", "stale", "answers", "mig_changed",
		"helper_started")
}
