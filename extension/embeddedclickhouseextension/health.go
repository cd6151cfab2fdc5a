package embeddedclickhouseextension

import (
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
)

// health reports the engine's state as the component's status. The collector reports StatusOK by itself when Start
// returned and nothing was reported before, so a start that goes on without the engine has to say so first.
type health struct {
	mu       sync.Mutex
	host     component.Host
	reported bool
}

func (h *health) ok() {
	h.report(componentstatus.NewEvent(componentstatus.StatusOK))
}

func (h *health) failing(err error) {
	h.report(componentstatus.NewRecoverableErrorEvent(err))
}

func (h *health) failed(err error) {
	h.report(componentstatus.NewPermanentErrorEvent(err))
}

// failingUnlessReported reports err if nothing was reported yet: what the helper said itself tells more.
func (h *health) failingUnlessReported(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.reported {
		h.send(componentstatus.NewRecoverableErrorEvent(err))
	}
}

func (h *health) report(event *componentstatus.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.send(event)
}

func (h *health) send(event *componentstatus.Event) {
	h.reported = true
	componentstatus.ReportStatus(h.host, event)
}
