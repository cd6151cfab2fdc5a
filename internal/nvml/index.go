package nvml

// ClockDomain is the index of Clock and ClockMax.
type ClockDomain uint16

// The numbers are NVML's (nvmlClockType_t).
const (
	ClockGraphics ClockDomain = iota
	ClockSM
	ClockMemory
	ClockVideo
)

// ThrottleReason is the number of a bit of ClocksEventReasons, and the index of ThrottleTime.
type ThrottleReason uint16

// The numbers are those of NVML's bits (nvmlClocksEventReason*).
const (
	ThrottleGPUIdle ThrottleReason = iota
	ThrottleApplicationsClocksSetting
	ThrottleSWPowerCap
	ThrottleHWSlowdown
	ThrottleSyncBoost
	ThrottleSWThermalSlowdown
	ThrottleHWThermalSlowdown
	ThrottleHWPowerBrakeSlowdown
	ThrottleDisplayClockSetting
)

// PerfPolicy is the index of ViolationTime.
type PerfPolicy uint16

// The numbers are NVML's (nvmlPerfPolicyType_t).
const (
	PolicyPower           PerfPolicy = 0
	PolicyThermal         PerfPolicy = 1
	PolicySyncBoost       PerfPolicy = 2
	PolicyBoardLimit      PerfPolicy = 3
	PolicyLowUtilization  PerfPolicy = 4
	PolicyReliability     PerfPolicy = 5
	PolicyTotalAppClocks  PerfPolicy = 10
	PolicyTotalBaseClocks PerfPolicy = 11
)

// MemoryLocation is the index of the ECC counters by place.
type MemoryLocation uint16

// The numbers are NVML's (nvmlMemoryLocation_t).
const (
	LocationL1Cache MemoryLocation = iota
	LocationL2Cache
	LocationDeviceMemory
	LocationRegisterFile
	LocationTextureMemory
	LocationTextureSHM
	LocationCBU
	LocationSRAM
)

// TemperatureLimit is the index of TemperatureThreshold.
type TemperatureLimit uint16

// The numbers are NVML's (nvmlTemperatureThresholds_t).
const (
	TemperatureShutdown TemperatureLimit = iota
	TemperatureSlowdown
	TemperatureMemoryMax
	TemperatureGPUMax
)

// RemapAvailability is the index of RemapBanks: how many spare rows the banks have left.
type RemapAvailability uint16

// In the order of NVML's nvmlRowRemapperHistogramValues_t.
const (
	RemapMax RemapAvailability = iota
	RemapHigh
	RemapPartial
	RemapLow
	RemapNone
)
