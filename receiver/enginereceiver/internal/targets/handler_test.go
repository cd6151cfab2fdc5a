package targets

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// desk is a registration with a clock of its own.
type desk struct {
	t       *testing.T
	leases  *Leases
	now     time.Time
	changes int
}

func newDesk(t *testing.T) *desk {
	d := &desk{t: t, now: time.Unix(1_790_000_000, 0)}
	d.leases = NewLeases(2, time.Minute, time.Hour, func() { d.changes++ })
	d.leases.now = func() time.Time { return d.now }
	return d
}

func (d *desk) ask(method, query, body string) (int, string) {
	d.t.Helper()
	request := httptest.NewRequest(method, Path+query, strings.NewReader(body))
	request.Header.Set("Content-Type", "application/json; charset=utf-8")
	recorder := httptest.NewRecorder()
	Handler(d.leases).ServeHTTP(recorder, request)
	return recorder.Code, recorder.Body.String()
}

func (d *desk) targets() []string {
	found, _ := d.leases.Targets()
	return namesOf(found)
}

func TestRegistration(t *testing.T) {
	d := newDesk(t)
	status, body := d.ask(http.MethodPost, "", `{"endpoint":"http://ops:secret@10.0.0.3:30000","kind":"sglang","labels":{"run":"7"},"ttl":"90s"}`)
	require.Equal(t, http.StatusOK, status, body)
	assert.JSONEq(t, `{"endpoint":"http://10.0.0.3:30000","kind":"sglang","metrics_path":"/metrics","labels":{"run":"7"},
		"target":"10.0.0.3:30000","expires":"2026-09-21T14:14:50Z"}`, body)
	assert.Equal(t, []string{"10.0.0.3:30000"}, d.targets())
	assert.Equal(t, 1, d.changes)

	found, next := d.leases.Targets()
	assert.Equal(t, d.now.Add(90*time.Second), next)
	assert.Equal(t, "http://ops:secret@10.0.0.3:30000/metrics", found[0].URL)
	assert.Equal(t, []Attribute{{Key: "rl.run.id", Value: "7"}}, found[0].Attributes)

	status, body = d.ask(http.MethodGet, "", "")
	require.Equal(t, http.StatusOK, status)
	assert.Contains(t, body, `{"targets":[{"endpoint":"http://10.0.0.3:30000"`)
	assert.NotContains(t, body, "secret")

	// Another POST renews it.
	d.now = d.now.Add(80 * time.Second)
	status, _ = d.ask(http.MethodPost, "", `{"endpoint":"10.0.0.3:30000"}`)
	require.Equal(t, http.StatusOK, status)
	d.now = d.now.Add(59 * time.Second)
	assert.Equal(t, []string{"10.0.0.3:30000"}, d.targets())
	d.now = d.now.Add(time.Second)
	assert.Empty(t, d.targets(), "its time is over")

	_, _ = d.ask(http.MethodPost, "", `{"endpoint":"10.0.0.3:30000"}`)
	status, _ = d.ask(http.MethodDelete, "?endpoint=10.0.0.3:30000", "")
	assert.Equal(t, http.StatusNoContent, status)
	assert.Empty(t, d.targets())
	status, _ = d.ask(http.MethodDelete, "?endpoint=10.0.0.3:30000", "")
	assert.Equal(t, http.StatusNotFound, status)
	assert.Equal(t, 4, d.changes)
}

// What GET lists is enough to remove it.
func TestWhatIsListedCanBeRemoved(t *testing.T) {
	d := newDesk(t)
	_, _ = d.ask(http.MethodPost, "", `{"endpoint":"10.0.0.3:3000","kind":"router"}`)
	_, _ = d.ask(http.MethodPost, "", `{"endpoint":"http://10.0.0.3:80/engine%201/metrics"}`)
	_, body := d.ask(http.MethodGet, "", "")
	var list struct {
		Targets []registration `json:"targets"`
	}
	require.NoError(t, json.Unmarshal([]byte(body), &list))
	require.Len(t, list.Targets, 2)
	for _, one := range list.Targets {
		status, body := d.ask(http.MethodDelete, "?endpoint="+one.Endpoint+"&metrics_path="+strings.ReplaceAll(one.MetricsPath, "%", "%25"), "")
		assert.Equal(t, http.StatusNoContent, status, body)
	}
	assert.Empty(t, d.targets())
}

func TestRegistrationIsBounded(t *testing.T) {
	d := newDesk(t)
	for _, endpoint := range []string{"a:1", "b:1"} {
		status, _ := d.ask(http.MethodPost, "", `{"endpoint":"`+endpoint+`"}`)
		require.Equal(t, http.StatusOK, status)
	}
	status, body := d.ask(http.MethodPost, "", `{"endpoint":"c:1"}`)
	assert.Equal(t, http.StatusTooManyRequests, status)
	assert.Contains(t, body, "too many registered targets: 2")
	status, _ = d.ask(http.MethodPost, "", `{"endpoint":"a:1"}`)
	assert.Equal(t, http.StatusOK, status, "who is registered may renew")
	d.now = d.now.Add(2 * time.Minute)
	status, _ = d.ask(http.MethodPost, "", `{"endpoint":"c:1"}`)
	assert.Equal(t, http.StatusOK, status, "expired targets leave their place")
	assert.Equal(t, []string{"c:1"}, d.targets())
}

func TestBadRegistrations(t *testing.T) {
	d := newDesk(t)
	f := func(body string, wantStatus int, want string) {
		t.Helper()
		status, got := d.ask(http.MethodPost, "", body)
		assert.Equal(t, wantStatus, status)
		assert.Contains(t, got, want)
		assert.NotContains(t, got, "secret")
	}
	f(``, http.StatusBadRequest, "the body is no target")
	f(`{"endpoint":"a:1"`, http.StatusBadRequest, "the body is no target")
	f(`["a:1"]`, http.StatusBadRequest, "the body is no target")
	f(`{"endpoint":"a:1"}{"endpoint":"b:1"}`, http.StatusBadRequest, "more than one target")
	f(`{"endpoint":"a:1","port":3}`, http.StatusBadRequest, "port")
	f(`{}`, http.StatusBadRequest, "'endpoint' is missing")
	f(`{"endpoint":"http://u:secret@a:99999"}`, http.StatusBadRequest, "port from 1 to 65535")
	f(`{"endpoint":"a:1","ttl":"soon"}`, http.StatusBadRequest, "'ttl'")
	f(`{"endpoint":"a:1","ttl":"-5s"}`, http.StatusBadRequest, "'ttl'")
	f(`{"endpoint":"a:1","ttl":"2h"}`, http.StatusBadRequest, "'ttl' must be between 1s and 1h0m0s")
	f(`{"endpoint":"a:1","labels":{"replica":"x"}}`, http.StatusBadRequest, "replica")
	f(`{"endpoint":"`+strings.Repeat("a", maxRegistration)+`:1"}`, http.StatusRequestEntityTooLarge, "too large")
	status, _ := d.ask(http.MethodDelete, "", "")
	assert.Equal(t, http.StatusBadRequest, status)
	status, _ = d.ask(http.MethodPut, "", "")
	assert.Equal(t, http.StatusMethodNotAllowed, status)
	assert.Empty(t, d.targets())
}

// A web page may send forms and text to loopback without the browser asking first.
func TestRegistrationTakesOnlyJSON(t *testing.T) {
	for _, contentType := range []string{"", "text/plain", "application/x-www-form-urlencoded"} {
		d := newDesk(t)
		request := httptest.NewRequest(http.MethodPost, Path, strings.NewReader(`{"endpoint":"a:1"}`))
		request.Header.Set("Content-Type", contentType)
		recorder := httptest.NewRecorder()
		Handler(d.leases).ServeHTTP(recorder, request)
		assert.Equal(t, http.StatusUnsupportedMediaType, recorder.Code)
		assert.Empty(t, d.targets())
	}
}
