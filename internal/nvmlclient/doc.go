// Package nvmlclient starts the helper program pitwall-nvml, which loads NVIDIA's management library, asks it for
// snapshots, hands on its events, and starts it again when it ends. It keeps the collector safe from the library: a
// driver that hangs makes devices stale and never a caller wait beyond its deadline, and a driver that lacks a function
// ends the helper only.
//
// What bites:
//   - A process that sleeps in the kernel cannot be ended, not even by SIGKILL. Shutdown then gives up and says so; the
//     goroutine that waits for that process stays until the kernel lets it go.
//   - The helper is not ended because a GPU hangs: the others are read on, and the hung one is not asked again until its
//     call returns.
//   - What a GPU told too late is thrown away: it would be older than it looks.
package nvmlclient
