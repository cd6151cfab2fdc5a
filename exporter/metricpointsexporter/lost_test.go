package metricpointsexporter

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pitwall-otel/pitwall/internal/enginetest"
)

// The server remembers a block's token and not the block, as after a kill between the two: here because other rows came
// under that token. What it then answers for without having it goes again.
func TestSender_TokenKnownAndRowsLost(t *testing.T) {
	engine := enginetest.Start(t)
	p := newProxy(t, engine.Endpoint())
	r := start(t, config(t, p.URL, func(c *Config) { c.ClientConfig.Timeout = time.Second }))
	r.send(t, "before", 1)
	eventuallyBalance(t, r, 1, 1, 0)
	stolen := ""
	p.set(func(w http.ResponseWriter, r *http.Request, _ http.Handler) bool {
		if stolen != "" {
			return false
		}
		stolen = r.URL.Query().Get("insert_deduplication_token")
		_, err := engine.Exec(fmt.Sprintf(`INSERT INTO training_observability.metric_points (run_id, metric, value)
			SETTINGS insert_deduplication_token = '%s', async_insert = 0 VALUES ('other', 'loss', 0)`, stolen))
		assert.NoError(t, err)
		http.Error(w, "killed", http.StatusInternalServerError)
		return true
	})
	r.send(t, "lost", 1, 2, 3)
	eventuallyBalance(t, r, 4, 4, 0)
	eventuallyRows(t, engine, `SELECT run_id, toString(groupArray(value)) FROM (SELECT * FROM training_observability.metric_points ORDER BY value)
		GROUP BY run_id ORDER BY run_id`, [][]string{{"before", "[1]"}, {"lost", "[1,2,3]"}, {"other", "[0]"}})
	require.Len(t, r.logs.FilterMessageSnippet("answered for points that it does not have").All(), 1)
}

// An answer that was lost, and nothing else: the block is there, and is not stored again.
func TestSender_TokenKnownAndRowsThere(t *testing.T) {
	engine := enginetest.Start(t)
	p := newProxy(t, engine.Endpoint())
	r := start(t, config(t, p.URL))
	lost := 0
	p.set(func(w http.ResponseWriter, r *http.Request, forward http.Handler) bool {
		if lost++; lost > 2 {
			return false
		}
		forward.ServeHTTP(discard{http.Header{}}, r)
		http.Error(w, "the answer was lost", http.StatusBadGateway)
		return true
	})
	odd := requestOf("o'd\\d\n", 1, 2, 3)
	odd.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).Gauge().DataPoints().At(0).Attributes().PutStr("tag", "'\\\"\n☃")
	requestOf("another run, that sorts before", 4).ResourceMetrics().MoveAndAppendTo(odd.ResourceMetrics())
	require.NoError(t, r.exporter.ConsumeMetrics(t.Context(), odd))
	eventuallyBalance(t, r, 4, 4, 0)
	assert.Equal(t, 3, lost)
	eventuallyRows(t, engine, `SELECT count(), uniqExact(value) FROM training_observability.metric_points`, [][]string{{"4", "4"}})
	assert.Empty(t, r.logs.FilterMessageSnippet("answered for points that it does not have").All())
}

type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) Write(p []byte) (int, error) { return len(p), nil }
func (d discard) WriteHeader(int)             {}

// A table that cannot be read, as when a part of it is damaged, is believed after a while: it must not stop the log.
func TestSender_TableCannotBeRead(t *testing.T) {
	engine := enginetest.Start(t)
	p := newProxy(t, engine.Endpoint())
	looks := &unreadable{next: p.Config.Handler}
	p.Config.Handler = looks
	r := start(t, config(t, p.URL))
	failed := false
	p.set(func(w http.ResponseWriter, _ *http.Request, _ http.Handler) bool {
		if failed {
			return false
		}
		failed = true
		http.Error(w, "away", http.StatusServiceUnavailable)
		return true
	})
	r.send(t, "run", 1, 2, 3)
	eventuallyBalance(t, r, 3, 3, 0)
	assert.EqualValues(t, maxLooks, looks.refused.Load())
	require.Len(t, r.logs.FilterMessageSnippet("cannot say whether it has them").All(), 1)
}

// unreadable refuses to look for rows.
type unreadable struct {
	next    http.Handler
	refused atomic.Int64
}

func (u *unreadable) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if bytes.HasPrefix(body, []byte("SELECT DISTINCT run_id")) {
		u.refused.Add(1)
		w.Header().Set("X-ClickHouse-Exception-Code", "246")
		http.Error(w, "Code: 246. DB::Exception: Empty marks file. (CORRUPTED_DATA)", http.StatusInternalServerError)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	u.next.ServeHTTP(w, r)
}
