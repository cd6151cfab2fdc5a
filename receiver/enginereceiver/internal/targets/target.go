package targets

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Kinds of pages.
const (
	// KindAuto finds out from the names on the page.
	KindAuto = "auto"
	// KindSGLang and KindVLLM are an engine's own page.
	KindSGLang = "sglang"
	KindVLLM   = "vllm"
	// KindRouter is the page on a router's main port that repeats those of all engines behind it.
	KindRouter = "router"
	// KindGateway is the router's page about itself, on a port of its own.
	KindGateway = "gateway"
)

// Kinds are all of them.
func Kinds() []string { return []string{KindAuto, KindSGLang, KindVLLM, KindRouter, KindGateway} }

const (
	enginePath = "/metrics"
	routerPath = "/engine_metrics"
	// Longer addresses are no addresses; they would stand in every row.
	maxEndpoint = 2048
)

// Target is one page to scrape. Two are the same page when their Names are equal.
type Target struct {
	// URL is what is asked, credentials included: never to be shown.
	URL string
	// Name is host:port, and the path where it is not /metrics.
	Name string
	// Address is scheme://host:port, as routers name their workers.
	Address string
	// Path is the page's path, escaped, without a query.
	Path string
	// Host is the host of the URL without its port, Port its port.
	Host string
	Port int
	Kind string
	// Attributes belong to the resource of all that the page says; sorted by key.
	Attributes []Attribute
	// Source says who named the target: static, file, dns, router or registration.
	Source string
}

// Equal reports whether scraping and labelling of both are the same.
func (t *Target) Equal(other *Target) bool {
	return t.URL == other.URL && t.Kind == other.Kind && slices.Equal(t.Attributes, other.Attributes)
}

// Spec is a target as people and programs write it.
type Spec struct {
	// Endpoint is host:port or an http or https URL; a path in it is the page's.
	Endpoint string `mapstructure:"endpoint"`
	// Kind is one of Kinds; empty is auto.
	Kind string `mapstructure:"kind"`
	// MetricsPath is the page's path; empty is the kind's usual one.
	MetricsPath string `mapstructure:"metrics_path"`
	// Labels are resource attributes by name, or by the short names that Labels.Attributes knows.
	Labels map[string]string `mapstructure:"labels"`

	_ struct{}
}

// UnmarshalText lets a list of specs have plain endpoints.
func (s *Spec) UnmarshalText(text []byte) error {
	s.Endpoint = string(text)
	return nil
}

// Target checks the spec. Errors do not repeat credentials.
func (s *Spec) Target(source string) (Target, error) {
	t := Target{Kind: s.Kind, Source: source}
	if t.Kind == "" {
		t.Kind = KindAuto
	}
	if !slices.Contains(Kinds(), t.Kind) {
		return Target{}, fmt.Errorf("'kind' must be one of %s, not %q", strings.Join(Kinds(), ", "), shorten(t.Kind))
	}
	u, err := parseEndpoint(s.Endpoint)
	if err != nil {
		return Target{}, err
	}
	t.Host = u.Hostname()
	if t.Port, err = strconv.Atoi(u.Port()); err != nil || t.Port < 1 || t.Port > 65535 {
		return Target{}, fmt.Errorf("'endpoint' %q needs a port from 1 to 65535", u.Host)
	}
	switch {
	case s.MetricsPath != "":
		path, err := url.Parse(s.MetricsPath)
		if err != nil || path.IsAbs() || path.Host != "" || !strings.HasPrefix(path.Path, "/") {
			return Target{}, errors.New("'metrics_path' must be a path that begins with /")
		}
		u.Path, u.RawPath = path.Path, path.RawPath
		if path.RawQuery != "" {
			u.RawQuery = path.RawQuery
		}
	case u.Path == "" || u.Path == "/":
		u.Path = enginePath
		if t.Kind == KindRouter {
			u.Path = routerPath
		}
	}
	if t.Attributes, err = attributes(s.Labels); err != nil {
		return Target{}, err
	}
	t.URL = u.String()
	t.Address = u.Scheme + "://" + u.Host
	t.Name = u.Host
	t.Path = u.EscapedPath()
	if t.Path != enginePath {
		t.Name += t.Path
	}
	return t, nil
}

// parseEndpoint returns a URL with a scheme, a lower-case host and a port.
func parseEndpoint(endpoint string) (*url.URL, error) {
	if len(endpoint) > maxEndpoint {
		return nil, fmt.Errorf("'endpoint' has %d bytes; %d are allowed", len(endpoint), maxEndpoint)
	}
	text := strings.TrimSpace(endpoint)
	if text == "" {
		return nil, errors.New("'endpoint' is missing")
	}
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil {
		// The text may hold a password, and url.Error repeats it.
		return nil, errors.New("'endpoint' is neither host:port nor an http URL")
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("'endpoint' has the scheme %q; http and https are possible", shorten(u.Scheme))
	}
	host, port := strings.ToLower(u.Hostname()), u.Port()
	if host == "" || strings.ContainsAny(host, "\\ \t%") {
		return nil, errors.New("'endpoint' has no host")
	}
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	u.Host, u.Fragment = net.JoinHostPort(host, port), ""
	return u, nil
}

// shorten keeps messages readable when somebody sends a novel.
func shorten(s string) string {
	const most = 64
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
