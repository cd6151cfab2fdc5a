package faults

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What the exporter says when points must wait, and when they need not any more.
const (
	complaint     = "the table takes no points; they wait in the log"
	misconfigured = `"class": "configuration"` // not what a connection that was closed says
	mended        = "the table takes points again"
)

// front is HTTPS before a rig's proxy, with a TLS configuration that a test changes while clients send.
type front struct {
	server *httptest.Server
	tls    atomic.Pointer[tls.Config]
}

// newFront puts HTTPS before the proxy: the collector trusts the given authority.
func newFront(t *testing.T, r *rig, trusted authority) *front {
	t.Helper()
	target, err := url.Parse(r.proxy.server.URL)
	require.NoError(t, err)
	f := &front{}
	f.tls.Store(serves(trusted.server(t, unchanged)))
	silent := log.New(io.Discard, "", 0) // of what the test breaks
	f.server = httptest.NewUnstartedServer(&httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) { p.SetURL(target) }, ErrorLog: silent,
	})
	f.server.Config.ErrorLog = silent
	f.server.TLS = &tls.Config{
		MinVersion:         tls.VersionTLS10,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return f.tls.Load(), nil },
	}
	f.server.StartTLS()
	t.Cleanup(f.server.Close)
	caFile, _ := write(t, r.collector.Dir, "ca", trusted.pair)
	r.collector.Env = append(r.collector.Env, "PITWALL_CLICKHOUSE_ENDPOINT="+f.server.URL, "PITWALL_CLICKHOUSE_CA_FILE="+caFile)
	return f
}

func serves(pair tls.Certificate) *tls.Config {
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
}

// use gives every connection from now on another configuration, and ends those that are there.
func (f *front) use(config *tls.Config) {
	f.tls.Store(config)
	f.server.CloseClientConnections()
}

// says waits for a line of the collector's log behind a place with all parts, and returns those of the exporter of points.
func (r *rig) says(from int, parts ...string) []string {
	r.t.Helper()
	var lines []string
	r.until(func() bool {
		lines = nil
		for line := range strings.Lines(r.collector.Log()[from:]) {
			missing := func(part string) bool { return !strings.Contains(line, part) }
			if !slices.ContainsFunc(parts, missing) && !strings.Contains(line, "metricpoints/quarantine") {
				lines = append(lines, line)
			}
		}
		return len(lines) > 0
	}, "a line with %q", parts)
	return lines
}

// ClickHouse's certificate goes bad under load, and is mended: each time one line, clients notice nothing, and every
// point arrives once.
func TestServerCertificates(t *testing.T) {
	t.Parallel()
	// By default the collector leaves out the eleventh line of a kind within ten seconds.
	r := newRig(t, "service: {telemetry: {logs: {sampling: {enabled: false}}}}")
	trusted := newAuthority(t)
	front := newFront(t, r, trusted)
	good := front.tls.Load()
	r.collector.Start()
	clients := r.send(usual)
	r.acknowledges(1000)
	f := func(name string, bad *tls.Config, want string) {
		t.Helper()
		from := len(r.collector.Log())
		front.use(bad)
		r.says(from, complaint, misconfigured)
		r.acknowledges(5000) // and the exporter tries many times meanwhile
		lines := r.says(from, complaint, misconfigured)
		require.Len(t, lines, 1, name)
		assert.Contains(t, lines[0], want, name)
		assert.Contains(t, lines[0], front.server.Listener.Addr().String(), name)
		_, said, _ := strings.Cut(lines[0], `"error": `)
		t.Logf("%-22s %s", name, strings.TrimSpace(said))
		from = len(r.collector.Log())
		front.tls.Store(good)
		r.says(from, mended)
		inserts := r.proxy.inserts.Load()
		r.until(func() bool { return r.proxy.inserts.Load() > inserts+10 }, "INSERTs of all senders") // none still complains
	}
	issued := func(change func(*x509.Certificate)) *tls.Config { return serves(trusted.server(t, change)) }
	f("expired", issued(func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Hour) }), "certificate has expired")
	f("not valid yet", issued(func(c *x509.Certificate) { c.NotBefore = time.Now().Add(time.Hour) }), "not yet valid")
	f("another address", issued(func(c *x509.Certificate) { c.IPAddresses = []net.IP{net.IPv4(10, 0, 0, 1)} }), "valid for 10.0.0.1, not 127.0.0.1")
	f("a name, no address", issued(func(c *x509.Certificate) { c.IPAddresses, c.DNSNames = nil, []string{"clickhouse"} }), "doesn't contain any IP SANs")
	f("not for servers", issued(func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth} }), "incompatible key usage")
	f("another authority", serves(newAuthority(t).server(t, unchanged)), "unknown authority")
	self := valid("self")
	self.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	f("self-signed", serves(sign(t, self, nil)), "unknown authority")
	for _, version := range []uint16{tls.VersionTLS10, tls.VersionTLS11} {
		old := good.Clone()
		old.MinVersion, old.MaxVersion = tls.VersionTLS10, version
		f(tls.VersionName(version)+" only", old, "protocol version not supported")
	}
	from := len(r.collector.Log())
	front.use(issued(unchanged))
	inserts := r.proxy.inserts.Load()
	r.until(func() bool { return r.proxy.inserts.Load() > inserts+5 }, "INSERTs under a renewed certificate")
	assert.NotContains(t, r.collector.Log()[from:], "x509")
	clients.stop()
	got := r.finish(0)
	assert.Zero(t, got.refused+got.unknown)
}

// The client's own files are replaced on disk. The key pair is read again by itself (reload_interval); the authorities are
// read at start, so a new one is announced with SIGHUP.
func TestClientFilesReplaced(t *testing.T) {
	t.Parallel()
	before, after := newAuthority(t), newAuthority(t)
	folder := t.TempDir()
	certFile, keyFile := write(t, folder, "client", before.client(t))
	r := newRig(t, fmt.Sprintf("exporters: {metricpoints: {tls: {cert_file: %s, key_file: %s, reload_interval: 1s}}}", certFile, keyFile))
	front := newFront(t, r, before)
	demands := func(server, clients authority) *tls.Config {
		config := serves(server.server(t, unchanged))
		config.ClientAuth, config.ClientCAs = tls.RequireAndVerifyClientCert, clients.pool()
		return config
	}
	front.use(demands(before, before))
	r.collector.Start()
	clients := r.send(usual)
	inserts := r.proxy.inserts.Load()
	r.until(func() bool { return r.proxy.inserts.Load() > inserts }, "INSERTs with the first pair")

	from := len(r.collector.Log())
	front.use(demands(before, after))
	r.says(from, complaint) // of a certificate, or of a connection that the server closed before it could be told why
	write(t, folder, "client", after.client(t))
	r.says(from, mended)

	from = len(r.collector.Log())
	front.use(demands(after, after))
	r.says(from, complaint, misconfigured, "unknown authority")
	write(t, r.collector.Dir, "ca", after.pair)
	r.acknowledges(5000) // the engine has finished what it had
	inserts = r.proxy.inserts.Load()
	r.acknowledges(5000)
	assert.Equal(t, inserts, r.proxy.inserts.Load(), "the file of authorities is read at start: docs/operations.md")
	require.NoError(t, syscall.Kill(r.collector.PID(), syscall.SIGHUP))
	r.until(func() bool { return r.proxy.inserts.Load() > inserts }, "INSERTs after the reload")
	clients.stop()
	r.finish(0)
}
