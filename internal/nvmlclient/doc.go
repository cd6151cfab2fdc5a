// Package nvmlclient starts the helper program pitwall-nvml, which loads NVIDIA's management library, asks it for
// snapshots, hands on its events, and starts it again when it ends. It keeps the collector safe from the library: a
// driver that hangs makes devices stale and never a caller wait beyond its deadline, and a driver that lacks a function
// ends the helper only.
package nvmlclient
