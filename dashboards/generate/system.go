package main

import (
	"github.com/pitwall-otel/pitwall/dashboards/internal/board"
	"github.com/pitwall-otel/pitwall/dashboards/internal/query"
	"github.com/pitwall-otel/pitwall/schema/names"
)

// gpu names a GPU by its machine and its index, padded so that it sorts.
const gpu = "concat(host, ' / ', leftPad(toString(device), 2, '0'))"

func ofGPU(template string) query.Sampled {
	return query.Sampled{Metric: query.OfGPUs(template), Line: gpu, Where: []string{query.OfHosts()}}
}

func countedByGPU(template string) query.Counter {
	return query.Counter{Metric: query.OfGPUs(template), Line: gpu, Where: []string{query.OfHosts()}}
}

func ofHost(metric string) query.Sampled {
	return query.Sampled{Metric: query.Is(metric), Line: "host", Where: []string{query.OfHosts()}}
}

// spread draws the least, the median and the greatest of all GPUs or machines.
func spread(title, about, unit string, s query.Sampled) *board.Panel {
	return board.OverTime(board.Text{Title: title, About: about + " Least, median and most of all that are chosen.", Unit: unit}, s.Spread()).Columns().Every("10s")
}

func system() *board.Board {
	b := board.New("system", "System", "Machines and GPUs: what they do, what they wait for, what is broken.",
		board.WithAll(runs()), hosts())
	use := ofGPU(names.TableSysGPURLDeviceIndexUtilPercent)
	b.Row("Now",
		board.Number(board.Text{Title: "GPU use", About: "Mean of the latest utilisation of all GPUs that are chosen, in percent (metrics sys.gpu.*.util_percent).", Unit: "percent"}, use.LastAll("avg")).Lights(board.Red, board.Limit{From: 30, Colour: board.Yellow}, board.Limit{From: 70, Colour: board.Green}),
		board.Number(board.Text{Title: "GPUs", About: "GPUs that said something in the time (metrics sys.gpu.*.util_percent).", Unit: "none"}, use.LastAll("count")),
		board.Number(board.Text{Title: "Idle GPUs", About: "GPUs whose latest utilisation is below 5 percent (metrics sys.gpu.*.util_percent).", Unit: "none"}, idle(use)).Lights(board.Green, board.Limit{From: 1, Colour: board.Yellow}),
		board.Number(board.Text{Title: "GPU power", About: "Sum of the latest power of all GPUs that are chosen (metrics sys.gpu.*.power_w).", Unit: "watt"}, ofGPU(names.TableSysGPURLDeviceIndexPowerW).LastAll("sum")),
		board.Number(board.Text{Title: "CPU busy", About: "Mean of the latest share of CPU time that was busy, over machines, in percent (metric sys.cpu_percent).", Unit: "percent"}, ofHost(names.TableSysCPUPercent).LastAll("avg")),
		board.Number(board.Text{Title: "Fullest disk", About: "Use of the fullest file system of the machines that are chosen, in percent (metrics sys.disk.*.percent).", Unit: "percent"}, disks().LastAll("max")).Lights(board.Green, board.Limit{From: 80, Colour: board.Yellow}, board.Limit{From: 95, Colour: board.Red}),
	)
	b.Row("GPU use",
		board.Heat(board.Text{Title: "GPU utilisation by host and device", About: "Share of time in which a kernel ran, in percent, a lane for each GPU (metrics sys.gpu.*.util_percent). Red lanes among green ones wait for something.", Unit: "percent"}, use.OverTime()).Colours("RdYlGn", false, 0, 100).Size(16, 10).Every("30s"),
		spread("GPU utilisation", "Share of time in which a kernel ran, in percent (metrics sys.gpu.*.util_percent).", "percent", use).Range(0, 100).Size(8, 10),
		board.OverTime(board.Text{Title: "GPU idle time", About: "Seconds per second in which utilisation was below the threshold of idling, added up over the GPUs of each host: 8 is eight idle GPUs (counters sys.gpu.*.idle_s).", Unit: "s"}, byHost(names.TableSysGPURLDeviceIndexIdleS)).FromZero().Every("30s").Size(12, 8),
		board.OverSteps(board.Text{Title: "Idle GPU-seconds per step", About: "Seconds of each step in which GPUs of the run idled, added up over its GPUs (counters sys.gpu.*.idle_s of GPUs with processes of the run; steps by metrics loss and rl.step.duration).", Unit: "s"}, idlePerStep()).ByName().FromZero().Size(12, 8),
		spread("GPU memory", "Share of GPU memory in use, in percent (metrics sys.gpu.*.mem_percent).", "percent", ofGPU(names.TableSysGPURLDeviceIndexMemPercent)).Range(0, 100).Size(12, 8),
		spread("SM activity", "Share of the streaming multiprocessors that had work, in percent; says more than utilisation (metrics sys.gpu.*.sm_active_percent).", "percent", ofGPU(names.TableSysGPURLDeviceIndexSmActivePercent)).Range(0, 100).Size(12, 8),
	)
	b.Row("GPU power and health",
		spread("GPU power", "Power draw (metrics sys.gpu.*.power_w).", "watt", ofGPU(names.TableSysGPURLDeviceIndexPowerW)).FromZero(),
		spread("GPU temperature", "Temperature of the GPU (metrics sys.gpu.*.temp_c).", "celsius", ofGPU(names.TableSysGPURLDeviceIndexTempC)),
		board.OverTime(board.Text{Title: "Throttled time", About: "Seconds per second in which clocks were held down, added up over the GPUs of each host: 1 is one GPU all the time (counters sys.gpu.*.throttled_s). The table beside it says which and why.", Unit: "s"}, byHost(names.TableSysGPURLDeviceIndexThrottledS)).FromZero().Every("30s"),
		board.Table(board.Text{Title: "Why GPUs were throttled", About: "Seconds in the time that a reason held clocks down, by GPU; thermal and power brake reasons want somebody to look (counters sys.gpu.*.throttle.*_s).", Unit: "s"}, throttled()).Size(12, 8),
		board.Table(board.Text{Title: "GPU errors", About: "Xid errors of the driver, ECC errors and NVLink errors by GPU (counters sys.gpu.*.xid.*, .ecc.volatile.*, .nvlink_errors.*). In all is since the driver started, new in the time. Uncorrected ones and any Xid want somebody to look.", Unit: "short"}, gpuErrors()).Size(12, 8),
	)
	transfers(b)
	machines(b)
	return b
}

func transfers(b *board.Board) {
	rate := func(title, about string, template string) *board.Panel {
		s := ofGPU(template)
		s.Line = "host"
		return board.OverTime(board.Text{Title: title, About: about + " Sum over the GPUs of each host.", Unit: "Bps"}, s.Summed("device")).FromZero().Every("10s")
	}
	b.Row("Transfers",
		rate("NVLink received", "Bytes per second over NVLink (metrics sys.gpu.*.nvlink_recv_bytes_per_s).", names.TableSysGPURLDeviceIndexNvlinkRecvBytesPerS),
		rate("NVLink sent", "Bytes per second over NVLink (metrics sys.gpu.*.nvlink_sent_bytes_per_s).", names.TableSysGPURLDeviceIndexNvlinkSentBytesPerS),
		network("Network sent", "sent_bytes_per_s", names.TableSysNetNetworkInterfaceNameSentBytesPerS),
		rate("PCIe received", "Bytes per second from the host to GPUs (metrics sys.gpu.*.pcie_recv_bytes_per_s).", names.TableSysGPURLDeviceIndexPcieRecvBytesPerS),
		rate("PCIe sent", "Bytes per second from GPUs to the host (metrics sys.gpu.*.pcie_sent_bytes_per_s).", names.TableSysGPURLDeviceIndexPcieSentBytesPerS),
		network("Network received", "recv_bytes_per_s", names.TableSysNetNetworkInterfaceNameRecvBytesPerS),
	)
}

// network adds up the interfaces of each machine, but for the loopback.
func network(title, metric, template string) *board.Panel {
	lo := "metric != " + query.Quote(query.Fill(template, "network.interface.name", "lo"))
	s := query.Sampled{Metric: query.AnyOf(template), Line: "host", Where: []string{query.OfHosts(), lo}}
	return board.OverTime(board.Text{
		Title: title, Unit: "Bps",
		About: "Bytes per second over the interfaces of each host, the loopback left out (metrics sys.net.*." + metric + ").",
	}, s.Summed("metric")).FromZero().Every("10s")
}

func disks() query.Sampled {
	const before, after = "sys.disk.", ".percent"
	return query.Sampled{
		Metric: query.AnyOf(names.TableSysDiskSystemFilesystemMountpointPercent), Where: []string{query.OfHosts()},
		Line: "concat(host, ' ', " + query.Between(before, after) + ")",
	}
}

func machines(b *board.Board) {
	mode := func(m string) query.Sampled {
		return ofHost(query.Fill(names.TableSysCPUCPUModePercent, "cpu.mode", m))
	}
	disk := func(template, direction string) query.Sampled {
		return query.Sampled{
			Metric: query.AnyOf(query.Fill(template, names.AttributeDiskIODirection, direction)), Line: "host", Where: []string{query.OfHosts()},
		}
	}
	b.Row("Machines",
		board.OverTime(board.Text{Title: "CPU idle time", About: "Share of CPU time of all cores that was idle, in percent, by host (metric sys.cpu.idle_percent).", Unit: "percent"}, mode("idle").OverTime()).Range(0, 100).Every("10s"),
		board.OverTime(board.Text{Title: "CPU waiting for disks", About: "Share of CPU time that waited for input and output, in percent, by host (metric sys.cpu.iowait_percent).", Unit: "percent"}, mode("iowait").OverTime()).FromZero().Every("10s"),
		board.OverTime(board.Text{Title: "Memory", About: "Share of memory that is not available to new programs, in percent, by host (metric sys.mem_percent).", Unit: "percent"}, ofHost(names.TableSysMemPercent).OverTime()).Range(0, 100).Every("10s"),
		board.OverTime(board.Text{Title: "Load", About: "Threads that run or wait to run, averaged over a minute, by host (metric sys.load_1m).", Unit: "short"}, ofHost(names.TableSysLoad1m).OverTime()).FromZero().Every("10s"),
		board.OverTime(board.Text{Title: "Disk read", About: "Bytes per second read from block devices, by host (metrics sys.disk.*.read_bytes_per_s).", Unit: "Bps"}, disk(names.TableSysDiskSystemDeviceDiskIODirectionBytesPerS, "read").Summed("metric")).FromZero().Every("10s"),
		board.OverTime(board.Text{Title: "Disk written", About: "Bytes per second written to block devices, by host (metrics sys.disk.*.write_bytes_per_s).", Unit: "Bps"}, disk(names.TableSysDiskSystemDeviceDiskIODirectionBytesPerS, "write").Summed("metric")).FromZero().Every("10s"),
		board.Bars(board.Text{Title: "File systems", About: "How full each file system is, in percent; the twenty fullest (metrics sys.disk.*.percent).", Unit: "percent"}, disks().Top(20)).Range(0, 100).Lights(board.Green, board.Limit{From: 80, Colour: board.Yellow}, board.Limit{From: 95, Colour: board.Red}).Size(24, 8),
	)
}
