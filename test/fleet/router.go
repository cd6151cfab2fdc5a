package fleet

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// RouterVersion names a router by how it merges the workers' expositions.
type RouterVersion string

const (
	// RouterSGL02 is sgl-router up to 0.2: /list_workers, families sgl_router_*; workers whose label names differ in one
	// family make its /engine_metrics answer 500.
	RouterSGL02 RouterVersion = "sgl-router-0.2"
	// RouterSlime is the fork that slime's image has (0.3.2): /workers, smg_*; mixed label names stand side by side.
	RouterSlime RouterVersion = "slime-0.3.2"
	// RouterSMG is smg: /workers, smg_*; missing labels are padded with the empty string.
	RouterSMG RouterVersion = "smg"
)

// Router stands before all engines of the fleet that are not listed as removed.
type Router struct {
	fleet   *Fleet
	version RouterVersion
	client  *http.Client

	server, own             *http.Server
	address, metricsAddress string
}

func startRouter(f *Fleet) (*Router, error) {
	switch f.options.Router {
	case RouterSGL02, RouterSlime, RouterSMG:
	default:
		return nil, fmt.Errorf("router version %q is not known", f.options.Router)
	}
	r := &Router{fleet: f, version: f.options.Router, client: &http.Client{
		Timeout: f.options.RouterTimeout, Transport: &http.Transport{DisableKeepAlives: true},
	}}
	main, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the router: %w", err)
	}
	own, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		_ = main.Close()
		return nil, fmt.Errorf("listen for the router's metrics: %w", err)
	}
	r.address, r.metricsAddress = main.Addr().String(), own.Addr().String()

	mux, ownMux := http.NewServeMux(), http.NewServeMux()
	mux.HandleFunc("GET /engine_metrics", r.engineMetrics)
	mux.HandleFunc("GET /health", func(http.ResponseWriter, *http.Request) {})
	if r.version == RouterSGL02 {
		mux.HandleFunc("GET /list_workers", r.listWorkers)
	} else {
		mux.HandleFunc("GET /workers", r.workers)
	}
	ownMux.HandleFunc("GET /metrics", r.ownMetrics)
	r.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	r.own = &http.Server{Handler: ownMux, ReadHeaderTimeout: 10 * time.Second}
	f.serve(r.server, main)
	f.serve(r.own, own)
	return r, nil
}

// URL is the main address: /engine_metrics and the list of workers.
func (r *Router) URL() string { return "http://" + r.address }

// MetricsURL is the address of the router's own /metrics.
func (r *Router) MetricsURL() string { return "http://" + r.metricsAddress }

func (r *Router) close() {
	_ = r.server.Close()
	_ = r.own.Close()
}

// worker is one engine as the router knows it; a killed one stays, as where health checks are off.
type worker struct {
	url, model, role string
	alive            bool
	load             int
	totals           Totals
}

func (r *Router) list() []worker {
	r.fleet.mu.Lock()
	defer r.fleet.mu.Unlock()
	var all []worker
	for _, e := range r.fleet.engines {
		w := worker{url: "http://" + e.address, model: e.spec.Model, role: "regular", alive: e.server != nil}
		if e.spec.Role != Unified {
			w.role = string(e.spec.Role)
		}
		for _, t := range e.byRank() {
			w.totals.add(t)
		}
		w.load = w.totals.Running + w.totals.Waiting
		all = append(all, w)
	}
	return all
}

func (r *Router) listWorkers(w http.ResponseWriter, _ *http.Request) {
	var urls []string
	for _, one := range r.list() {
		urls = append(urls, one.url)
	}
	writeJSON(w, map[string]any{"urls": urls})
}

func (r *Router) workers(w http.ResponseWriter, _ *http.Request) {
	var list []map[string]any
	stats := map[string]int{"prefill_count": 0, "decode_count": 0, "regular_count": 0}
	for i, one := range r.list() {
		stats[one.role+"_count"]++
		list = append(list, map[string]any{
			"id": fmt.Sprintf("00000000-0000-4000-8000-%012d", i), "url": one.url, "model_id": one.model,
			"priority": 50, "cost": 1.0, "worker_type": one.role, "is_healthy": true, "load": one.load, "connection_mode": "http",
		})
	}
	writeJSON(w, map[string]any{"workers": list, "total": len(list), "stats": stats})
}

// engineMetrics asks every worker and merges the answers; whoever does not answer in time is left out without a word.
func (r *Router) engineMetrics(w http.ResponseWriter, request *http.Request) {
	workers := r.list()
	texts := make([]string, len(workers))
	done := make(chan struct{})
	for i, one := range workers {
		go func() {
			texts[i] = r.ask(request.Context(), one.url)
			done <- struct{}{}
		}()
	}
	for range workers {
		<-done
	}
	var m merger
	for i, text := range texts {
		if text != "" {
			m.add(text, workers[i].url)
		}
	}
	body, err := m.merged(r.version)
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		body = err.Error()
	}
	_, _ = io.WriteString(w, body)
}

// ask returns a worker's exposition, empty when there is none.
func (r *Router) ask(ctx context.Context, url string) string {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/metrics", nil)
	if err != nil {
		return ""
	}
	response, err := r.client.Do(request)
	if err != nil {
		return ""
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		return ""
	}
	return string(body)
}
