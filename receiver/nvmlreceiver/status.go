package nvmlreceiver

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.uber.org/zap"

	"github.com/pitwall-otel/pitwall/internal/nvml"
	"github.com/pitwall-otel/pitwall/schema/names"
)

// statusReports tells the health status of the receiver to every pipeline that has it.
type statusReports struct {
	mu    sync.Mutex
	hosts []component.Host
	last  string
}

func (s *statusReports) attach(host component.Host) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hosts = append(s.hosts, host)
}

// say reports trouble, or "" for none, when it is another than before.
func (s *statusReports) say(trouble string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if trouble == s.last {
		return
	}
	s.last = trouble
	event := componentstatus.NewEvent(componentstatus.StatusOK)
	if trouble != "" {
		event = componentstatus.NewRecoverableErrorEvent(errors.New(trouble))
	}
	for _, host := range s.hosts {
		componentstatus.ReportStatus(host, event)
	}
}

// driverStatus notes what the way to the driver is like, and says so when it changed.
func (i *instance) driverStatus(now time.Time, s nvml.Snapshot) {
	was := i.driverWas
	if s.Status == nvml.StatusOK {
		if was != nvml.StatusOK {
			i.version = s.DriverVersion
			i.log.Info("the NVIDIA driver answers", zap.String("driver", s.DriverVersion), zap.String("cuda", s.CUDAVersion),
				zap.Int("devices", len(s.Devices)))
			i.report(report{
				event: names.EventNvidiaDriverAvailable, at: now, severity: plog.SeverityNumberInfo,
				body: "the NVIDIA driver answers",
				fill: func(m pcommon.Map) {
					put(m, names.AttributeHWDriverVersion, s.DriverVersion)
					put(m, names.AttributeNvidiaGPUCudaVersion, s.CUDAVersion)
				},
			})
		}
		i.driverWas = s.Status
		i.status.say(i.devicesTrouble(s.Devices))
		return
	}
	if s.Status == was || s.Status == nvml.StatusStarting {
		return
	}
	i.driverWas = s.Status
	if i.expectsNoGPU(s.Status) {
		i.log.Info("no GPU metrics: this machine has no NVIDIA driver; looking again from time to time", zap.String("status", string(s.Status)))
		i.status.say("")
		return
	}
	text := fmt.Sprintf("no GPU metrics: %s: %s", explain(s.Status), s.StatusError)
	i.log.Warn(text, zap.String("status", string(s.Status)))
	i.status.say(text)
	i.report(report{
		event: names.EventNvidiaDriverUnavailable, at: now, severity: plog.SeverityNumberError, body: text,
		fill: func(m pcommon.Map) {
			m.PutStr(names.AttributeErrorType, string(s.Status))
			put(m, names.AttributeErrorMessage, s.StatusError)
		},
	})
}

// expectsNoGPU is true on a machine that never had a working driver and whose kernel has none loaded: then there is nothing
// to complain of, so that one configuration fits all machines.
func (i *instance) expectsNoGPU(status nvml.Status) bool {
	if !i.lastGood.IsZero() || status == nvml.StatusInitHung || status == nvml.StatusVersionMismatch {
		return false
	}
	_, err := os.Stat(filepath.Join(i.cfg.Attribution.ProcRoot, "driver", "nvidia", "version"))
	return err != nil
}

func explain(status nvml.Status) string {
	switch status {
	case nvml.StatusNoLibrary:
		return "the driver's library, libnvidia-ml.so.1, is not there (library_path)"
	case nvml.StatusNoDriver:
		return "the NVIDIA kernel module is not loaded"
	case nvml.StatusVersionMismatch:
		return "the driver was updated and its old kernel module is still loaded: reboot"
	case nvml.StatusNoPermission:
		return "the device files /dev/nvidia* may not be opened"
	case nvml.StatusInitHung:
		return "the driver does not answer"
	case nvml.StatusNoCgo:
		return "the program pitwall-nvml was built without cgo"
	case nvml.StatusNoHelper:
		return "the program pitwall-nvml cannot be started (helper_path)"
	default:
		return "the driver could not be initialised"
	}
}

// devicesTrouble is what to say of GPUs that do not answer, "" when all do.
func (i *instance) devicesTrouble(devices []nvml.Device) (trouble string) {
	for n := range devices {
		d := &devices[n]
		if d.State == nvml.DeviceOK || d.Key.MIG >= 0 || d.Key.VGPU != 0 {
			i.once("state/"+placeOf(d), false, nil)
			continue
		}
		text := fmt.Sprintf("GPU %d is %s: %s", d.Key.Index, d.State, d.Error)
		i.once("state/"+placeOf(d), true, func() {
			i.log.Warn(text+"; other GPUs are read on", zap.String("uuid", d.UUID))
		})
		if trouble != "" {
			trouble += "; "
		}
		trouble += text
	}
	return trouble
}
