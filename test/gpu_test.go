package test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pitwall-otel/pitwall/internal/collectortest"
	"github.com/pitwall-otel/pitwall/internal/nvmltest"
)

// gpuValues are what the script of the machine says, in the table's names and units. Each class of metrics is there.
func gpuValues() map[string]float64 {
	return map[string]float64{
		"util_percent": 97, "mem_busy_percent": 41, "encoder_util_percent": 0, "jpeg_util_percent": 0, "ofa_util_percent": 0,
		"mem_used_bytes": 70866960384, "mem_total_bytes": 85520809984, "mem_reserved_bytes": 641728512,
		"mem_free_bytes": 85520809984 - 641728512 - 70866960384, "bar1_used_bytes": 18874368,
		"power_w": 612.345, "power_instant_w": 634.567, "power_limit_w": 700, "power_limit_min_w": 200, "energy_j": 123456789.012,
		"temp_c": 64, "memory_temp_c": 71, "temp_limit_critical_c": 92,
		"clock_sm_mhz": 1755, "clock_memory_mhz": 2619, "clock_graphics_max_mhz": 1980, "pstate": 0,
		"throttle.sw_power_cap": 1, "throttle.gpu_idle": 0, "throttle.sw_thermal_slowdown_s": 0, // since the start
		"pcie_gen": 5, "pcie_width": 16, "pcie_replays": 3, "pcie_sent_bytes": 3e9, "pcie_recv_bytes": 9e9,
		"nvlink.0.up": 1, "nvlink.17.up": 0, "nvlink.0.speed_bytes_per_s": 26562e6, "nvlink.0.sent_bytes": 5000000 * 1024,
		"nvlink.3.errors.replay": 12, "nvlink_sent_bytes": 17 * 5000000 * 1024,
		"ecc_enabled": 1, "ecc.volatile.corrected": 2, "ecc.aggregate.uncorrected": 1, "ecc.aggregate.sram.corrected": 1,
		"remapped_rows.uncorrected": 1, "remapped_rows_banks.max": 2559, "recovery_action.none": 1,
		"persistence_mode": 1, "compute_mode.default": 1, "mig_enabled": 0, "stale": 0,
		"sm_active_percent": 91.25, "sm_occupancy_percent": 38.5, "tensor_active_percent": 55.75, "fp64_active_percent": 0,
		"dram_active_percent": 47.5, "compute_processes": 1, "graphics_processes": 1,
	}
}

// TestGPUs runs the collector on a machine whose GPUs a script plays: what the driver says stands in the table, for the
// run that uses the GPU; its errors stand in the logs; and a GPU that hangs takes nothing else with it.
func TestGPUs(t *testing.T) {
	machine := []string{nvmltest.Profile(t, "h100"), "count=2", "gpu.0.process.0=c 1 1000 -1 -1"} // else 4242 is on it
	replace := nvmltest.Script(t, machine...)
	c := collectortest.New(t, "config/single-node.yaml", fmt.Sprintf(
		"receivers: {nvml: {collection_interval: 1s, budget: 0, helper_path: %s, library_path: %s, attribution: {proc_root: %s}}}",
		nvmltest.Helper(t), nvmltest.Library(t), trainerProc(t)))
	c.Start()
	query := func(sql string) string {
		out, err := c.Query(sql)
		if err != nil {
			return err.Error()
		}
		return strings.TrimSpace(out)
	}
	eventually := func(want, sql string) {
		t.Helper()
		require.Eventually(t, func() bool { return query(sql) == want }, time.Minute, 100*time.Millisecond, "%s: %s", sql, query(sql))
	}
	const points = " FROM training_observability.metric_points WHERE "
	eventually("1", "SELECT count() > 1"+points+"metric = 'sys.gpu.1.sm_active_percent'") // GPM needs two looks

	for gpu := range 2 {
		for name, want := range gpuValues() {
			metric := fmt.Sprintf("sys.gpu.%d.%s", gpu, name)
			got := query(fmt.Sprintf("SELECT argMax(value, event_time), any(device), uniqExact(device)"+points+"metric = '%s' HAVING count() > 0", metric))
			assert.Equal(t, fmt.Sprintf("%.6f\t%d\t1", want, gpu), withSixDigits(got), metric)
		}
	}
	assert.Equal(t, "run-of-gpu-1\t9", query("SELECT DISTINCT run_id, rank"+points+"metric = 'sys.gpu.1.util_percent'"))
	assert.Equal(t, "none\t0", query("SELECT DISTINCT if(run_id = '', 'none', run_id), rank"+points+"metric = 'sys.gpu.0.util_percent'"))
	assert.Equal(t, "0", query("SELECT count()"+points+"tags_json LIKE '%never%'"))
	assert.Equal(t, "0", query("SELECT count() FROM training_observability.quarantined_points"))

	replace(append(machine, "event.0=0 1 8 79 -1 -1", "gpu.1.hang=0")...)
	eventually("GPU-8a1f0d6e-3c1b-4f0e-9a53-000000000001\t79", `SELECT LogAttributes['hw.id'], LogAttributes['nvidia.gpu.xid']
		FROM training_observability.otel_logs WHERE EventName = 'nvidia.gpu.xid'`)
	eventually("1", "SELECT argMax(value, event_time)"+points+"metric = 'sys.gpu.1.stale'")
	eventually("nvidia.gpu.stale", "SELECT EventName FROM training_observability.otel_logs WHERE EventName LIKE '%stale'")
	eventually("1", "SELECT count() > 2"+points+`metric = 'sys.gpu.0.util_percent' AND event_time >
		(SELECT min(event_time)`+points+"metric = 'sys.gpu.1.stale' AND value = 1)")
	c.Stop()
}

// trainerProc makes a folder laid out like /proc, with the process 4242, which has a GPU open and belongs to a run.
func trainerProc(t *testing.T) string {
	root := t.TempDir()
	process := filepath.Join(root, "4242")
	require.NoError(t, os.MkdirAll(filepath.Join(process, "fd"), 0o755))
	require.NoError(t, os.Symlink("/dev/nvidia1", filepath.Join(process, "fd", "9")))
	for name, text := range map[string]string{
		"environ": "PATH=/bin\x00RL_RUN_ID=run-of-gpu-1\x00SECRET=never\x00RANK=9\x00",
		"stat":    "4242 (python3) S 1" + strings.Repeat(" 7", 40) + "\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(process, name), []byte(text), 0o600))
	}
	return root
}

// withSixDigits rounds the first column.
func withSixDigits(row string) string {
	value, rest, _ := strings.Cut(row, "\t")
	var v float64
	if _, err := fmt.Sscan(value, &v); err != nil {
		return row
	}
	return fmt.Sprintf("%.6f\t%s", v, rest)
}
