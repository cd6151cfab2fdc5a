//go:build linux && cgo

package main

import (
	"fmt"
	"os"
	"sync"
	"time"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/pitwall-otel/pitwall/internal/nvml"
	"github.com/pitwall-otel/pitwall/internal/nvml/wire"
)

// driver is the way to the driver: it starts the library, keeps a thread for each GPU, and never waits for either.
type driver struct {
	options options
	pipe    *pipe

	mu     sync.Mutex
	header wire.Header  // without ID, usage and GPUs
	gpus   map[int]*gpu // every GPU ever listed, by index; a hung one stays
	count  int          // GPUs listed now
	relist bool         // with the next request, all GPUs look whether they are the same: then one answer is of one moment
}

func newDriver(o options, p *pipe) *driver {
	d := &driver{options: o, pipe: p, gpus: map[int]*gpu{}}
	d.header.Status, d.header.StatusSince = nvml.StatusStarting, time.Now()
	go d.start() // ends with the process, as a hung one does anyway
	return d
}

// answer sends the header and asks every GPU that is not busy with an earlier request.
func (d *driver) answer(ask wire.Ask) error {
	d.mu.Lock()
	header := d.header
	var idle []*gpu
	for i := range d.count {
		g := d.gpus[i]
		if d.relist {
			g.relist.Store(true)
		}
		since := g.busy(time.Now())
		header.GPUs = append(header.GPUs, wire.GPU{Index: i, BusySince: since})
		if since.IsZero() {
			idle = append(idle, g)
		}
	}
	d.relist = false
	d.mu.Unlock()
	header.ID, header.Usage = ask.ID, usage()
	if err := d.pipe.header(&header); err != nil {
		return err
	}
	for _, g := range idle {
		g.asks <- ask
	}
	return nil
}

// start initialises the library, again and again until it works.
func (d *driver) start() {
	for {
		lib := newLibrary(d.options.library)
		ret := initialise(lib)
		status := statusOf(ret)
		if status == nvml.StatusOK {
			d.versions(lib)
			d.list(lib)
			return
		}
		d.mu.Lock()
		if d.header.Status != status {
			d.header.Status, d.header.StatusSince = status, time.Now()
		}
		d.header.StatusError = errorText(lib, ret)
		d.mu.Unlock()
		time.Sleep(d.options.initRetry) //nolint:forbidigo // nobody waits for this goroutine: it ends with the process
		if status != nvml.StatusNoLibrary {
			os.Exit(exitAgain) // the library stays loaded, maybe an old one; the header has said what is wrong
		}
	}
}

// initialise starts the library. Go-nvml takes the function's newest version, or one that every driver has.
func initialise(lib *library) gonvml.Return {
	ret := lib.Init()
	if ret == gonvml.SUCCESS && !lib.has("nvmlDeviceGetCount_v2", "nvmlDeviceGetCount") {
		return gonvml.ERROR_FUNCTION_NOT_FOUND
	}
	return ret
}

// versions asks for what stays the same while the library is loaded.
func (d *driver) versions(lib *library) {
	var h wire.Header
	if lib.has("nvmlSystemGetDriverVersion") {
		h.DriverVersion = text(lib.SystemGetDriverVersion())
	}
	if lib.has("nvmlSystemGetNVMLVersion") {
		h.NVMLVersion = text(lib.SystemGetNVMLVersion())
	}
	if lib.has("nvmlSystemGetCudaDriverVersion_v2") {
		if v, ret := lib.SystemGetCudaDriverVersion_v2(); ret == gonvml.SUCCESS {
			h.CUDAVersion = fmt.Sprintf("%d.%d", v/1000, v%1000/10)
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.header.DriverVersion, d.header.NVMLVersion, d.header.CUDAVersion = h.DriverVersion, h.NVMLVersion, h.CUDAVersion
}

// maxGPUs bounds what a broken driver may claim.
const maxGPUs = 256

// list counts the GPUs from time to time. Each finds its own handle, so that one that hangs holds nobody up.
func (d *driver) list(lib *library) {
	events := newEvents(lib, d.pipe)
	for {
		n, ret := lib.DeviceGetCount()
		switch ret {
		case gonvml.SUCCESS:
			d.listed(lib, events, min(max(n, 0), maxGPUs))
		case gonvml.ERROR_UNINITIALIZED, gonvml.ERROR_DRIVER_NOT_LOADED, gonvml.ERROR_LIB_RM_VERSION_MISMATCH:
			again("the driver was unloaded: " + errorText(lib, ret))
		default:
			fmt.Fprintln(os.Stderr, "pitwall-nvml: counting GPUs: "+errorText(lib, ret))
		}
		time.Sleep(d.options.relist) //nolint:forbidigo // nobody waits for this goroutine: it ends with the process
	}
}

func (d *driver) listed(lib *library, events *events, n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range n {
		if d.gpus[i] == nil {
			d.gpus[i] = newGPU(lib, events, d.pipe, d.options, i)
		}
	}
	d.count, d.relist = n, true
	if d.header.Status != nvml.StatusOK {
		d.header.Status, d.header.StatusSince, d.header.StatusError = nvml.StatusOK, time.Now(), ""
	}
}

// again ends this process in the way that asks the collector to start it again.
func again(why string) {
	fmt.Fprintln(os.Stderr, "pitwall-nvml: "+why)
	os.Exit(exitAgain)
}
