package quarantineconnector

import (
	"fmt"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/pitwall-otel/pitwall/schema/names"
)

// base is what the three signals' connectors share: nothing to start or stop, and data they change, because what was
// quarantined is taken out of it.
type base struct {
	component.StartFunc
	component.ShutdownFunc
}

func (base) Capabilities() consumer.Capabilities { return consumer.Capabilities{MutatesData: true} }

// quarantineFirst answers for both sides. A quarantine that may recover refuses the whole request before the main side
// has seen it, so the sender's retry does not double good data. One that never will must not cost the good data: they
// are delivered, and the sender learns that not all was taken.
func quarantineFirst(quarantine, main func() error) error {
	held := quarantine()
	if held != nil {
		held = fmt.Errorf("quarantined data: %w", held)
		if !consumererror.IsPermanent(held) {
			return held
		}
	}
	if err := main(); err != nil {
		return err
	}
	return held
}

// resource is a pmetric.ResourceMetrics, ptrace.ResourceSpans or plog.ResourceLogs.
type resource[R any] interface {
	Resource() pcommon.Resource
	CopyTo(R)
}

// slice is the list of them in a request.
type slice[R any] interface {
	Len() int
	At(int) R
	AppendEmpty() R
	RemoveIf(func(R) bool)
}

func isQuarantined[R resource[R]](r R) bool {
	_, marked := r.Resource().Attributes().Get(names.AttributePitwallQuarantineReason)
	return marked
}

func countQuarantined[S slice[R], R resource[R]](all S) int {
	n := 0
	for i := range all.Len() {
		if isQuarantined(all.At(i)) {
			n++
		}
	}
	return n
}

// copyQuarantined copies and does not move: the request must be whole if the quarantine refuses.
func copyQuarantined[S slice[R], R resource[R]](from, to S) {
	for i := range from.Len() {
		if r := from.At(i); isQuarantined(r) {
			r.CopyTo(to.AppendEmpty())
		}
	}
}
