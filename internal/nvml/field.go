package nvml

// Field is one quantity that NVML tells about a device. The comment behind each gives its unit and what Reading.Index
// counts where there are several of it; without one the index is 0. "Counter" means that it only grows.
type Field uint16

// The fields, in the order of their classes.
const (
	_ Field = iota

	// ClassUtilization.
	UtilizationGPU     // %, time in which at least one kernel ran
	UtilizationMemory  // %, time in which memory was read or written
	UtilizationEncoder // %
	UtilizationDecoder // %
	UtilizationJPEG    // %
	UtilizationOFA     // %, optical flow

	// ClassMemory.
	MemoryTotal    // bytes
	MemoryUsed     // bytes, without MemoryReserved where the driver tells that
	MemoryFree     // bytes
	MemoryReserved // bytes, held by driver and firmware
	BAR1Total      // bytes
	BAR1Used       // bytes
	BAR1Free       // bytes

	// ClassPower.
	PowerUsage          // mW, averaged over 1 s since Ampere (not GA100)
	PowerInstant        // mW
	PowerLimitEnforced  // mW
	PowerLimitRequested // mW
	Energy              // mJ, counter since the driver was loaded

	// ClassTemperature.
	TemperatureGPU    // Celsius
	TemperatureMemory // Celsius
	FanSpeed          // % of the highest, may exceed 100; index: fan
	FanSpeedRPM       // 1/min; index: fan

	// ClassClocks.
	Clock            // MHz; index: ClockDomain
	PerformanceState // 0 (fastest) to 15

	// ClassThrottle.
	ClocksEventReasons // bit mask; bit n is ThrottleReason n
	ThrottleTime       // ns, counter; index: ThrottleReason
	ViolationTime      // ns, counter; index: PerfPolicy; what older drivers have instead of ThrottleTime

	// ClassPCIe.
	PCIeGeneration // at this moment
	PCIeWidth      // lanes at this moment
	PCIeReplays    // counter
	PCIeTxBytes    // bytes, counter, wraps
	PCIeRxBytes    // bytes, counter, wraps

	// ClassPCIeRate: each takes the driver 20 ms.
	PCIeTxRate // KB/s
	PCIeRxRate // KB/s

	// ClassNVLink; index: link.
	NVLinkUp       // 1 when active
	NVLinkSpeed    // MB/s, of the link, not of what flows
	NVLinkTxData   // KiB, counter
	NVLinkRxData   // KiB, counter
	NVLinkTxBytes  // bytes, counter, NVLink 5
	NVLinkRxBytes  // bytes, counter, NVLink 5
	NVLinkReplays  // counter
	NVLinkRecovers // counter
	NVLinkCRCFlit  // counter
	NVLinkCRCData  // counter
	NVLinkCRC      // counter, flow control or data not told
	NVLinkECCData  // counter

	// ClassECC.
	ECCMode                      // 1 when on
	ECCModePending               // 1 when on after the next reset
	ECCVolatileCorrectedTotal    // counter since the driver was loaded
	ECCVolatileUncorrectedTotal  // counter since the driver was loaded
	ECCAggregateCorrectedTotal   // counter over the GPU's life
	ECCAggregateUncorrectedTotal // counter over the GPU's life
	ECCVolatileCorrected         // counter; index: MemoryLocation
	ECCVolatileUncorrected       // counter; index: MemoryLocation
	ECCAggregateCorrected        // counter; index: MemoryLocation
	ECCAggregateUncorrected      // counter; index: MemoryLocation
	RetiredPagesSingleBit        // pages, before Ampere
	RetiredPagesDoubleBit        // pages, before Ampere
	RetiredPagesPending          // 1 when pages will be retired at the next reset
	RemappedRowsCorrected        // rows, since Ampere
	RemappedRowsUncorrected      // rows, since Ampere
	RemappedRowsPending          // 1 when rows will be remapped at the next reset
	RemappedRowsFailed           // 1 when a row could not be remapped
	RemapBanks                   // banks of memory; index: RemapAvailability
	RecoveryAction               // RecoveryActionName(value)

	// ClassModes.
	PersistenceMode // 1 when on
	ComputeMode     // ComputeModeName(value)
	MIGMode         // 1 when on
	MIGModePending  // 1 when on after the next reset
	MIGDevices      // MIG devices that the GPU is split into

	// ClassLimits: what hardly ever changes.
	PowerLimitDefault    // mW
	PowerLimitMin        // mW
	PowerLimitMax        // mW
	TemperatureThreshold // Celsius; index: TemperatureLimit
	ClockMax             // MHz; index: ClockDomain
	PCIeGenerationMax    // of GPU and slot
	PCIeWidthMax         // lanes, of GPU and slot

	// ClassGPM: profiling without a daemon, since Hopper, over the time between two requests for it.
	GPMGraphicsUtil  // %
	GPMSMUtil        // %, time in which a multiprocessor had at least one warp
	GPMSMOccupancy   // %, warps of the most possible
	GPMIntegerUtil   // %
	GPMTensorUtil    // %, any tensor operation
	GPMDFMATensor    // %, tensor, double precision
	GPMHMMATensor    // %, tensor, half precision
	GPMDMMATensor    // %, tensor, double precision, other instruction
	GPMIMMATensor    // %, tensor, integer
	GPMDRAMBandwidth // % of the highest bandwidth of memory
	GPMFP64Util      // %, without tensor cores
	GPMFP32Util      // %, without tensor cores
	GPMFP16Util      // %, without tensor cores
	GPMPCIeTxRate    // MiB/s
	GPMPCIeRxRate    // MiB/s
	GPMNVLinkTxRate  // MiB/s, all links
	GPMNVLinkRxRate  // MiB/s, all links

	// ClassProcesses, ClassProcessUtilization and ClassVGPU are not readings but lists of their own, whose absence and
	// reason these tell.
	ComputeProcesses   // 1 when listed
	GraphicsProcesses  // 1 when listed
	MPSProcesses       // 1 when listed
	ProcessUtilization // 1 when listed
	VGPUInstances      // 1 when listed

	fieldCount
)

// Class is a set of groups of fields. What costs the driver much can be asked for less often.
type Class uint32

// The groups. Of a MIG device there are ClassMemory, ClassGPM and ClassProcesses, of a virtual GPU ClassUtilization and
// ClassMemory.
const (
	ClassUtilization Class = 1 << iota
	ClassMemory
	ClassPower
	ClassTemperature
	ClassClocks
	ClassThrottle
	ClassPCIe
	ClassPCIeRate
	ClassNVLink
	ClassECC
	ClassModes
	ClassLimits
	ClassGPM
	ClassProcesses
	ClassProcessUtilization
	ClassVGPU

	// AllClasses is every group.
	AllClasses = 1<<iota - 1
)

// Class returns the group that the field belongs to, 0 for a number that is no field.
func (f Field) Class() Class {
	switch {
	case f == 0 || f >= fieldCount:
		return 0
	case f < MemoryTotal:
		return ClassUtilization
	case f < PowerUsage:
		return ClassMemory
	case f < TemperatureGPU:
		return ClassPower
	case f < Clock:
		return ClassTemperature
	case f < ClocksEventReasons:
		return ClassClocks
	case f < PCIeGeneration:
		return ClassThrottle
	case f < PCIeTxRate:
		return ClassPCIe
	case f < NVLinkUp:
		return ClassPCIeRate
	case f < ECCMode:
		return ClassNVLink
	case f < PersistenceMode:
		return ClassECC
	case f < PowerLimitDefault:
		return ClassModes
	case f < GPMGraphicsUtil:
		return ClassLimits
	case f < ComputeProcesses:
		return ClassGPM
	case f < ProcessUtilization:
		return ClassProcesses
	case f == ProcessUtilization:
		return ClassProcessUtilization
	default:
		return ClassVGPU
	}
}
