package nvmlreceiver

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/receiver"
	"go.uber.org/zap"

	"github.com/pitwall-otel/pitwall/internal/nvml"
	"github.com/pitwall-otel/pitwall/receiver/nvmlreceiver/internal/attribution"
	"github.com/pitwall-otel/pitwall/receiver/nvmlreceiver/internal/metadata"
	"github.com/pitwall-otel/pitwall/schema"
)

// instance reads the GPUs for all pipelines of one configuration.
type instance struct {
	cfg       *Config
	component string
	log       *zap.Logger
	schemaURL string
	driver    source
	processes *attribution.Resolver // nil without attribution
	now       func() time.Time

	// Owned by sharing.
	handles, running int
	driven           bool // by a metrics pipeline's clock
	next             consumer.Logs
	cancel           context.CancelFunc
	abandoned        chan struct{} // closed when nobody waits for the driver's end, so that its events have none
	done             sync.WaitGroup

	status  *statusReports
	records *recordQueue // nil without a logs pipeline

	// What a collection knows of those before it. mu is for the events, which arrive meanwhile.
	mu        sync.Mutex
	devices   map[nvml.Key]*device
	unplaced  []nvml.Event // of GPUs that no collection has seen
	builder   *metadata.MetricsBuilder
	budget    *budget
	cadence   cadence
	driverWas nvml.Status
	version   string // of the driver
	helper    nvml.Usage
	cost      cost
	// metricCount is of the collection before: a collection cannot count itself.
	metricCount int
	lastGood    time.Time
	complaint   map[string]bool // said once, until it is over
}

func newInstance(cfg *Config, set receiver.Settings, driver source) (*instance, error) {
	registry, err := schema.Load()
	if err != nil {
		return nil, err
	}
	i := &instance{
		cfg: cfg, component: set.ID.String(), log: set.Logger, schemaURL: registry.SchemaURL(), driver: driver, now: time.Now,
		status:  &statusReports{},
		devices: map[nvml.Key]*device{},
		// What NVML counts it counts since some time before: start times are unknown but for what is counted here.
		builder:   metadata.NewMetricsBuilder(cfg.MetricsBuilderConfig, set, metadata.WithStartTime(pcommon.Timestamp(0))),
		budget:    newBudget(cfg.Budget),
		complaint: map[string]bool{},
	}
	i.cadence.processUtilization = cfg.Metrics.NvidiaGpuProcessUtilization.Enabled
	if cfg.Attribution.Enabled {
		i.processes = attribution.New(cfg.Attribution.ProcRoot, cfg.Attribution.RunIDFrom, cfg.Attribution.MaxProcesses)
	}
	return i, nil
}

func (i *instance) start() {
	ctx, cancel := context.WithCancel(context.Background())
	i.cancel = cancel
	if i.next != nil {
		i.records = newRecordQueue(i.next, i.cfg.MaxEventsPerMinute, i.log)
		i.done.Go(func() { i.records.run(ctx) })
	}
	i.driver.Start()
	i.abandoned = make(chan struct{})
	i.done.Go(func() {
		for {
			select {
			case event, open := <-i.driver.Events():
				if !open {
					return
				}
				i.heard(event)
			case <-i.abandoned:
				return
			}
		}
	})
	if !i.driven {
		i.done.Go(func() { i.keepCollecting(ctx) })
	}
}

func (i *instance) stop(ctx context.Context) error {
	i.cancel()
	err := i.driver.Shutdown(ctx)
	if ctx.Err() != nil {
		close(i.abandoned)
	}
	i.done.Wait()
	return err
}

// keepCollecting is the clock where no metrics pipeline is one.
func (i *instance) keepCollecting(ctx context.Context) {
	ticker := time.NewTicker(i.cfg.CollectionInterval)
	defer ticker.Stop()
	for {
		_, _ = i.collect(ctx) // never fails
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// once logs a line when it is said for the first time since it was last over.
func (i *instance) once(key string, said bool, say func()) {
	if said && !i.complaint[key] {
		say()
	}
	if said {
		i.complaint[key] = true
	} else {
		delete(i.complaint, key)
	}
}
