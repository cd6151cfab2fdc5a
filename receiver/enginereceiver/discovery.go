package enginereceiver

import (
	"cmp"
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/targets"
)

// source is one place that names targets and is asked again and again.
type source struct {
	kind     string
	interval time.Duration
	find     func(context.Context) ([]targets.Target, error)
}

// discovery keeps what all sources say at the moment.
type discovery struct {
	limit   int
	leases  *targets.Leases // nil without registration
	static  []targets.Target
	sources []source

	mu    sync.Mutex
	found [][]targets.Target // by source
	// changed has a token when Targets may have another answer.
	changed chan struct{}
}

func newDiscovery(cfg *TargetsConfig, client *http.Client) (*discovery, error) {
	d := &discovery{limit: cfg.Max, changed: make(chan struct{}, 1)}
	if r := cfg.Registration.Get(); r != nil {
		d.leases = targets.NewLeases(r.Max, r.DefaultTTL, r.MaxTTL, d.tell)
	}
	for i := range cfg.Static {
		t, err := cfg.Static[i].Target("static")
		if err != nil {
			return nil, err
		}
		d.static = append(d.static, t)
	}
	if len(cfg.Files.Paths) > 0 {
		files, err := targets.NewFiles(cfg.Files.Paths)
		if err != nil {
			return nil, err
		}
		d.sources = append(d.sources, source{kind: "file", interval: cmp.Or(cfg.Files.RefreshInterval, defaultFileRefresh), find: files.Find})
	}
	for i := range cfg.DNS {
		c := &cfg.DNS[i]
		interval := cmp.Or(c.RefreshInterval, defaultRefresh)
		dns := &targets.DNS{Name: c.Name, Type: c.Type, Port: c.Port, Spec: c.spec(), Timeout: interval}
		d.sources = append(d.sources, source{kind: "dns", interval: interval, find: dns.Find})
	}
	for i := range cfg.Routers {
		c := &cfg.Routers[i]
		router, err := targets.NewRouter(client, c.Endpoint, string(c.APIKey), c.spec())
		if err != nil {
			return nil, err
		}
		d.sources = append(d.sources, source{kind: "router", interval: cmp.Or(c.RefreshInterval, defaultRefresh), find: router.Find})
	}
	d.found = make([][]targets.Target, len(d.sources))
	return d, nil
}

// targets returns what is to be scraped now, how many are left out because of the limit, and when the answer changes
// by itself; zero for never. What is registered or configured comes before what is found.
func (d *discovery) targets() (all []targets.Target, leftOut int, next time.Time) {
	var registered []targets.Target
	if d.leases != nil {
		registered, next = d.leases.Targets()
	}
	lists := [][]targets.Target{registered, d.static}
	d.mu.Lock()
	lists = append(lists, d.found...)
	d.mu.Unlock()
	all, leftOut = targets.Merge(d.limit, lists...)
	return all, leftOut, next
}

// follow asks source i until the context ends.
func (d *discovery) follow(ctx context.Context, i int, failed func(kind string, err error)) {
	s := d.sources[i]
	ticker := time.NewTicker(s.interval)
	defer ticker.Stop()
	for {
		found, err := s.find(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			failed(s.kind, err)
		}
		d.mu.Lock()
		d.found[i] = found
		d.mu.Unlock()
		d.tell()
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func (d *discovery) tell() {
	select {
	case d.changed <- struct{}{}:
	default:
	}
}
