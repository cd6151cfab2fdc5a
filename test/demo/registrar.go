package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/pitwall-otel/pitwall/test/demo/simulation"
	"github.com/pitwall-otel/pitwall/test/fleet"
)

// registrar tells the engine receiver where live engines are, again before it forgets them.
type registrar struct {
	url  string
	spec simulation.Spec
	http *http.Client
	done map[string]time.Time // by address
	said bool
}

const timeToLive = 60 * time.Second

func newRegistrar(url string, spec simulation.Spec) *registrar {
	return &registrar{url: url, spec: spec, http: &http.Client{Timeout: 2 * time.Second}, done: map[string]time.Time{}}
}

func (r *registrar) close() { r.http.CloseIdleConnections() }

// renew registers engines that are new or have not been for a while. Without the receiver the demo goes on, and says so.
func (r *registrar) renew(ctx context.Context, f *fleet.Fleet) {
	for replica, engine := range f.Engines() {
		if time.Since(r.done[engine.URL()]) < timeToLive/3 {
			continue
		}
		r.done[engine.URL()] = time.Now()
		if err := r.post(ctx, engine, replica); err != nil && ctx.Err() == nil && !r.said {
			r.said = true
			fmt.Fprintf(os.Stderr, "demo: engines of %s are not scraped: %v\n", r.spec.ID, err)
		}
	}
}

func (r *registrar) post(ctx context.Context, engine *fleet.Engine, replica int) error {
	labels := map[string]string{"run": r.spec.ID, "replica": strconv.Itoa(replica), "host": r.spec.EngineHost}
	if engine.Spec().Role != fleet.Unified {
		labels["role"] = string(engine.Spec().Role)
	}
	body, err := json.Marshal(map[string]any{"endpoint": engine.URL(), "labels": labels, "ttl": timeToLive.String()})
	if err != nil {
		return fmt.Errorf("encode the registration: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url+"/v1/targets", bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("request to %s: %w", r.url, err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := r.http.Do(request)
	if err != nil {
		return fmt.Errorf("register at %s: %w", r.url, err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("register at %s: %s", r.url, response.Status)
	}
	return nil
}
