// Command serve runs a fake inference engine of every version and role live, registers them with an engine receiver, and
// says on standard output what it registered, a JSON line for each. It ends on SIGINT or SIGTERM. It is for tests outside
// this module, which cannot import the fleet.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/pitwall-otel/pitwall/test/fleet"
)

// registered is a line of the output. Run is the name of the version: what rl.run.id is of the engine.
type registered struct {
	Run      string `json:"run"`
	Engine   string `json:"engine"`
	Role     string `json:"role"`
	Endpoint string `json:"endpoint"`
}

func main() {
	var registration string
	var rate, speed float64
	flag.StringVar(&registration, "registration", "http://127.0.0.1:13135", "where the engines are registered for scraping")
	flag.Float64Var(&rate, "rate", 2, "requests per second of virtual time that arrive at each engine")
	flag.Float64Var(&speed, "speed", 1, "how many times as fast as the clock virtual time is")
	flag.Parse()
	if err := serve(os.Stdout, registration, rate, speed); err != nil {
		fmt.Fprintln(os.Stderr, "serve:", err)
		os.Exit(1)
	}
}

func serve(out io.Writer, registration string, rate, speed float64) error {
	engines := fleet.EveryVersion(rate)
	for i := range engines {
		if engine := &engines[i]; engine.Role == "" {
			engine.Load.RequestsPerSecond *= float64(max(1, engine.DataRanks))
			engine.Capacity.KVTokens = 3000 // so little that requests are preempted
		}
	}
	// EveryVersion has no pair of this one; here every version that can hand requests over shows that it does.
	engines = append(
		engines,
		fleet.Spec{
			Name: "sglang-0.5.15-prefill", Version: fleet.SGLang0515, Role: fleet.Prefill, Peer: "sglang-0.5.15-decode",
			Load: fleet.Load{RequestsPerSecond: rate},
		},
		fleet.Spec{Name: "sglang-0.5.15-decode", Version: fleet.SGLang0515, Role: fleet.Decode},
	)
	f, err := fleet.Start(fleet.Options{Seed: 1, Engines: engines})
	if err != nil {
		return fmt.Errorf("start the fleet: %w", err)
	}
	defer f.Close()
	var working sync.WaitGroup
	defer working.Wait()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	working.Go(func() { f.Drive(ctx, speed) })
	working.Go(func() { updateWeights(ctx, f) })
	for _, engine := range f.Engines() {
		line, err := register(ctx, registration, engine)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(out, "%s\n", line); err != nil {
			return fmt.Errorf("write what was registered: %w", err)
		}
	}
	<-ctx.Done()
	return nil
}

// updateWeights pauses all engines for half a second now and then, as a trainer does when a step ends.
func updateWeights(ctx context.Context, f *fleet.Fleet) {
	ticker := time.NewTicker(500 * time.Millisecond)
	defer ticker.Stop()
	for tick := 0; ; tick++ {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		for _, engine := range f.Engines() {
			switch tick % 10 {
			case 4:
				engine.Pause()
			case 5:
				engine.Continue()
			}
		}
	}
}

// register returns the line that says what was registered.
func register(ctx context.Context, registration string, engine *fleet.Engine) ([]byte, error) {
	spec := engine.Spec()
	line, err := json.Marshal(registered{string(spec.Version), spec.Name, string(spec.Role), engine.URL()})
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", spec.Name, err)
	}
	labels := map[string]string{"run": string(spec.Version)}
	if spec.Role != fleet.Unified {
		labels["role"] = string(spec.Role)
	}
	body, err := json.Marshal(map[string]any{"endpoint": engine.URL(), "labels": labels, "ttl": "1h"})
	if err != nil {
		return nil, fmt.Errorf("encode the registration of %s: %w", spec.Name, err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, registration+"/v1/targets", bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("request to %s: %w", registration, err)
	}
	request.Header.Set("Content-Type", "application/json")
	client := &http.Client{Timeout: 10 * time.Second}
	response, err := client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("register %s at %s: %w", spec.Name, registration, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("register %s at %s: %s", spec.Name, registration, response.Status)
	}
	return line, nil
}
