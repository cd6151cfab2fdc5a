package simulation

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// machine is a host with eight GPUs. What a GPU does follows from the states of the process on it.
type machine struct {
	spec Spec
	host *Process
	gpus []*gpu
	next time.Time // reading
}

// gpu integrates what it did, so that a reading is the average since the reading before.
type gpu struct {
	index                         int64
	owner                         *Process
	work                          []work
	last                          time.Time
	idle, busy, energy, sent, hot float64 // hot: seconds slowed down
	xids                          float64
	lost                          bool
}

// work is a piece of time with one utilisation.
type work struct {
	begin, end time.Time
	use        float64
}

func newMachine(spec Spec, host string) *machine {
	m := &machine{spec: spec, host: &Process{Host: host, Replica: -1}, next: spec.Start.Add(spec.Cadence)}
	for index := range int64(RanksPerHost) {
		m.gpus = append(m.gpus, &gpu{index: index, last: spec.Start})
	}
	return m
}

// uses is how busy a GPU is in a phase; what is not listed does nothing.
func uses(phase string) float64 {
	return map[string]float64{
		"old_logprob": 0.86, "ref_logprob": 0.85, "actor_update": 0.96, "weight_sync": 0.35, "checkpoint_save": 0.04,
		"rollout": 0.92, "eval": 0.88, "checkpoint_load": 0.1, "setup": 0.15,
	}[phase]
}

// readMachines gives the GPUs the chunk's work and makes the readings that fall into it.
func (t *Timeline) readMachines(c *Chunk) {
	for _, m := range t.machines {
		for _, g := range m.gpus {
			g.owner = t.owner(m, g)
			if g.owner == nil {
				continue
			}
			for _, s := range c.States {
				if s.By == g.owner && s.Depth == 0 && !s.Umbrella && !s.End.IsZero() {
					g.work = append(g.work, work{s.Begin, s.End, uses(s.Phase)})
				}
			}
			for _, s := range t.hung {
				if s.By == g.owner {
					g.work = append(g.work, work{c.Begin, c.End, uses(s.Phase)})
				}
			}
		}
		for ; !m.next.After(c.End); m.next = m.next.Add(t.spec.Cadence) {
			m.read(c, m.next, !t.spec.Sick.IsZero() && m.next.After(t.spec.Sick))
		}
	}
}

// owner is the process whose GPU it is: a rank each, an engine two.
func (t *Timeline) owner(m *machine, g *gpu) *Process {
	for i, host := range t.spec.Hosts {
		if host == m.host.Host {
			return t.trainers[int64(i)*RanksPerHost+g.index]
		}
	}
	if each := int64(RanksPerHost / len(t.rollouts)); g.index/each < int64(len(t.rollouts)) {
		return t.rollouts[g.index/each]
	}
	return nil
}

// since integrates the work between the last reading and at; it returns the mean utilisation and the idle seconds.
func (g *gpu) since(at time.Time) (mean, idle float64) {
	worked := 0.0
	kept := g.work[:0]
	for _, w := range g.work {
		begin, end := w.begin, w.end
		if begin.Before(g.last) {
			begin = g.last
		}
		if end.After(at) {
			end = at
		}
		if seconds := end.Sub(begin).Seconds(); seconds > 0 && w.use >= 0.05 {
			mean += w.use * seconds
			worked += seconds
		}
		if w.end.After(at) {
			kept = append(kept, w)
		}
	}
	g.work = kept
	all := at.Sub(g.last).Seconds()
	g.last = at
	return mean / all, math.Max(0, all-worked)
}

const gpuMemory = 150_754_820_096 // of an H200, 140.4 GiB

func (m *machine) read(c *Chunk, at time.Time, sick bool) {
	trainers := m.host.Host != m.spec.EngineHost
	use := 0.0
	failing := sick && m.host.Host == m.spec.Hosts[len(m.spec.Hosts)-1]
	for _, g := range m.gpus {
		if failing && g.index == FailedDevice && at.After(m.spec.Hangs) {
			m.lose(c, g, at)
			continue
		}
		r := m.spec.random("gpu/"+m.host.Host, g.index, at.UnixNano())
		seconds := at.Sub(g.last).Seconds()
		mean, idle := g.since(at)
		hot := sick && trainers && m.host.Host == m.spec.Hosts[0] && g.index == HotDevice
		if sick && !trainers && g.index == IdleDevice {
			mean, idle = 0, seconds
		}
		if mean > 0 {
			mean = math.Min(1, math.Max(0.01, mean+0.01*r.NormFloat64()))
		}
		g.idle += idle
		g.busy += seconds - idle
		use += mean / RanksPerHost
		m.readGPU(c, g, at, gpuReading{mean: mean, seconds: seconds, hot: hot, noise: r.NormFloat64()})
		if failing && g.index == FailedDevice && g.xids == 0 {
			g.xids = 1
			m.xid(c, g, at)
		}
	}
	m.readHost(c, at, use, trainers)
	c.Collected(m.host, at, Collection{Component: "nvml", Target: "nvml", Seconds: 0.006, Metrics: 40})
	for _, cost := range []struct {
		metric string
		value  float64
	}{{"pitwall.cost.cpu.utilization", 0.003}, {"pitwall.cost.cpu.budget", 0.01}} {
		c.Points = append(c.Points, Point{
			By: m.host, Time: at, Metric: cost.metric, Unit: "1", Value: cost.value, Attributes: []Attribute{{"pitwall.component", "nvml"}},
		})
	}
}

type gpuReading struct {
	mean, seconds, noise float64
	hot                  bool
}

func (m *machine) uuid(g *gpu) string {
	id := m.spec.id("gpu/"+m.host.Host, g.index)
	return fmt.Sprintf("GPU-%08x-0000-4000-8000-%012x", id[:4], id[2:])
}

func (m *machine) readGPU(c *Chunk, g *gpu, at time.Time, is gpuReading) {
	by := m.host
	if g.owner != nil {
		by = &Process{
			Run: g.owner.Run, Attempt: g.owner.Attempt, Role: g.owner.Role, Rank: g.owner.Rank, Local: g.owner.Local,
			Host: m.host.Host, Replica: g.owner.Replica,
		}
	}
	id := []Attribute{{"hw.id", m.uuid(g)}, {"rl.device.index", g.index}}
	typed := []Attribute{id[0], id[1], {"hw.type", "gpu"}}
	put := func(kind Kind, metric, unit string, value float64, base []Attribute, more ...Attribute) {
		c.Points = append(c.Points, Point{
			By: by, Time: at, Metric: metric, Unit: unit, Kind: kind, Since: m.spec.Start, Value: value,
			Attributes: slices.Concat(base, more),
		})
	}
	power := 95 + 590*is.mean + 4*is.noise
	temperature, clock := 34+36*is.mean+is.noise, 1980e6
	hot := 0.0
	if is.hot {
		hot, temperature, clock, power = 1, 91+is.noise, 1155e6, power*0.7
		g.hot += is.seconds
	}
	g.energy += power * is.seconds
	link := 45e9 * is.mean
	g.sent += link * is.seconds
	used := math.Round(0.08*gpuMemory + 0.62*gpuMemory*math.Min(1, 0.6+is.mean))
	put(Gauge, "hw.gpu.utilization", "1", is.mean, id, Attribute{"hw.gpu.task", "general"})
	put(Gauge, "hw.gpu.memory.utilization", "1", used/gpuMemory, id)
	put(UpDownCounter, "hw.gpu.memory.usage", "By", used, id)
	put(UpDownCounter, "hw.gpu.memory.limit", "By", gpuMemory, id)
	put(Gauge, "hw.power", "W", power, typed)
	put(Counter, "hw.energy", "J", g.energy, typed)
	put(Gauge, "hw.temperature", "Cel", temperature, typed, Attribute{"hw.sensor_location", "gpu"})
	put(Gauge, "nvidia.gpu.clock", "Hz", clock, id, Attribute{"nvidia.gpu.clock.domain", "sm"})
	put(Gauge, "nvidia.gpu.power.limit", "W", 700, id, Attribute{"nvidia.gpu.power.limit.type", "enforced"})
	put(Gauge, "nvidia.gpu.sm.activity", "1", is.mean*0.78, id)
	put(Gauge, "nvidia.gpu.throttle.active", "1", hot, id, Attribute{"nvidia.gpu.throttle.reason", "hw_thermal_slowdown"})
	put(Counter, "nvidia.gpu.throttle.duration", "s", g.hot, id, Attribute{"nvidia.gpu.throttle.reason", "hw_thermal_slowdown"})
	put(Counter, "nvidia.gpu.throttled.duration", "s", g.hot, id)
	put(Counter, "nvidia.gpu.idle.duration", "s", g.idle, id)
	put(Counter, "nvidia.gpu.busy.duration", "s", g.busy, id)
	for _, direction := range []string{"transmit", "receive"} {
		way := Attribute{"network.io.direction", direction}
		put(Gauge, "nvidia.gpu.nvlink.io_rate", "By/s", link, id, way)
		put(Counter, "nvidia.gpu.nvlink.io", "By", math.Round(g.sent), id, way)
		put(Gauge, "nvidia.gpu.pcie.io_rate", "By/s", 2e8+3e9*is.mean, id, way)
	}
	for kind, count := range map[string]float64{"corrected": math.Floor(g.hot / 600), "uncorrected": 0} {
		put(Counter, "nvidia.gpu.ecc.errors", "{error}", count, id, Attribute{"nvidia.gpu.ecc.counter", "volatile"}, Attribute{"error.type", kind})
	}
	for kind, count := range map[string]float64{"replay": math.Floor(g.sent / 5e13), "recovery": 0, "crc": 0} {
		put(Counter, "nvidia.gpu.nvlink.errors", "{error}", count, id, Attribute{"nvidia.gpu.nvlink.error", kind})
	}
	if g.owner != nil {
		put(Gauge, "nvidia.gpu.run.processes", "{process}", 1, id)
	}
	ok, failed := 1.0, 0.0
	if g.xids > 0 {
		ok, failed = 0, 1
		put(Counter, "nvidia.gpu.xid.errors", "{error}", g.xids, id, Attribute{"nvidia.gpu.xid", int64(FailedXid)})
	}
	put(UpDownCounter, "hw.status", "1", ok, typed, Attribute{"hw.state", "ok"})
	put(UpDownCounter, "hw.status", "1", failed, typed, Attribute{"hw.state", "failed"})
}

func (m *machine) xid(c *Chunk, g *gpu, at time.Time) {
	by := g.owner
	c.event(by, at, "nvidia.gpu.xid", Attribute{"hw.id", m.uuid(g)}, Attribute{"rl.device.index", g.index},
		Attribute{"nvidia.gpu.xid", int64(FailedXid)}, Attribute{"nvidia.gpu.error.name", "GPU has fallen off the bus"},
		Attribute{"nvidia.gpu.error.severity", "fatal"}, Attribute{"nvidia.gpu.error.action", "reboot_node"})
	c.Events[len(c.Events)-1].Error = true
}

// lose says once that a GPU is not there any more; nothing is read of it then.
func (m *machine) lose(c *Chunk, g *gpu, at time.Time) {
	if g.lost {
		return
	}
	g.lost = true
	c.event(g.owner, at, "nvidia.gpu.lost", Attribute{"hw.id", m.uuid(g)}, Attribute{"rl.device.index", g.index},
		Attribute{"nvidia.gpu.error.name", "GPU is lost"}, Attribute{"nvidia.gpu.error.severity", "fatal"},
		Attribute{"nvidia.gpu.error.action", "reboot_node"})
	c.Events[len(c.Events)-1].Error = true
}

func (m *machine) readHost(c *Chunk, at time.Time, use float64, trainers bool) {
	r := m.spec.random("host/"+m.host.Host, at.UnixNano())
	put := func(kind Kind, metric, unit string, value float64, with ...Attribute) {
		c.Points = append(c.Points, Point{By: m.host, Time: at, Metric: metric, Unit: unit, Kind: kind, Value: value, Attributes: with})
	}
	busy := math.Min(0.95, math.Max(0.02, 0.1+0.25*use+0.01*r.NormFloat64()))
	const wait, memory = 0.004, 2_199_023_255_552.0
	put(Gauge, "system.cpu.busy", "1", busy)
	for mode, share := range map[string]float64{"user": busy * 0.85, "system": busy * 0.15, "iowait": wait, "idle": 1 - busy - wait} {
		put(Gauge, "system.cpu.utilization", "1", share, Attribute{"cpu.mode", mode})
	}
	put(Gauge, "system.cpu.load_average.1m", "{thread}", 192*busy)
	used := math.Round(memory * (0.28 + 0.05*use))
	put(Gauge, "system.memory.utilization", "1", used/memory, Attribute{"system.memory.state", "used"})
	put(UpDownCounter, "system.memory.usage", "By", used, Attribute{"system.memory.state", "used"})
	put(UpDownCounter, "system.memory.limit", "By", memory)
	fabric := 2e7
	if trainers {
		fabric += 3.2e10 * use
	}
	for _, card := range []struct {
		name string
		rate float64
	}{{"eth0", 2e7 + 1e8*use}, {"ib0", fabric}} {
		for _, direction := range []string{"transmit", "receive"} {
			put(Gauge, "system.network.io_rate", "By/s", math.Abs(around(r, card.rate, 0.05)),
				Attribute{"network.interface.name", card.name}, Attribute{"network.io.direction", direction})
		}
	}
	for direction, rate := range map[string]float64{"read": 4e7, "write": 9e7} {
		put(Gauge, "system.disk.io_rate", "By/s", rate*(0.5+use), Attribute{"system.device", "nvme0n1"}, Attribute{"disk.io.direction", direction})
	}
	put(Gauge, "system.disk.busy", "1", math.Min(1, 0.03+0.1*use), Attribute{"system.device", "nvme0n1"})
	for mount, share := range map[string]float64{"/": 0.41, "/checkpoints": math.Min(0.97, 0.3+0.5*at.Sub(m.spec.Start).Hours()/24)} {
		put(Gauge, "system.filesystem.utilization", "1", share, Attribute{"system.filesystem.mountpoint", mount},
			Attribute{"system.device", "/dev/nvme0n1p1"}, Attribute{"system.filesystem.type", "ext4"}, Attribute{"system.filesystem.mode", "rw"})
	}
	put(Gauge, "system.uptime", "s", at.Sub(m.spec.Start).Seconds()+864_000)
}
