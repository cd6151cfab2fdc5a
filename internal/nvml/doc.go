// Package nvml is what Pitwall knows of NVIDIA's management library, as plain values: what may be asked (Request), what
// comes back (Snapshot, Device, Reading, Event), and the frames in which both cross the pipe between the collector and
// the helper program cmd/pitwall-nvml. Only that program loads the library, because it can hang for good and because a
// call to a function that the installed driver lacks ends the process. internal/nvmlclient starts and asks it.
//
// What bites:
//   - Values are in NVML's own units, which differ by field (mW, mJ, MHz, KiB, KB/s, ns); Field tells each.
//   - A reading that could not be had is there with its reason, never as zero.
//   - Counters may wrap or start anew, with the driver or with the helper.
//   - A UUID can be doubled in a broken virtual machine. What tells devices apart is Device.Key.
//
// This package is linked into the helper, so it imports nothing big.
package nvml
