package fleet

import (
	"io"
	"net/http"
	"slices"
)

// Routed is what went through the router since the fleet's start: requests that were answered, and those that were lost
// with a killed engine or turned away from a full queue.
type Routed struct{ Finished, Lost int64 }

// Routed is the router's ledger.
func (r *Router) Routed() Routed {
	r.fleet.mu.Lock()
	defer r.fleet.mu.Unlock()
	return r.fleet.routed
}

// ownMetrics writes the router's own families; all requests take the route /generate.
func (r *Router) ownMetrics(w http.ResponseWriter, _ *http.Request) {
	workers := r.list()
	r.fleet.mu.Lock()
	defer r.fleet.mu.Unlock()
	routed := r.fleet.routed
	finished, lost := float64(routed.Finished), float64(routed.Lost)
	x := exposition{prefix: "smg_"}
	if r.version == RouterSGL02 {
		x.prefix = "sgl_router_"
		r.oldFamilies(&x, workers, finished, lost)
	} else {
		r.families(&x, workers, finished, lost)
	}
	w.Header().Set("Content-Type", "text/plain")
	_, _ = io.WriteString(w, x.String())
}

func (r *Router) oldFamilies(x *exposition, workers []worker, finished, lost float64) {
	route := []label{{"route", "/generate"}}
	x.values("requests_total", "counter", "Total number of requests by route and method", series{route, finished + lost})
	x.values("retries_total", "counter", "Total number of request retries by route", series{route, lost})
	x.values("request_errors_total", "counter", "Total number of request errors by route and error type",
		series{[]label{{"route", "/generate"}, {"error_type", "request_failed"}}, lost})
	x.values("active_workers", "gauge", "Number of currently active workers", series{nil, float64(len(workers))})
	var running, health []series
	for _, one := range workers {
		running = append(running, series{[]label{{"worker", one.url}}, float64(one.load)})
		health = append(health, series{[]label{{"worker", one.url}}, 1})
	}
	x.values("running_requests", "gauge", "Number of running requests per worker", running...)
	x.values("worker_health", "gauge", "Worker health status (1=healthy, 0=unhealthy)", health...)
}

func (r *Router) families(x *exposition, workers []worker, finished, lost float64) {
	request := []label{
		{"router_type", "http"},
		{"backend_type", "regular"},
		{"connection_mode", "http"},
		{"model", workers[0].model},
		{"endpoint", "generate"},
		{"streaming", "false"},
	}
	x.values("http_requests_total", "counter", "Total HTTP requests by method and path.", series{[]label{{"method", "POST"}, {"path", "/generate"}}, finished + lost})
	x.values("http_responses_total", "counter", "Total HTTP responses.",
		series{[]label{{"path", "/generate"}, {"status_code", "200"}, {"error_code", ""}}, finished},
		series{[]label{{"path", "/generate"}, {"status_code", "503"}, {"error_code", "no_available_workers"}}, lost})
	x.values("router_requests_total", "counter", "Total routed requests.", series{request, finished + lost})
	x.values("router_request_errors_total", "counter", "Total failed requests.", series{with(request[:5], label{"error_type", "backend_error"}), lost})
	x.values("worker_retries_total", "counter", "Total retries.", series{[]label{{"worker_type", "regular"}, {"endpoint", "generate"}}, lost})
	sizes, active, health, state := map[string]float64{}, []series{}, []series{}, []series{}
	for _, one := range workers {
		sizes[one.role]++
		at := []label{{"worker", one.url}}
		active = append(active, series{at, float64(one.load)})
		health = append(health, series{at, 1})
		state = append(state, series{at, 0})
	}
	for _, life := range r.fleet.lives {
		listed := slices.ContainsFunc(workers, func(one worker) bool { return one.url == "http://"+life.Address })
		if !listed { // a removed worker's gauges say -1
			health = append(health, series{[]label{{"worker", "http://" + life.Address}}, -1})
		}
	}
	var pool []series
	for _, role := range []string{"regular", "prefill", "decode"} {
		if sizes[role] > 0 {
			pool = append(pool, series{[]label{{"worker_type", role}, {"connection_mode", "http"}, {"model", workers[0].model}}, sizes[role]})
		}
	}
	x.values("worker_pool_size", "gauge", "Current number of workers.", pool...)
	x.values("worker_requests_active", "gauge", "Current active requests per worker.", active...)
	x.values("worker_health", "gauge", "Worker health status.", health...)
	x.values("worker_cb_state", "gauge", "Circuit breaker state.", state...)
	if r.fleet.took.count() > 0 {
		x.histograms("router_request_duration_seconds", "Request duration.", distribution{request[:5], r.fleet.took})
	}
}
