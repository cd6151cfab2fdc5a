package httpserver

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestStatementsAtOnceAreBounded(t *testing.T) {
	s := &Server{limits: Limits{Requests: 1, RequestWait: 20 * time.Millisecond}, slots: make(chan struct{}, 1)}
	require.NoError(t, s.acquire(context.Background()))
	err := s.acquire(context.Background())
	assert.ErrorContains(t, err, "Code: 202. DB::Exception: Too many simultaneous queries. Maximum: 1. (TOO_MANY_SIMULTANEOUS_QUERIES)")
	w := httptest.NewRecorder()
	newAnswer(w, time.Minute).fail(err)
	assert.Equal(t, http.StatusServiceUnavailable, w.Code)
	assert.Equal(t, "1", w.Header().Get("Retry-After"))
	s.release()
	assert.NoError(t, s.acquire(context.Background()))
}

func TestGreetingsNeedNoEngine(t *testing.T) {
	s := &Server{}
	for path, want := range map[string]int{"/": 200, "/ping": 200, "/replicas_status": 200, "/play": 404} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		assert.Equal(t, want, w.Code, path)
		if want == 200 {
			assert.Equal(t, "Ok.\n", w.Body.String(), path)
		}
	}
}

func TestLoopbackNames(t *testing.T) {
	for host, want := range map[string]bool{
		"127.0.0.1:8123": true, "localhost": true, "LOCALHOST:1": true, "[::1]:8123": true, "127.9.9.9": true,
		"10.0.0.1:8123": false, "evil.example:8123": false, "127.0.0.1.evil.example": false, "": false,
	} {
		assert.Equal(t, want, isLoopbackName(host), host)
	}
}

func TestStatusOfErrorCodes(t *testing.T) {
	for code, want := range map[int]int{
		516: 403, 497: 403, 194: 401, 60: 404, 81: 404, 115: 404, 62: 400, 27: 400, 159: 408, 241: 500, 164: 500, 202: 503, 48: 501, 373: 423, 0: 500,
	} {
		assert.Equal(t, want, status(code), code)
	}
}
