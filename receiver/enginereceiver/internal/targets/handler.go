package targets

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"
)

// Path is where targets are registered.
const Path = "/v1/targets"

// maxRegistration bounds a request's body; a target has at most some kilobytes.
const maxRegistration = 64 << 10

// registration is the body of POST, and what GET lists.
type registration struct {
	Endpoint    string            `json:"endpoint"`
	Kind        string            `json:"kind,omitempty"`
	MetricsPath string            `json:"metrics_path,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
	// TTL is a duration such as "90s".
	TTL string `json:"ttl,omitempty"`
	// Target and Expires are only in answers.
	Target  string     `json:"target,omitempty"`
	Expires *time.Time `json:"expires,omitempty"`
}

// Handler serves the registration of targets: POST adds or renews one, DELETE with ?endpoint= (and ?kind= or
// ?metrics_path= where they were given) removes it, GET lists all. Endpoints are shown without credentials.
func Handler(l *Leases) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+Path, l.post)
	mux.HandleFunc("DELETE "+Path, l.delete)
	mux.HandleFunc("GET "+Path, l.get)
	return mux
}

func (l *Leases) post(w http.ResponseWriter, r *http.Request) {
	// A page in somebody's browser can send other types to loopback without asking.
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		refuse(w, http.StatusUnsupportedMediaType, errors.New("Content-Type must be application/json"))
		return
	}
	var in registration
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxRegistration))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&in); err != nil {
		status := http.StatusBadRequest
		if _, large := errors.AsType[*http.MaxBytesError](err); large {
			status = http.StatusRequestEntityTooLarge
		}
		refuse(w, status, fmt.Errorf("the body is no target: %w", err))
		return
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		refuse(w, http.StatusBadRequest, errors.New("the body has more than one target"))
		return
	}
	ttl := time.Duration(0)
	if in.TTL != "" {
		var err error
		if ttl, err = time.ParseDuration(in.TTL); err != nil || ttl <= 0 {
			refuse(w, http.StatusBadRequest, fmt.Errorf("'ttl' %q is no duration such as 90s", shorten(in.TTL)))
			return
		}
	}
	one, err := l.put(Spec{Endpoint: in.Endpoint, Kind: in.Kind, MetricsPath: in.MetricsPath, Labels: in.Labels}, ttl)
	switch {
	case errors.Is(err, errFull):
		refuse(w, http.StatusTooManyRequests, err)
	case err != nil:
		refuse(w, http.StatusBadRequest, err)
	default:
		answer(w, http.StatusOK, shown(one))
	}
}

func (l *Leases) delete(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	found, err := l.remove(Spec{
		Endpoint: query.Get("endpoint"), Kind: query.Get("kind"), MetricsPath: query.Get("metrics_path"),
	})
	switch {
	case err != nil:
		refuse(w, http.StatusBadRequest, err)
	case !found:
		refuse(w, http.StatusNotFound, errors.New("not registered"))
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

func (l *Leases) get(w http.ResponseWriter, _ *http.Request) {
	list := struct {
		Targets []registration `json:"targets"`
	}{Targets: []registration{}}
	for _, one := range l.list() {
		list.Targets = append(list.Targets, shown(one))
	}
	answer(w, http.StatusOK, list)
}

func shown(one lease) registration {
	expires := one.expires.UTC().Truncate(time.Millisecond)
	return registration{
		Endpoint: one.target.Address, Kind: one.target.Kind, MetricsPath: one.target.Path, Labels: one.labels,
		Target: one.target.Name, Expires: &expires,
	}
}

func refuse(w http.ResponseWriter, status int, err error) {
	answer(w, status, map[string]string{"error": err.Error()})
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the caller has gone
}
