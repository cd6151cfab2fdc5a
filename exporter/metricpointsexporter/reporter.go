package metricpointsexporter

import (
	"sync"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.uber.org/zap"
)

// reportInterval is how often a lasting problem is logged.
const reportInterval = time.Minute

// reporter tells people how the table does: the component's status at every change, the log once a minute at most.
type reporter struct {
	host   component.Host
	logger *zap.Logger

	mu      sync.Mutex
	failing bool
	logged  map[string]time.Time // by class: a connection that broke must not hide the expired certificate behind it
	warned  bool
}

func newReporter(host component.Host, logger *zap.Logger) *reporter {
	return &reporter{host: host, logger: logger, logged: map[string]time.Time{}}
}

// failed reports that points wait, and why: once a minute for each class of reason.
func (r *reporter) failed(err error, class string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.failing {
		r.failing = true
		componentstatus.ReportStatus(r.host, componentstatus.NewRecoverableErrorEvent(err))
	}
	if now := time.Now(); now.Sub(r.logged[class]) >= reportInterval {
		r.logged[class] = now
		r.logger.Warn("the table takes no points; they wait in the log", zap.Error(err), zap.String("class", class))
	}
}

// rejected reports a block that the server will never take.
func (r *reporter) rejected(err error, rows int, kept string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	const rejected = "rejected"
	if now := time.Now(); now.Sub(r.logged[rejected]) >= reportInterval {
		r.logged[rejected] = now
		r.logger.Error("the server rejected points for good", zap.Error(err), zap.Int("points", rows), zap.String("kept_in", kept))
	}
}

// working reports that the table takes points.
func (r *reporter) working() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failing {
		r.logger.Info("the table takes points again")
		r.failing = false
		clear(r.logged)
		componentstatus.ReportStatus(r.host, componentstatus.NewEvent(componentstatus.StatusOK))
	}
}

// warn says once what works on the table, but not as promised.
func (r *reporter) warn(warnings []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.warned {
		return
	}
	r.warned = true
	for _, warning := range warnings {
		r.logger.Warn(warning)
	}
}
