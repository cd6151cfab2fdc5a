package main

import (
	"fmt"
	"strings"

	"github.com/pitwall-otel/pitwall/test/demo/simulation"
)

// tableName is a point's name in metric_points and the factor of its value there, written down from docs/schema.md, not
// computed by what is tested.
func tableName(p simulation.Point) (string, float64) {
	get := func(key string) string {
		for _, a := range p.Attributes {
			if a.Key == key {
				return fmt.Sprint(a.Value)
			}
		}
		return ""
	}
	way := map[string]string{"transmit": "sent", "receive": "recv"}[get("network.io.direction")]
	gpu := "sys.gpu." + get("rl.device.index") + "."
	network := "sys.net." + get("network.interface.name") + "."
	disk := "sys.disk." + get("system.device") + "."
	percent := 100.0
	switch p.Metric {
	case "hw.gpu.utilization":
		return gpu + "util_percent", percent
	case "nvidia.gpu.ecc.errors":
		return gpu + "ecc." + get("nvidia.gpu.ecc.counter") + "." + get("error.type"), 1
	case "nvidia.gpu.nvlink.errors":
		return gpu + "nvlink_errors." + get("nvidia.gpu.nvlink.error"), 1
	case "pitwall.scrape.failed":
		return "collector." + get("pitwall.component") + ".failed", 1
	case "pitwall.scrape.errors":
		return "collector." + get("pitwall.component") + ".error_count", 1
	case "pitwall.scrape.duration":
		return "collector." + get("pitwall.component") + ".duration_seconds", 1
	case "pitwall.scrape.metrics":
		return "collector." + get("pitwall.component") + ".metric_count", 1
	case "hw.gpu.memory.utilization":
		return gpu + "mem_percent", percent
	case "nvidia.gpu.sm.activity":
		return gpu + "sm_active_percent", percent
	case "nvidia.gpu.clock":
		return gpu + "clock_" + get("nvidia.gpu.clock.domain") + "_mhz", 1e-6
	case "nvidia.gpu.nvlink.io_rate", "nvidia.gpu.pcie.io_rate":
		return gpu + strings.Split(p.Metric, ".")[2] + "_" + way + "_bytes_per_s", 1
	case "nvidia.gpu.nvlink.io":
		return gpu + "nvlink_" + way + "_bytes", 1
	case "nvidia.gpu.throttle.active":
		return gpu + "throttle." + get("nvidia.gpu.throttle.reason"), 1
	case "nvidia.gpu.throttle.duration":
		return gpu + "throttle." + get("nvidia.gpu.throttle.reason") + "_s", 1
	case "nvidia.gpu.xid.errors":
		return gpu + "xid." + get("nvidia.gpu.xid"), 1
	case "hw.status":
		return gpu + "status." + get("hw.state"), 1
	case "system.cpu.busy":
		return "sys.cpu_percent", percent
	case "system.cpu.utilization":
		return "sys.cpu." + get("cpu.mode") + "_percent", percent
	case "system.memory.utilization":
		return "sys.mem_percent", percent
	case "system.memory.usage":
		return "sys.mem." + get("system.memory.state") + "_bytes", 1
	case "system.network.io_rate":
		return network + way + "_bytes_per_s", 1
	case "system.disk.io_rate":
		return disk + get("disk.io.direction") + "_bytes_per_s", 1
	case "system.disk.busy":
		return disk + "busy_percent", percent
	case "system.filesystem.utilization":
		return "sys.disk." + get("system.filesystem.mountpoint") + ".percent", percent
	case "rl.gsa.gate":
		return "gsa.gate." + get("rl.stat"), 1
	case "rl.moe.load.violation":
		return "moe.load." + get("rl.moe.violation") + "_vio", 1
	case "rl.checkpoint.disk.usage":
		return "checkpoint.disk_" + get("rl.checkpoint.disk.state") + "_bytes", 1
	}
	if name, ok := gpuNames()[p.Metric]; ok {
		return gpu + name, 1
	}
	if name, ok := ownersNames()[p.Metric]; ok {
		return name, 1
	}
	return p.Metric, 1
}

func gpuNames() map[string]string {
	return map[string]string{
		"hw.gpu.memory.usage": "mem_used_bytes", "hw.gpu.memory.limit": "mem_total_bytes", "hw.power": "power_w",
		"hw.energy": "energy_j", "hw.temperature": "temp_c", "nvidia.gpu.power.limit": "power_limit_w",
		"nvidia.gpu.throttled.duration": "throttled_s", "nvidia.gpu.idle.duration": "idle_s",
		"nvidia.gpu.busy.duration": "busy_s", "nvidia.gpu.run.processes": "run_processes",
	}
}

func ownersNames() map[string]string {
	return map[string]string{
		"rl.loss.total": "loss", "rl.loss.token": "train.loss", "rl.validation.loss": "val.loss", "rl.tokens": "train.tokens_total",
		"rl.throughput": "train.throughput", "rl.batch.rate": "train.batch_rate", "rl.weight_sync.throughput": "weight_sync.bytes_per_s",
		"rl.data.bucket.index": "data.bucket", "rl.milestone.eta": "milestone.eta_s", "rl.milestone.progress": "milestone.progress",
		"rl.moe.router.loss": "moe.router.loss", "rl.moe.router.null_loss": "moe.router.null_loss", "rl.moe.null_ratio": "moe.null_ratio",
		"rl.moe.expert.load": "moe.expert.load", "rl.moe.expert.token_count": "moe.expert.token_count",
		"rl.moe.fourier.power": "moe.fourier.power", "rl.gsa.selected_ratio": "gsa.selected_ratio", "rl.gsa.entropy": "gsa.entropy",
		"rl.mhc.row_sum_error": "mhc.row_sum_err", "rl.mhc.column_sum_error": "mhc.col_sum_err", "rl.mhc.gain": "mhc.gain_max",
		"rl.mhc.grad_gain": "mhc.grad_gain_max", "rl.mhc.offdiagonal_mass": "mhc.offdiag_mass",
		"rl.mhc.stream_similarity": "mhc.stream_similarity", "rl.recurrence.depth": "recur.depth",
		"rl.recurrence.loss_gain": "recur.loss_gain", "rl.recurrence.duration": "recur.time_s",
		"rl.checkpoint.size": "checkpoint.size_bytes", "rl.checkpoint.files": "checkpoint.files",
		"rl.checkpoint.save.duration": "checkpoint.save_s", "rl.checkpoint.up": "checkpoint.up",
		"rl.checkpoint.disk.limit": "checkpoint.disk_total_bytes", "rl.checkpoint.disk.free_ratio": "checkpoint.disk_free_ratio",
		"rl.benchmark.score": "bench.score", "rl.goodput.gpu_time": "goodput.gpu_seconds", "rl.gpu.idle_time": "gpu.idle_s",
		"system.cpu.load_average.1m": "sys.load_1m", "system.memory.limit": "sys.mem.total_bytes", "system.uptime": "sys.uptime_s",
	}
}
