package targets

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	maxWorkerList = 4 << 20
	// KeepWorkers is how long the workers of a router that does not answer are still scraped: its restart is shorter, and
	// after the end of a run nobody should ask its addresses for ever.
	KeepWorkers = 10 * time.Minute
)

// Router asks a router for its workers.
type Router struct {
	// Client has a deadline of its own.
	Client *http.Client
	// Base is the router's main address, scheme://host:port; it may hold credentials.
	Base *url.URL
	// Key is sent as bearer token when it is not empty. Only the router gets it.
	Key string
	// Spec has the kind, path and labels of the workers.
	Spec Spec
	// Now is time.Now.
	Now func() time.Time

	last   []Target
	lastAt time.Time
	old    bool // the list is /list_workers, as it was the last time
}

// NewRouter returns a Router for an endpoint as Spec has it.
func NewRouter(client *http.Client, endpoint, key string, spec Spec) (*Router, error) {
	base, err := parseEndpoint(endpoint)
	if err != nil {
		return nil, err
	}
	base.Path, base.RawPath, base.RawQuery = strings.TrimSuffix(base.Path, "/"), "", ""
	return &Router{Client: client, Base: base, Key: key, Spec: spec, Now: time.Now}, nil
}

// Find returns a target for each worker. A router that does not answer keeps its last list for KeepWorkers. Not for
// concurrent use.
func (r *Router) Find(ctx context.Context) ([]Target, error) {
	workers, err := r.workers(ctx)
	if err != nil {
		if r.Now().Sub(r.lastAt) > KeepWorkers {
			r.last = nil
		}
		return r.last, fmt.Errorf("workers of router %s: %w", r.Base.Host, err)
	}
	found := make([]Target, 0, len(workers))
	var errs []error
	seen := map[string]bool{}
	for _, w := range workers {
		spec := r.Spec
		spec.Endpoint, err = w.endpoint()
		if err == nil && (w.Type == "prefill" || w.Type == "decode") && spec.Labels["role"] == "" {
			spec.Labels = withRole(spec.Labels, w.Type)
		}
		var t Target
		if err == nil {
			t, err = spec.Target("router")
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("worker %q of router %s: %w", w.shown(), r.Base.Host, err))
			continue
		}
		// A worker with several data parallel ranks stands there once for each.
		if !seen[t.Name] {
			seen[t.Name] = true
			found = append(found, t)
		}
	}
	slices.SortFunc(found, func(a, b Target) int { return cmp.Compare(a.Name, b.Name) })
	r.last, r.lastAt = found, r.Now()
	return found, errors.Join(errs...)
}

func withRole(labels map[string]string, role string) map[string]string {
	all := map[string]string{"role": role}
	maps.Copy(all, labels)
	return all
}

// workers asks for /workers (sgl-router since 0.2.2, sgl-model-gateway, smg) and for /list_workers (before it, and the
// routers of slime and miles written in Python), the one that answered the last time first.
func (r *Router) workers(ctx context.Context) ([]worker, error) {
	paths := [2]string{"/workers", "/list_workers"}
	if r.old {
		slices.Reverse(paths[:])
	}
	var errs []error
	for i, path := range paths {
		workers, err := r.ask(ctx, path)
		if err == nil {
			r.old = r.old != (i == 1)
			return workers, nil
		}
		errs = append(errs, fmt.Errorf("GET %s: %w", path, err))
		if errors.Is(err, errNoAnswer) {
			break
		}
	}
	return nil, errors.Join(errs...)
}

// errNoAnswer means that another path would not help.
var errNoAnswer = errors.New("no answer")

func (r *Router) ask(ctx context.Context, path string) ([]worker, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.Base.JoinPath(path).String(), http.NoBody)
	if err != nil {
		return nil, errNoAnswer
	}
	request.Header.Set("Accept", "application/json")
	if r.Key != "" {
		request.Header.Set("Authorization", "Bearer "+r.Key)
	}
	response, err := r.Client.Do(request)
	if err != nil {
		// url.Error repeats the URL, whose query and user are nobody's business.
		if failed, ok := errors.AsType[*url.Error](err); ok {
			err = failed.Err
		}
		return nil, fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %d", response.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxWorkerList+1))
	if err != nil {
		return nil, err
	}
	if len(body) > maxWorkerList {
		return nil, fmt.Errorf("the list has more than %d bytes", maxWorkerList)
	}
	return parseWorkers(body)
}

// worker is what the lists say of an engine, as far as it matters here.
type worker struct {
	// URL may end with @ and a data parallel rank.
	URL string `json:"url"`
	// Type is regular, prefill or decode.
	Type string `json:"worker_type"`
	// Mode is http or grpc.
	Mode string `json:"connection_mode"`
}

// UnmarshalJSON takes a bare URL too.
func (w *worker) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		return json.Unmarshal(text, &w.URL)
	}
	type plain worker
	err := json.Unmarshal(text, (*plain)(w))
	if _, wrong := errors.AsType[*json.UnmarshalTypeError](err); wrong {
		return nil // the other members are read; a worker without an address must not hide the others
	}
	return err
}

// address is the URL without a data parallel rank.
func (w *worker) address() string {
	if at := strings.LastIndexByte(w.URL, '@'); at >= 0 {
		if _, err := strconv.ParseUint(w.URL[at+1:], 10, 16); err == nil {
			return w.URL[:at]
		}
	}
	return w.URL
}

// shown is the address without what may be a password, for messages.
func (w *worker) shown() string {
	text, _, _ := strings.Cut(w.address(), "?")
	if at := strings.LastIndexByte(text, '@'); at >= 0 {
		text = text[at+1:]
	}
	return shorten(text)
}

// parseWorkers reads {"workers": [{"url": …} …]} and {"urls": [… ]}.
func parseWorkers(body []byte) ([]worker, error) {
	var answer struct {
		Workers *[]worker `json:"workers"`
		URLs    *[]worker `json:"urls"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, fmt.Errorf("not a list of workers: %w", err)
	}
	list := answer.Workers
	if list == nil {
		list = answer.URLs
	}
	if list == nil {
		return nil, errors.New(`the answer has neither "workers" nor "urls"`)
	}
	if len(*list) > maxEntries {
		return nil, fmt.Errorf("more than %d workers", maxEntries)
	}
	return *list, nil
}

// endpoint is where the worker's metrics are. An engine that speaks gRPC serves them over HTTP on the next port.
func (w *worker) endpoint() (string, error) {
	address := w.address()
	rest, isGRPC := strings.CutPrefix(address, "grpc://")
	if !isGRPC && w.Mode != "grpc" {
		return address, nil
	}
	u, err := parseEndpoint(rest)
	if err != nil {
		return "", err
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		return "", fmt.Errorf("port: %w", err)
	}
	return "http://" + strings.TrimSuffix(u.Host, u.Port()) + strconv.Itoa(port+1), nil
}
