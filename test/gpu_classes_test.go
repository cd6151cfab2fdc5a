package test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pitwall-otel/pitwall/internal/collectortest"
	"github.com/pitwall-otel/pitwall/internal/nvmltest"
)

// mixedMachine is the script of one machine with a GPU of each kind, in this order; what a profile leaves at zero has
// numbers here that cannot be taken for each other.
func mixedMachine(t *testing.T) string {
	var script strings.Builder
	for gpu, profile := range []string{"consumer", "vgpu", "old", "a100", "h100"} {
		of := fmt.Sprintf("\ngpu.%d.", gpu)
		script.WriteString(strings.NewReplacer("\ngpu.*.", of, "\ngpu.0.", of).Replace(nvmltest.Profile(t, profile)) + "\n")
	}
	return script.String() + `count=5
gpu.2.retired_pending=1
gpu.3.nvlink.3.error.1=5
gpu.3.nvlink.3.error.3=6
gpu.3.field.138=rate(5000000,20000)
gpu.3.field.139=rate(6000000,30000)
gpu.4.util_decoder=5
gpu.4.util_jpeg=7
gpu.4.util_ofa=9
gpu.4.remapped_pending=1
gpu.4.remapped_failed=1
gpu.4.field.74=rate(5000000000,500000000)
gpu.4.field.163.2=8
gpu.4.gpm.6=1.5
gpu.4.gpm.8=2.25
gpu.4.gpm.11=6.25`
}

// gpuClass is a series of the table: its name behind sys.gpu.N, what its tags contain, and where the script says its value:
// the word of a line that has several, and the scale from NVML's unit to the table's.
type gpuClass struct {
	gpu        int
	name, unit string
	tag, key   string
	word       int
	scale      float64
}

// gpuClasses are the classes that TestGPUs has none of, or has zeros of.
func gpuClasses() []gpuClass {
	const kib, mib = 1 << 10, 1 << 20
	return []gpuClass{
		{0, "encoder_util_percent", "%", "", "util_encoder", 0, 1},
		{4, "decoder_util_percent", "%", "", "util_decoder", 0, 1},
		{4, "jpeg_util_percent", "%", "", "util_jpeg", 0, 1},
		{4, "ofa_util_percent", "%", "", "util_ofa", 0, 1},
		{0, "bar1_total_bytes", "By", "", "bar1", 0, 1},
		{0, "power_limit_max_w", "W", "", "power_limit_max", 0, 1e-3},
		{0, "power_limit_default_w", "W", "", "power_limit_default", 0, 1e-3},
		{0, "power_limit_requested_w", "W", "", "power_limit_requested", 0, 1e-3},
		{0, "temp_limit_throttled_c", "Cel", "", "temperature_limit.1", 0, 1},
		{0, "temp_limit_max_c", "Cel", "", "temperature_limit.3", 0, 1},
		{2, "memory_temp_limit_max_c", "Cel", "", "temperature_limit.2", 0, 1},
		{0, "fan_percent", "%", "/fan0", "fan.0", 0, 1},
		{0, "fan_percent", "%", "/fan1", "fan.1", 0, 1},
		{0, "fan_rpm", "rpm", "/fan0", "fan_rpm", 0, 1},
		{0, "clock_graphics_mhz", "MHz", "", "clock.0", 0, 1},
		{0, "clock_video_mhz", "MHz", "", "clock.3", 0, 1},
		{2, "clock_sm_max_mhz", "MHz", "", "clock_max.1", 0, 1},
		{2, "clock_memory_max_mhz", "MHz", "", "clock_max.2", 0, 1},
		{2, "clock_video_max_mhz", "MHz", "", "clock_max.3", 0, 1},
		{0, "pstate", "1", "", "pstate", 0, 1},
		{0, "persistence_mode", "1", "", "persistence", 0, 1},
		{2, "pcie_gen_max", "1", "", "pcie_generation_max", 0, 1},
		{2, "pcie_width_max", "{lane}", "", "pcie_width_max", 0, 1},
		{0, "pcie_sent_bytes_per_s", "By/s", "", "pcie_rate.0", 0, 1000}, // a look
		{0, "pcie_recv_bytes_per_s", "By/s", "", "pcie_rate.1", 0, 1000},
		{4, "pcie_sent_bytes_per_s", "By/s", "", "gpm.20", 0, mib},
		{4, "pcie_recv_bytes_per_s", "By/s", "", "gpm.21", 0, mib},
		{4, "nvlink_sent_bytes_per_s", "By/s", "", "gpm.61", 0, mib},
		{4, "nvlink_recv_bytes_per_s", "By/s", "", "gpm.60", 0, mib},
		{4, "nvlink.5.recv_bytes", "By", "", "field.139", 0, kib},
		{4, "nvlink_recv_bytes", "By", "", "field.139", 0, 17 * kib}, // the 18th is down
		{3, "nvlink.7.errors.crc_flit", "{error}", "", "nvlink.*.error.2", 0, 1},
		{3, "nvlink_errors.crc_flit", "{error}", "", "nvlink.*.error.2", 0, 12},
		{3, "nvlink.3.errors.recovery", "{error}", "", "nvlink.3.error.1", 0, 1},
		{3, "nvlink_errors.recovery", "{error}", "", "nvlink.3.error.1", 0, 1},
		{3, "nvlink.3.errors.crc_data", "{error}", "", "nvlink.3.error.3", 0, 1},
		{4, "nvlink.2.errors.crc", "{error}", "", "field.163.2", 0, 1},
		{4, "nvlink_errors.crc", "{error}", "", "field.163.2", 0, 1},
		{3, "ecc.volatile.device_memory.corrected", "{error}", "", "ecc.0.0.2", 0, 1},
		{3, "ecc.aggregate.device_memory.corrected", "{error}", "", "ecc.0.1.2", 0, 1},
		{3, "ecc.aggregate.device_memory.uncorrected", "{error}", "", "ecc.1.1.2", 0, 1},
		{3, "ecc.aggregate.corrected", "{error}", "", "ecc_total.0.1", 0, 1},
		{2, "retired_pages.single_bit", "{page}", "", "retired.0", 0, 1},
		{2, "retired_pages.double_bit", "{page}", "", "retired.1", 0, 1},
		{2, "retired_pages_pending", "1", "", "retired_pending", 0, 1},
		{3, "remapped_rows.uncorrected", "{row}", "", "remapped_uncorrected", 0, 1},
		{4, "remapped_rows_pending", "1", "", "remapped_pending", 0, 1},
		{4, "remapped_rows_failed", "1", "", "remapped_failed", 0, 1},
		{3, "remapped_rows_banks.high", "{bank}", "", "remap_banks.1", 0, 1},
		{4, "mig_enabled", "1", "", "mig_mode", 0, 1},
		{4, "graphics_active_percent", "%", "", "gpm.1", 0, 1},
		{4, "int_active_percent", "%", "", "gpm.4", 0, 1},
		{4, "tensor_fp64_active_percent", "%", "", "gpm.6+gpm.8", 0, 1},
		{4, "tensor_fp16_active_percent", "%", "", "gpm.7", 0, 1},
		{4, "tensor_int_active_percent", "%", "", "gpm.9", 0, 1},
		{4, "fp64_active_percent", "%", "", "gpm.11", 0, 1},
		{4, "fp32_active_percent", "%", "", "gpm.12", 0, 1},
		{4, "fp16_active_percent", "%", "", "gpm.13", 0, 1},
		{1, "vgpu.3251634191.util_percent", "%", `"hw.id":"11111111-2222-4333-8444-555555555555","hw.parent":"GPU-aaaaaaaa-`, "vgpu_util.0", 1, 1},
		{1, "vgpu.3251634191.mem_used_bytes", "By", `"hw.id":"11111111-2222-4333-8444-555555555555","hw.parent":"GPU-aaaaaaaa-`, "vgpu.0", 2, 1},
		{1, "vgpu.3251634192.util_percent", "%", `"hw.id":"66666666-7777-4888-8999-000000000000"`, "vgpu_util.1", 1, 1},
		{1, "vgpu.3251634192.mem_used_bytes", "By", `"hw.id":"66666666-7777-4888-8999-000000000000"`, "vgpu.1", 2, 1},
		{0, "process_mem_used_bytes", "By", `"nvidia.gpu.process.type":"graphics","process.pid":1203}`, "process.0", 2, 1},
		{0, "process_mem_used_bytes", "By", `"nvidia.gpu.process.type":"compute","process.pid":2999}`, "process.1", 2, 1},
		{4, "process_sm_util_percent", "%", `"process.pid":4242}`, "process_util.0", 1, 1},
		{4, "process_memory_util_percent", "%", `"process.pid":4242}`, "process_util.0", 2, 1},
		{4, "process_encoder_util_percent", "%", `"process.pid":4242}`, "process_util.0", 3, 1},
		{4, "process_decoder_util_percent", "%", `"process.pid":4242}`, "process_util.0", 4, 1},
	}
}

// TestGPUClasses runs the collector on a machine with a GPU of each kind: what only some kinds have, and what is asked for
// only on demand, stands in the table too.
func TestGPUClasses(t *testing.T) {
	script := mixedMachine(t)
	said := map[string]string{}
	for line := range strings.Lines(script) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		said[key] = value
	}
	nvmltest.Script(t, script)
	c := collectortest.New(t, "config/single-node.yaml", quiet, fmt.Sprintf(
		`receivers: {nvml: {collection_interval: 1s, budget: 0, helper_path: %s, library_path: %s, attribution: {enabled: false},
			metrics: {nvidia.gpu.process.memory.usage: {enabled: true}, nvidia.gpu.process.utilization: {enabled: true}}}}`,
		nvmltest.Helper(t), nvmltest.Library(t)))
	c.Start()
	const from = " FROM training_observability.metric_points WHERE metric "
	// What grows does so at the script's pace, as near as two looks are timed.
	near := func(want float64, value, metric string) {
		t.Helper()
		var answer string
		require.Eventually(t, func() bool {
			answer, _ = c.Query("SELECT abs(" + value + fmt.Sprintf(" / %g - 1) < 0.01", want) + from + "= 'sys.gpu." + metric + "'")
			return answer == "1"
		}, time.Minute, 100*time.Millisecond, "%s is not %g: %s", metric, want, answer)
	}
	const pace = "(max(value) - min(value)) * 1000 / dateDiff('millisecond', min(event_time), max(event_time))"
	near(12*20000*1024, "argMax(value, event_time)", "3.nvlink_sent_bytes_per_s")
	near(12*30000*1024, "argMax(value, event_time)", "3.nvlink_recv_bytes_per_s")
	near(12*20000*1024, pace, "3.nvlink_sent_bytes")
	near(0.5, pace, "4.throttle.sw_power_cap_s") // the driver's own counter, in nanoseconds
	near(1, pace, "0.throttle.gpu_idle_s")       // looks: the reason stands all the time
	near(1, pace, "0.busy_s")

	answer, err := c.Query("SELECT metric, unit, device, argMax(value, event_time), tags_json" + from + "LIKE 'sys.gpu.%' GROUP BY metric, unit, device, tags_json FORMAT TSVRaw")
	require.NoError(t, err)
	series := map[string][]string{} // by name
	for line := range strings.Lines(answer) {
		name, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		series[name] = append(series[name], rest)
	}
	for _, want := range gpuClasses() {
		metric := fmt.Sprintf("sys.gpu.%d.%s", want.gpu, want.name)
		var value float64
		for key := range strings.SplitSeq(want.key, "+") {
			words := strings.Fields(said[fmt.Sprintf("gpu.%d.%s", want.gpu, key)])
			require.Greater(t, len(words), want.word, "the script says nothing of %s", key)
			number, err := strconv.ParseFloat(words[want.word], 64)
			require.NoError(t, err)
			value += number * want.scale
		}
		var found int
		for _, row := range series[metric] {
			columns := strings.SplitN(row, "\t", 4) // unit, device, value, tags
			if strings.Contains(columns[3], want.tag) {
				found++
				assert.Equal(t, []string{want.unit, strconv.Itoa(want.gpu)}, columns[:2], metric)
				got, err := strconv.ParseFloat(columns[2], 64)
				require.NoError(t, err)
				assert.InDelta(t, value, got, 1e-9*max(1, value), metric)
			}
		}
		assert.Equal(t, 1, found, "%s %s: %q", metric, want.tag, series[metric])
	}
	assert.Empty(t, series["sys.gpu.0.ecc_enabled"], "a GPU without ECC has no zero of it")
	c.Stop()
}
