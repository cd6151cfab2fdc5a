package enginereceiver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/receiverhelper"
	"go.uber.org/zap"

	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/exposition"
	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/mapping"
	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/metadata"
	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/scrape"
	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/targets"
	"github.com/pitwall-otel/pitwall/schema"
)

type engineReceiver struct {
	cfg    *Config
	set    receiver.Settings
	next   consumer.Metrics
	obs    *receiverhelper.ObsReport
	counts *counts
	// host is host.name of engines on this machine.
	host     string
	registry *schema.Registry
	mapper   *mapping.Mapper
	limits   exposition.Limits

	// Made by Start.
	client    *http.Client
	scraper   *scrape.Client
	places    chan struct{} // one token for each scrape that runs
	discovery *discovery
	listener  net.Listener // of the registration
	server    *http.Server
	cancel    context.CancelFunc
	wg        sync.WaitGroup
}

func newReceiver(set receiver.Settings, cfg *Config, next consumer.Metrics) (*engineReceiver, error) {
	obs, err := receiverhelper.NewObsReport(receiverhelper.ObsReportSettings{ReceiverID: set.ID, Transport: "http", ReceiverCreateSettings: set})
	if err != nil {
		return nil, err
	}
	counts, err := newCounts(set)
	if err != nil {
		return nil, err
	}
	r := &engineReceiver{cfg: cfg, set: set, next: next, obs: obs, counts: counts, limits: cfg.Limits.read(), host: cfg.HostName}
	if r.host == "" {
		if r.host, err = os.Hostname(); err != nil {
			return nil, fmt.Errorf("'host_name' is empty and the kernel has no name: %w", err)
		}
	}
	if r.registry, err = schema.Load(); err != nil {
		return nil, err
	}
	options := mapping.DefaultOptions()
	options.ScopeName, options.ScopeVersion = metadata.ScopeName, set.BuildInfo.Version
	options.Operation, options.Host = cfg.OperationName, r.host
	options.Allow, options.Deny, options.KeepOriginal = cfg.Families.Include, cfg.Families.Exclude, cfg.Families.KeepOriginal
	options.MaxSeries, options.MaxUnknown, options.MaxWorkers = cfg.Limits.MaxSeries, cfg.Limits.MaxUnknown, cfg.Limits.MaxWorkers
	if r.mapper, err = mapping.New(options); err != nil {
		return nil, err
	}
	return r, nil
}

// Start begins to find targets and to scrape them; targets that do not answer are no reason to fail.
func (r *engineReceiver) Start(ctx context.Context, host component.Host) error {
	var err error
	if r.client, err = r.cfg.ToClient(ctx, host.GetExtensions(), r.set.TelemetrySettings); err != nil {
		return err
	}
	// A router's list is where it is; elsewhere the headers of the configuration have no business.
	r.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	r.scraper = scrape.NewClient(r.client, scrape.Options{
		Timeout: r.cfg.ClientConfig.Timeout, MaxBytes: r.cfg.MaxBodySize,
		Confidential: len(r.cfg.Headers) > 0 || r.cfg.Auth.HasValue(),
	})
	if r.discovery, err = newDiscovery(&r.cfg.Targets, r.client); err != nil {
		return err
	}
	r.places = make(chan struct{}, r.cfg.MaxConcurrentScrapes)
	ctx, r.cancel = context.WithCancel(context.WithoutCancel(ctx))
	if err := r.serve(ctx, host); err != nil {
		return err
	}
	for i := range r.discovery.sources {
		r.wg.Go(func() { r.discovery.follow(ctx, i, r.counts.discoveryFailed) })
	}
	r.wg.Go(func() { r.manage(ctx) })
	return nil
}

// Shutdown ends scrapes that run and waits for their targets' loops.
func (r *engineReceiver) Shutdown(ctx context.Context) error {
	if r.cancel == nil {
		r.counts.shutdown()
		return nil
	}
	var err error
	if r.server != nil {
		// Requests take no time; one that does must not hold up the collector.
		if err = r.server.Shutdown(ctx); err != nil {
			err = errors.Join(err, r.server.Close())
		}
	}
	r.cancel()
	r.wg.Wait()
	r.counts.shutdown()
	return err
}

// serve starts the registration of targets, where it is configured.
func (r *engineReceiver) serve(ctx context.Context, host component.Host) error {
	cfg := r.cfg.Targets.Registration.Get()
	if cfg == nil {
		return nil
	}
	var err error
	if r.listener, err = cfg.ToListener(ctx); err != nil {
		return fmt.Errorf("'targets::registration::endpoint': %w", err)
	}
	r.server, err = cfg.ToServer(ctx, host.GetExtensions(), r.set.TelemetrySettings, targets.Handler(r.discovery.leases))
	if err != nil {
		return errors.Join(err, r.listener.Close())
	}
	r.set.Logger.Info("Targets can be registered", zap.String("address", r.listener.Addr().String()), zap.String("path", targets.Path))
	r.wg.Go(func() {
		if err := r.server.Serve(r.listener); !errors.Is(err, http.ErrServerClosed) {
			componentstatus.ReportStatus(host, componentstatus.NewFatalErrorEvent(err))
		}
	})
	return nil
}

// manage starts and ends the loops of targets as they come and go.
func (r *engineReceiver) manage(ctx context.Context) {
	defer r.client.CloseIdleConnections()
	loops := map[string]*loop{}
	defer func() {
		for _, l := range loops {
			<-l.done
		}
	}()
	timer := time.NewTimer(r.cfg.InitialDelay)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return
	case <-timer.C:
	}
	for {
		all, leftOut, next := r.discovery.targets()
		r.counts.targets(ctx, all, leftOut)
		r.reconcile(ctx, loops, all)
		var expired <-chan time.Time
		if !next.IsZero() {
			timer.Reset(time.Until(next))
			expired = timer.C
		}
		select {
		case <-ctx.Done():
			return
		case <-r.discovery.changed:
		case <-expired:
		}
	}
}

func (r *engineReceiver) reconcile(ctx context.Context, loops map[string]*loop, all []targets.Target) {
	wanted := make(map[string]bool, len(all))
	for _, t := range all {
		wanted[t.Name] = true
		before := loops[t.Name]
		if before != nil {
			if before.target.Equal(&t) {
				continue
			}
			before.cancel()
		}
		loops[t.Name] = r.start(ctx, t, before)
	}
	for name, l := range loops {
		if !wanted[name] {
			l.cancel()
			delete(loops, name)
		}
	}
}
