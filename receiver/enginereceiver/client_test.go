package enginereceiver

import (
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/config/configopaque"

	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/targets"
)

func TestTargetsAreAskedAsConfigured(t *testing.T) {
	asked := make(chan *http.Request, 1000)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r
		_, _ = w.Write([]byte("# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running 1\n"))
	}))
	t.Cleanup(server.Close)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600))
	endpoint := "https://ops:the-password@" + server.Listener.Addr().String() + "/metrics?tenant=7"
	l := newLab(t, nil, func(c *Config) {
		static(targets.Spec{Endpoint: endpoint})(c)
		c.TLS.CAFile = ca
		c.Headers = configopaque.MapList{{Name: "X-Cluster", Value: "north"}}
	})
	eventually(t, func() bool { return l.last("pitwall.scrape.up", server.Listener.Addr().String()) == 1 }, "the certificate is trusted")
	r := <-asked
	assert.Equal(t, "north", r.Header.Get("X-Cluster"))
	assert.Equal(t, "7", r.URL.Query().Get("tenant"))
	user, password, _ := r.BasicAuth()
	assert.Equal(t, "ops the-password", user+" "+password)
}

// Headers may hold a token, and a list of workers is no reason to send it elsewhere.
func TestARouterCannotSendItsAskerElsewhere(t *testing.T) {
	elsewhere := startEngine(t, nil)
	router := startEngine(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL+"/workers", http.StatusFound)
	})
	l := newLab(t, nil, func(c *Config) {
		c.Targets.Routers = []RouterConfig{{Endpoint: router.URL, RefreshInterval: often}}
		c.Headers = configopaque.MapList{{Name: "Authorization", Value: "Bearer the-token"}}
	})
	eventually(t, func() bool { return l.counter("otelcol_engine_discovery_failures", "router") > 1 }, "it is not followed")
	assert.Zero(t, elsewhere.asked.Load())
}

func TestWorkersOfARouterAreScraped(t *testing.T) {
	first, second := startEngine(t, nil), startEngine(t, nil)
	router := startEngine(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/list_workers" {
			http.NotFound(w, r)
			return
		}
		_, _ = fmt.Fprintf(w, `{"urls":[%q,%q]}`, first.URL, second.URL)
	})
	l := newLab(t, nil, func(c *Config) {
		c.Targets.Routers = []RouterConfig{{Endpoint: router.URL, Labels: map[string]string{"run": "7"}, RefreshInterval: often}}
	})
	for _, e := range []*engine{first, second} {
		eventually(t, func() bool { return l.last("pitwall.scrape.up", e.name()) == 1 }, "each worker is scraped")
		assert.Equal(t, "7", l.resourceOf("pitwall.scrape.up", e.name())["rl.run.id"])
	}
	assert.Equal(t, 2.0, l.gauge("otelcol_engine_targets", "router"))
}
