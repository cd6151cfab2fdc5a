package xid

// memory are errors of the GPU's memory.
func memory(number uint64) (Meaning, bool) {
	switch number {
	case 48:
		return Meaning{
			"Double-bit ECC error", Fatal, ResetGPU,
			"Data was lost. Reset the GPU when its programs have ended; with Xid 63 or 64 beside it, at once.",
		}, true
	case 58:
		return Meaning{"Memory error that no other Xid covers", Fatal, ResetGPU, ""}, true
	case 63:
		return Meaning{
			"Memory row remapped or page retired", Info, Nothing,
			"The spare is used after the next reset. On GPUs before Ampere, several pages retired are a reason to replace the GPU.",
		}, true
	case 64:
		return Meaning{
			"Memory row could not be remapped, or page not retired", Fatal, ResetGPU,
			"Reset the GPU; if it comes again, have it replaced.",
		}, true
	case 92:
		return Meaning{"Many single-bit ECC errors", Warning, Nothing, "Corrected. Watch the GPU; if it goes on, have it checked."}, true
	case 93:
		return Meaning{"Wear limit of the board's InfoROM exceeded", Warning, Nothing, ""}, true
	case 94:
		return Meaning{
			"Contained memory error", Error, RestartProcess,
			"Only the program that used the memory is lost. Reset the GPU when convenient.",
		}, true
	case 95:
		return Meaning{
			"Uncontained memory error", Fatal, ResetGPU,
			"All programs on the GPU are affected. Reset it before it is used again.",
		}, true
	case 140:
		return Meaning{"Unrecovered ECC error", Fatal, ResetGPU, ""}, true
	case 160:
		return Meaning{"A memory channel's repair failed or is short of spares", Warning, Nothing, "Have the GPU checked."}, true
	case 161:
		return Meaning{"A memory channel will be repaired at the next reset", Warning, ResetGPU, "Reset the GPU when convenient."}, true
	case 171:
		return Meaning{"Uncorrectable error in memory, beside Xid 48", Error, ResetGPU, ""}, true
	case 172:
		return Meaning{"Uncorrectable error in SRAM, beside Xid 48", Error, ResetGPU, ""}, true
	}
	return Meaning{}, false
}

// links are errors of NVLink and of the ways to other chips.
func links(number uint64) (Meaning, bool) {
	switch number {
	case 74:
		return Meaning{
			"NVLink error", Error, ResetGPU,
			"Look at the errors of the link and at the GPU or switch at its other end; if it comes again, check the connection.",
		}, true
	case 108, 137:
		return Meaning{
			"NVLink fault, mostly because of a program on another GPU", Warning, Nothing,
			"Look for Xids on the GPUs at the other ends.",
		}, true
	case 121:
		return Meaning{"Error on the link between CPU and GPU (C2C)", Warning, Nothing, "Corrected. If it goes on, have the node checked."}, true
	case 136:
		return Meaning{"NVLink could not be trained", Fatal, ResetGPU, "If it comes again, check the connection."}, true
	case 144, 145, 146, 147, 148, 149, 150:
		return Meaning{
			"NVLink 5 error", Error, ResetGPU,
			"The kernel's log has the unit and whether it is fatal; look at the switch at the other end too.",
		}, true
	case 155:
		return Meaning{"NVLink went down", Error, ResetGPU, "Look for another Xid before it and at the other end."}, true
	}
	return Meaning{}, false
}

// other are errors of the GPU as a whole: bus, power, firmware, driver.
func other(number uint64) (Meaning, bool) {
	switch number {
	case 38:
		return Meaning{"Driver firmware error", Error, ResetGPU, ""}, true
	case 46:
		return Meaning{"GPU stopped processing", Fatal, ResetGPU, ""}, true
	case 54:
		return Meaning{"Auxiliary power is not connected", Fatal, Replace, "Check the power cables of the board."}, true
	case 56, 57:
		return Meaning{"Display or memory link error", Error, ResetGPU, ""}, true
	case 61:
		return Meaning{"Breakpoint in the power management controller", Warning, Nothing, ""}, true
	case 62:
		return Meaning{"Internal controller halted", Fatal, ResetGPU, ""}, true
	case 78:
		return Meaning{"Virtual GPU could not start", Error, Nothing, "Driver versions of host and guest may not fit."}, true
	case 79:
		return Meaning{
			"GPU has fallen off the bus", Fatal, RebootNode,
			"It does not answer on PCIe. Drain and reboot the node; if it comes again: seating, power and cooling, then replace.",
		}, true
	case 106, 107:
		return Meaning{"Test message", Info, Nothing, ""}, true
	case 109:
		return Meaning{"Context switch timed out", Fatal, ResetGPU, "Restarting the program is enough in many cases."}, true
	case 110:
		return Meaning{"Security fault", Fatal, ResetGPU, ""}, true
	case 119:
		return Meaning{
			"GPU's system processor (GSP) did not answer in time", Fatal, ResetGPU,
			"If it comes again, update the driver, or run it without GSP firmware where that is possible.",
		}, true
	case 120:
		return Meaning{"Error in the GPU's system processor (GSP)", Fatal, ResetGPU, "If it comes again, update the driver."}, true
	case 123:
		return Meaning{"Power management firmware did not answer", Fatal, ResetGPU, ""}, true
	case 143:
		return Meaning{"GPU could not be initialised", Fatal, ResetGPU, ""}, true
	case 151:
		return Meaning{"Key rotation failed (confidential computing)", Error, RebootNode, "Restart the virtual machine."}, true
	case 154:
		return Meaning{
			"Another recovery action is asked for", Warning, Nothing,
			"nvidia.gpu.recovery_action says which; look for the Xid before it.",
		}, true
	case 156:
		return Meaning{"GPU's resources were retired", Warning, Nothing, ""}, true
	case 157:
		return Meaning{"GPU's resources could not be retired", Error, ResetGPU, ""}, true
	case 158:
		return Meaning{"GPU gave up after a fatal error (timeout)", Fatal, ResetGPU, ""}, true
	case 167:
		return Meaning{"Fatal PCIe error", Fatal, RebootNode, ""}, true
	}
	return Meaning{}, false
}
