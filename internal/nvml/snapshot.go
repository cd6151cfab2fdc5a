package nvml

import "time"

// Request says what to collect.
type Request struct {
	Classes Class
	// Deadline is how long to wait for a device; one that has not answered by then is stale.
	Deadline time.Duration
}

// Status is the state of the way to the driver.
type Status string

// The states. Devices are told only with StatusOK.
const (
	StatusOK              Status = "ok"
	StatusStarting        Status = "starting"         // the helper starts, or the driver initialises
	StatusNoLibrary       Status = "no_library"       // libnvidia-ml.so.1 is not there; no driver is installed
	StatusNoDriver        Status = "no_driver"        // the library is there, the kernel's module is not loaded
	StatusVersionMismatch Status = "version_mismatch" // the driver was updated and the old module is still loaded
	StatusNoPermission    Status = "no_permission"    // the device files may not be opened
	StatusInitFailed      Status = "init_failed"      // nvmlInit failed otherwise
	StatusInitHung        Status = "init_hung"        // nvmlInit does not return
	StatusNoCgo           Status = "no_cgo"           // the helper was built without cgo
	StatusNoHelper        Status = "no_helper"        // the helper cannot be started or ends again and again
)

// Snapshot is what one request found.
type Snapshot struct {
	Status      Status
	StatusSince time.Time
	StatusError string // what the driver or the system said; empty with StatusOK

	DriverVersion string
	NVMLVersion   string
	CUDAVersion   string // highest that the driver supports, such as 13.0

	Time     time.Time     // when the request was made
	Wall     time.Duration // from the request to the last answer or the deadline
	Restarts int           // times that the helper was started again since the client was
	Helper   Usage         // of the helper since it started

	// Devices are ordered by index; MIG devices and virtual GPUs follow the GPU they are cut from.
	Devices []Device
}

// Usage is what the helper process used.
type Usage struct {
	PID  int
	CPU  time.Duration // user and system
	RSS  uint64        // bytes of memory in use
	Wake uint64        // context switches, voluntary and involuntary
}

// State says whether a device's readings are there.
type State string

// The states of a device.
const (
	DeviceOK    State = "ok"
	DeviceStale State = "stale" // the driver does not answer for it
	DeviceLost  State = "lost"  // it fell off the bus or needs a reset
	DeviceError State = "error" // the driver gives no handle for it, such as without permission
)

// Key tells devices of a machine apart, also where UUIDs are doubled. It changes when the driver numbers GPUs anew.
type Key struct {
	Index int    // NVML's index of the GPU
	MIG   int    // index of the MIG device on it, -1 for none
	VGPU  uint32 // instance of the virtual GPU on it, 0 for none
}

// Device is a GPU, a MIG device or, on its host, a virtual GPU. Identity may be empty where the driver does not tell it.
type Device struct {
	Key          Key
	UUID         string
	ParentUUID   string // of a MIG device and a virtual GPU
	Serial       string
	Name         string // product, such as NVIDIA H200
	Brand        string // lower case, such as nvidia, geforce_rtx; empty when unknown
	Architecture string // lower case, such as hopper; empty when unknown
	PCIBusID     string // as NVML writes it: 00000000:1A:00.0
	VBIOS        string
	Minor        int    // N of /dev/nvidiaN, -1 when unknown
	Mode         string // none, passthrough, vgpu, host_vgpu or host_vsga; empty when unknown

	GPUInstance     int    // of a MIG device, else -1
	ComputeInstance int    // of a MIG device, else -1
	MIGProfile      string // of a MIG device, such as 1g.18gb; empty when the driver does not tell it

	State      State
	StateSince time.Time
	Error      string // what is wrong; empty with DeviceOK

	// Of this collection; empty unless State is DeviceOK.
	Time     time.Time     // when its readings began
	Wall     time.Duration // how long they took; of a GPU with its MIG and virtual devices
	CPU      time.Duration // of the helper's thread for it; likewise
	Readings []Reading     // ordered by field and index

	Processes          []Process
	ProcessUtilization []ProcessSample
}

// Absent is why a reading has no value.
type Absent uint8

// The reasons.
const (
	Present      Absent = iota // it has one
	Unsupported                // by GPU, driver or mode; not asked again for a while
	NoPermission               // not asked again for a while
	TimedOut                   // the driver gave up
	Lost                       // with the GPU
	NotYet                     // comes with the next request (rates need two)
	Failed                     // anything else
)

// Reading is the value of a field, in NVML's unit.
type Reading struct {
	Field  Field
	Index  uint16 // see Field
	Absent Absent
	Value  float64 // exact for counters up to 2^53
}

// ProcessType is how a process uses a GPU.
type ProcessType uint8

// The types.
const (
	ComputeProcess ProcessType = iota
	GraphicsProcess
	MPSProcess
)

// Process is a process on a device. Its pid is that of the namespace the helper runs in; outside of it NVML tells the
// host's. In MIG mode the GPU lists the processes of all its MIG devices, with their instances.
type Process struct {
	PID             uint32
	Type            ProcessType
	UsedMemory      uint64 // bytes; only when HasMemory
	HasMemory       bool
	GPUInstance     int // -1 for none
	ComputeInstance int // -1 for none
}

// ProcessSample is how much of a GPU a process used lately, each in %. JPEG and optical flow are told by a call only that
// go-nvml 0.13.3 does not have.
type ProcessSample struct {
	PID     uint32
	Time    time.Time // of the sample
	SM      uint32
	Memory  uint32
	Encoder uint32
	Decoder uint32
}
