package nvmlreceiver

import (
	"github.com/pitwall-otel/pitwall/internal/nvml"
	"github.com/pitwall-otel/pitwall/receiver/nvmlreceiver/internal/xid"
)

// health is what is wrong with a GPU, from the last time that it was asked.
type health struct {
	rowsFailed, replacementPending bool
	action                         string
	// fatal is the last Xid of which the GPU does not recover by itself; 0 for none. It is over when a driver that knows
	// recovery actions asks for none, or when the GPU was gone and is back.
	fatal uint64
}

func (h *health) see(f *found) {
	if v, ok := f.value(nvml.RecoveryAction, 0); ok {
		if h.action = nvml.RecoveryActionName(v); h.action == "none" {
			h.fatal = 0
		}
	}
	if f.has(nvml.RemappedRowsFailed) {
		h.rowsFailed = f.isSet(nvml.RemappedRowsFailed)
		h.replacementPending = f.isSet(nvml.RemappedRowsPending)
	}
	if f.has(nvml.RetiredPagesPending) {
		h.replacementPending = f.isSet(nvml.RetiredPagesPending)
	}
}

func (h *health) hear(number uint64, meaning xid.Meaning) {
	if meaning.Severity == xid.Fatal {
		h.fatal = number
	}
}

// states are the values of hw.state that a GPU can have.
func states() []string { return []string{"ok", "degraded", "predicted_failure", "failed"} }

// of returns hw.state.
func (h *health) of(state nvml.State) string {
	switch {
	case state == nvml.DeviceLost, h.rowsFailed, h.fatal != 0,
		h.action == "gpu_reset", h.action == "node_reboot", h.action == "drain_and_reset":
		return "failed"
	case state == nvml.DeviceStale, state == nvml.DeviceError, h.action == "drain_p2p", h.action == "recover_imex_domain":
		return "degraded"
	case h.replacementPending:
		return "predicted_failure"
	default:
		return "ok"
	}
}
