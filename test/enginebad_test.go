package test

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pitwall-otel/pitwall/test/fleet"
)

// TestBadTargetsDoNotDisturbGoodOnes puts every kind of page that is none beside an engine that works.
func TestBadTargetsDoNotDisturbGoodOnes(t *testing.T) {
	f := startFleet(t, fleet.Options{Seed: 4, Engines: []fleet.Spec{
		{Name: "good", Version: fleet.SGLangMain, Load: fleet.Load{RequestsPerSecond: 5}}, {Name: "hangs", Version: fleet.SGLangMain}, {Name: "html", Version: fleet.VLLM026},
	}})
	f.Engine("hangs").Hang()
	f.Engine("html").AnswerHTML()
	line := []byte("an_endless_page{a=\"b\"} 1\n")
	endless := serve(t, func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(line); err != nil {
				return
			}
		}
	})
	trickle := serve(t, func(w http.ResponseWriter, r *http.Request) {
		// The first bytes, and then nothing until the client gives up.
		_, _ = w.Write([]byte("# TYPE a gauge\na 1"))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	elsewhere := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, f.Engine("good").URL()+"/metrics", http.StatusFound)
	})
	failing := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "out of memory", http.StatusInternalServerError)
	})
	garbage := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(strings.Repeat("\x00\xff{{{\n", 10_000)))
	})
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // each scrape is a bad handshake
	secure.StartTLS()
	t.Cleanup(secure.Close)

	var static strings.Builder
	for _, url := range []string{
		f.Engine("good").URL(), f.Engine("hangs").URL(), f.Engine("html").URL(), endless, trickle, elsewhere, failing, garbage, secure.URL,
		"http://ops:secret-password@" + address(failing) + "/private?token=secret-token", "127.0.0.1:1",
	} {
		fmt.Fprintf(&static, "{endpoint: %q, labels: {run: %q}}, ", url, "7")
	}
	w := watch(t, f, "static: ["+static.String()+"]")
	good := address(f.Engine("good").URL())
	w.scraped(good)
	w.drive(10)
	failures := map[string]string{
		address(f.Engine("hangs").URL()): "timeout", address(f.Engine("html").URL()): "html", address(trickle): "timeout",
		address(elsewhere): "redirect", address(failing): "status", secure.Listener.Addr().String(): "tls", address(failing) + "/private": "status", "127.0.0.1:1": "connection",
	}
	for target, kind := range failures {
		require.Eventually(t, func() bool { return w.failures(target, kind) > 0 }, scrapedWithin, scrapedWithin/600, "%s fails with %s", target, kind)
	}
	require.Eventually(t, func() bool {
		return w.number(fmt.Sprintf(`SELECT max(value) FROM training_observability.metric_points WHERE metric = 'pitwall.scrape.limited'
			AND JSONExtractString(tags_json, 'pitwall.target') = '%s'`, address(endless))) > 0
	}, scrapedWithin, scrapedWithin/600, "the endless page is cut off or times out")
	w.freeze(good)

	life := f.Lives()[0]
	assert.InDelta(t, outputOf(&life), w.grown("7", "inference.tokens.output", good), 0)
	assert.Zero(t, w.number(fmt.Sprintf(`SELECT countIf(value < 1) FROM training_observability.metric_points
		WHERE metric = 'pitwall.scrape.up' AND JSONExtractString(tags_json, 'pitwall.target') = '%s'`, good)), "scrapes of the good one that failed")
	assert.NotContains(t, w.c.Log(), "secret")
	assert.Zero(t, w.number(`SELECT count() FROM training_observability.metric_points WHERE tags_json LIKE '%secret%'`))
	f.Engine("hangs").Recover()
	f.Engine("html").Recover()
	w.scraped(addresses(f)...)
	w.requireNoFindings()
}

// failures are the failed scrapes of a target, by kind.
func (w *watched) failures(target, kind string) float64 {
	w.t.Helper()
	return w.number(fmt.Sprintf(`SELECT max(value) FROM training_observability.metric_points WHERE metric = 'pitwall.errors'
		AND JSONExtractString(tags_json, 'pitwall.target') = '%s' AND JSONExtractString(tags_json, 'error.type') = '%s'`, target, kind))
}

func serve(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	return server.URL
}

// TestEnginesAreFoundInEveryWay names one engine after another by registration and by file, with a router's key that
// only the router gets.
func TestEnginesAreFoundInEveryWay(t *testing.T) {
	f := startFleet(t, fleet.Options{Seed: 5, Engines: []fleet.Spec{
		{Name: "registered", Version: fleet.SGLang059}, {Name: "file", Version: fleet.VLLM010}, {Name: "router", Version: fleet.SGLangMain},
	}})
	keys := make(chan string, 1000)
	router := serve(t, func(w http.ResponseWriter, r *http.Request) {
		keys <- r.Header.Get("Authorization")
		if r.Header.Get("Authorization") != "Bearer the-key" {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		fmt.Fprintf(w, `{"workers":[{"url":%q,"worker_type":"decode"}]}`, f.Engine("router").URL())
	})
	list := filepath.Join(t.TempDir(), "engines.json")
	w := watch(t, f, fmt.Sprintf(`files: {paths: [%q], refresh_interval: 200ms}, routers: [{endpoint: %q, api_key: the-key, labels: {run: router}}]`, list, router))
	w.register(map[string]any{"endpoint": f.Engine("registered").URL(), "labels": map[string]string{"run": "registered", "replica": "3", "role": "reward"}})
	require.NoError(t, os.WriteFile(list, []byte(fmt.Sprintf(`[{"targets": [%q], "labels": {"run": "file", "host": "node-9", "role": "prefill"}}]`, address(f.Engine("file").URL()))), 0o600))
	w.scraped(addresses(f)...)
	const up = `SELECT run_id, host, JSONExtractString(tags_json, 'rl.role'), JSONExtractString(tags_json, 'rl.replica.id') != '' OR
		JSONExtractInt(tags_json, 'rl.replica.id') = 3, JSONExtractString(tags_json, 'gen_ai.provider.name'), max(value)
		FROM training_observability.metric_points WHERE metric = 'inference.engine.up' GROUP BY 1, 2, 3, 4, 5 ORDER BY run_id`
	host := hostName(t)
	assert.Equal(t, [][]string{
		{"file", "node-9", "engine", "0", "vllm", "1"}, {"registered", host, "reward", "1", "sglang", "1"}, {"router", host, "engine", "0", "sglang", "1"},
	}, w.query(up))
	// An engine is asked for its version after a scrape, and the next one says it.
	require.EventuallyWithT(t, func(a *assert.CollectT) {
		assert.Equal(a, [][]string{{"file", "0.10.2"}, {"registered", "0.5.9"}, {"router", "0.5.18"}}, w.query(`SELECT run_id, max(JSONExtractString(
			tags_json, 'pitwall.target.version')) FROM training_observability.metric_points WHERE metric = 'pitwall.scrape.up' GROUP BY run_id ORDER BY run_id`))
	}, scrapedWithin, 100*time.Millisecond)
	assert.Equal(t, "Bearer the-key", <-keys)
	assert.NotContains(t, w.c.Log(), "the-key")
	w.requireNoFindings()
}
