package targets

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fakeRouter answers by path and remembers what it was asked.
type fakeRouter struct {
	answers map[string]string
	asked   []string
	keys    []string
}

func (f *fakeRouter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.asked = append(f.asked, r.URL.Path)
	f.keys = append(f.keys, r.Header.Get("Authorization"))
	body, found := f.answers[r.URL.Path]
	if !found {
		http.Error(w, `{"detail":"Not Found"}`, http.StatusNotFound)
		return
	}
	_, _ = w.Write([]byte(body))
}

func startRouter(t *testing.T, fake http.Handler, spec Spec) (*Router, *httptest.Server) {
	t.Helper()
	server := httptest.NewServer(fake)
	t.Cleanup(server.Close)
	r, err := NewRouter(server.Client(), server.URL, "the key", spec)
	require.NoError(t, err)
	return r, server
}

// The shapes are those of sgl-router before and since 0.2.2, sgl-model-gateway and smg (worker_spec.rs), and of the
// Python routers of slime and miles.
func TestWorkerListsOfAllRouters(t *testing.T) {
	f := func(path, body string, want ...string) {
		t.Helper()
		fake := &fakeRouter{answers: map[string]string{path: body}}
		r, _ := startRouter(t, fake, Spec{})
		for range 2 {
			found, err := r.Find(t.Context())
			require.NoError(t, err)
			assert.Equal(t, want, namesOf(found))
		}
		assert.Equal(t, path, fake.asked[len(fake.asked)-1])
		assert.LessOrEqual(t, len(fake.asked), 3, "the list that answered is asked first")
		assert.Equal(t, "Bearer the key", fake.keys[0])
	}
	f("/list_workers", `{"urls":["http://10.0.0.4:15001","http://10.0.0.3:15000"]}`, "10.0.0.3:15000", "10.0.0.4:15001")
	f("/workers", `{"workers":[{"id":"1","url":"http://10.0.0.3:15000","model_id":"m","priority":50,"cost":1.0,"worker_type":"regular",
		"is_healthy":true,"load":3,"connection_mode":"http"}],"total":1,"stats":{"total_workers":1}}`, "10.0.0.3:15000")
	f("/workers", `{"workers":["http://10.0.0.3:15000"]}`, "10.0.0.3:15000")
	f("/workers", `{"workers":[],"total":0}`)
	// One engine with two data parallel ranks.
	f("/workers", `{"workers":[{"url":"http://10.0.0.3:15000@0"},{"url":"http://10.0.0.3:15000@1"}]}`, "10.0.0.3:15000")
	// Over gRPC the metrics are on the next port.
	f("/workers", `{"workers":[{"url":"grpc://10.0.0.3:15000","connection_mode":"grpc"},{"url":"10.0.0.4:15000","connection_mode":"grpc"}]}`,
		"10.0.0.3:15001", "10.0.0.4:15001")
}

func TestWorkersHaveTheRoutersLabelsAndTheirRole(t *testing.T) {
	fake := &fakeRouter{answers: map[string]string{"/workers": `{"workers":[{"url":"http://a:1","worker_type":"prefill"},
		{"url":"http://b:1","worker_type":"decode"},{"url":"http://c:1","worker_type":"regular"}]}`}}
	r, _ := startRouter(t, fake, Spec{Kind: KindVLLM, Labels: map[string]string{"run": "7"}})
	found, err := r.Find(t.Context())
	require.NoError(t, err)
	require.Len(t, found, 3)
	run := Attribute{Key: "rl.run.id", Value: "7"}
	assert.Equal(t, []Attribute{{Key: "inference.role", Value: "prefill"}, run}, found[0].Attributes)
	assert.Equal(t, []Attribute{{Key: "inference.role", Value: "decode"}, run}, found[1].Attributes)
	assert.Equal(t, []Attribute{run}, found[2].Attributes)
	assert.Equal(t, KindVLLM, found[0].Kind)
	assert.Equal(t, "router", found[0].Source)
}

func TestEnginesOnNewPortsAreFollowed(t *testing.T) {
	fake := &fakeRouter{answers: map[string]string{"/list_workers": `{"urls":["http://a:15000"]}`}}
	r, _ := startRouter(t, fake, Spec{})
	for _, port := range []string{"15000", "15007"} {
		fake.answers["/list_workers"] = `{"urls":["http://a:` + port + `"]}`
		found, err := r.Find(t.Context())
		require.NoError(t, err)
		assert.Equal(t, []string{"a:" + port}, namesOf(found))
	}
}

func TestARouterThatFailsKeepsItsWorkersForAWhile(t *testing.T) {
	f := func(breakIt func(*fakeRouter, *httptest.Server), want string) {
		t.Helper()
		fake := &fakeRouter{answers: map[string]string{"/workers": `{"workers":[{"url":"http://a:1"}]}`}}
		r, server := startRouter(t, fake, Spec{})
		now := time.Unix(1_790_000_000, 0)
		r.Now = func() time.Time { return now }
		_, err := r.Find(t.Context())
		require.NoError(t, err)
		breakIt(fake, server)
		now = now.Add(KeepWorkers)
		found, err := r.Find(t.Context())
		require.ErrorContains(t, err, want)
		assert.NotContains(t, err.Error(), "the key")
		assert.Equal(t, []string{"a:1"}, namesOf(found))
		now = now.Add(time.Second)
		found, err = r.Find(t.Context())
		require.ErrorContains(t, err, want)
		assert.Empty(t, found)
	}
	f(func(f *fakeRouter, _ *httptest.Server) { clear(f.answers) }, "status 404")
	f(func(_ *fakeRouter, s *httptest.Server) { s.Close() }, "no answer")
	f(func(f *fakeRouter, _ *httptest.Server) { f.answers["/workers"] = "<html>" }, "not a list of workers")
	f(func(f *fakeRouter, _ *httptest.Server) { f.answers["/workers"] = `{"error":"busy"}` }, `neither "workers" nor "urls"`)
	f(func(f *fakeRouter, _ *httptest.Server) { f.answers["/workers"] = strings.Repeat(" ", maxWorkerList+1) }, "more than 4194304 bytes")
	f(func(f *fakeRouter, _ *httptest.Server) {
		f.answers["/workers"] = `{"urls":["` + strings.Repeat(`a","`, maxEntries) + `a"]}`
	}, "more than 10000 workers")
}

func TestABadWorkerDoesNotHideTheOthers(t *testing.T) {
	f := func(worker, shown string) {
		t.Helper()
		fake := &fakeRouter{answers: map[string]string{"/workers": `{"workers":[` + worker + `,{"url":"http://a:1","connection_mode":7}]}`}}
		r, _ := startRouter(t, fake, Spec{})
		found, err := r.Find(t.Context())
		require.ErrorContains(t, err, "worker "+shown+" of router")
		assert.NotContains(t, err.Error(), "secret")
		assert.Equal(t, []string{"a:1"}, namesOf(found))
	}
	f(`{"url":"unix:///run/engine"}`, `"unix:///run/engine"`)
	f(`{"url":"ftp://user:secret@b:1/x?token=secret"}`, `"b:1/x"`)
	f(`{"url":"ftp://user:secret@b:1@3"}`, `"b:1"`)
	f(`{"url":7}`, `""`)
	f(`7`, `""`)
	f(`null`, `""`)
}

func TestWorkerListCutAnywhere(t *testing.T) {
	const whole = `{"workers":[{"url":"http://a:1"}]}`
	for i := range len(whole) {
		_, err := parseWorkers([]byte(whole[:i]))
		assert.Error(t, err, whole[:i])
	}
}

func FuzzWorkers(f *testing.F) {
	for _, seed := range []string{`{"workers":[{"url":"http://a:1@3"}]}`, `{"urls":["grpc://a:1"]}`, `{"workers":["a:1"]}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		workers, err := parseWorkers(body)
		if err != nil {
			return
		}
		for _, w := range workers {
			endpoint, err := w.endpoint()
			if err != nil {
				continue
			}
			spec := Spec{Endpoint: endpoint}
			if target, err := spec.Target("router"); err == nil {
				assert.Regexp(t, "^https?://", target.URL)
			}
		}
	})
}
