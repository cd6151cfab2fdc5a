package embeddedclickhouseextension

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// pingTimeout bounds one GET /ping.
const pingTimeout = 2 * time.Second

// pinger asks the helper whether it serves.
type pinger struct {
	url    string
	client *http.Client
}

func newPinger(cfg *Config) pinger {
	scheme := "http"
	if cfg.usesTLS() {
		scheme = "https"
	}
	return pinger{
		url: scheme + "://" + reachable(cfg.ListenAddress) + "/ping",
		client: &http.Client{
			Timeout: pingTimeout,
			Transport: &http.Transport{
				DisableKeepAlives: true,
				// It is our own child: its address was free before it started, and its certificate seldom names the
				// loopback address.
				TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // see above
			},
		},
	}
}

func (p pinger) ping(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url, http.NoBody)
	if err != nil {
		return err
	}
	resp, err := p.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 1024))
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", p.url, resp.Status)
	}
	return nil
}

// untimed is a client for the same address whose requests end with their contexts only.
func (p pinger) untimed() *http.Client { return &http.Client{Transport: p.client.Transport} }

// reachable turns an address to listen on into one to connect to: a wildcard host becomes the loopback address.
func reachable(address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
		if ip != nil && ip.To4() == nil {
			host = "::1"
		}
	}
	return net.JoinHostPort(host, port)
}

// addressFree says whether the helper could listen. Somebody else's answer to /ping must not pass for the helper's.
func addressFree(ctx context.Context, address string) error {
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("listen_address: %w", err)
	}
	return listener.Close()
}
