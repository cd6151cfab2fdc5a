// Package nvmlreceiver reads NVIDIA GPUs: as metrics, hw.* where the semantic conventions have a name and nvidia.gpu.* where
// not, and errors as log records. It says which run and rank uses which GPU, and how long each GPU was idle.
//
// It never talks to the driver itself: internal/nvmlclient runs the helper program pitwall-nvml, because the driver's library
// can hang and can end the process it is loaded into. A collection is one question to the helper, answered by a deadline.
//
// What bites: a metrics and a logs pipeline with the same receiver share one instance, found by their configuration, so there
// is one helper process. The metrics pipeline's clock drives everything; with logs only, collections still run, because some
// events are what changed from one to the next.
package nvmlreceiver

//go:generate go tool -modfile=../../internal/tools/go.mod mdatagen metadata.yaml
