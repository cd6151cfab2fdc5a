package metricpointsexporter

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

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

// The server has the block and forgot its token, as after a loss of power: here because it never heard of it.
func TestSender_RowsThereAndTokenForgotten(t *testing.T) {
	engine := enginetest.Start(t)
	p := newProxy(t, engine.Endpoint())
	r := start(t, config(t, p.URL))
	p.set(func(w http.ResponseWriter, r *http.Request, forward http.Handler) bool {
		if p.inserts.Load() > 1 {
			return false
		}
		query := r.URL.Query()
		query.Del("insert_deduplication_token")
		r.URL.RawQuery = query.Encode()
		forward.ServeHTTP(discard{http.Header{}}, r)
		http.Error(w, "the answer was lost", http.StatusBadGateway)
		return true
	})
	odd := requestOf("o'd\\d\n", 1, math.NaN(), math.Inf(-1), math.Copysign(0, -1))
	odd.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).SetUnit("µ'")
	odd.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).Gauge().DataPoints().At(0).Attributes().PutStr("tag", "'\\\"\n☃")
	requestOf("another run, that sorts before", 4).ResourceMetrics().MoveAndAppendTo(odd.ResourceMetrics())
	require.NoError(t, r.exporter.ConsumeMetrics(t.Context(), odd))
	eventuallyBalance(t, r, 5, 5, 0)
	assert.EqualValues(t, 1, p.inserts.Load())
	eventuallyRows(t, engine, `SELECT count(), uniqExact(run_id, step) FROM training_observability.metric_points`, [][]string{{"5", "5"}})
	assert.Empty(t, r.logs.FilterMessageSnippet("answered for points that it does not have").All())
}

// Of the block's two months the server has one, as when it was killed between the two.
func TestSender_OneMonthThere(t *testing.T) {
	engine := enginetest.Start(t)
	p := newProxy(t, engine.Endpoint())
	r := start(t, config(t, p.URL))
	r.send(t, "before", 1) // makes the table
	eventuallyBalance(t, r, 1, 1, 0)
	request := requestOf("run", 1, 2, 3)
	gauge := request.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).Gauge()
	gauge.DataPoints().At(0).SetTimestamp(pcommon.NewTimestampFromTime(time.Date(2026, 2, 28, 0, 0, 0, 0, time.UTC)))
	failed := false
	p.set(func(w http.ResponseWriter, r *http.Request, forward http.Handler) bool {
		if failed {
			return false
		}
		failed = true
		forward.ServeHTTP(discard{http.Header{}}, r)
		_, err := engine.Exec("ALTER TABLE training_observability.metric_points DROP PARTITION 202602")
		assert.NoError(t, err)
		http.Error(w, "killed", http.StatusBadGateway)
		return true
	})
	require.NoError(t, r.exporter.ConsumeMetrics(t.Context(), request))
	eventuallyBalance(t, r, 4, 4, 0)
	eventuallyRows(t, engine, `SELECT toString(groupArray(value)) FROM (SELECT * FROM training_observability.metric_points WHERE run_id = 'run' ORDER BY value)`,
		[][]string{{"[1,2,3]"}})
}

// A view behind the table fails after the table took the rows. They go again until the view has them too.
func TestSender_RowsThereAndNotBehindTheView(t *testing.T) {
	engine := enginetest.Start(t)
	r := start(t, config(t, engine.Endpoint()))
	r.send(t, "before", 1) // makes the table
	eventuallyBalance(t, r, 1, 1, 0)
	exec := func(statement string) {
		t.Helper()
		_, err := engine.Exec(statement)
		require.NoError(t, err)
	}
	exec("CREATE TABLE training_observability.behind (step UInt64) ENGINE = MergeTree ORDER BY step")
	exec("CREATE MATERIALIZED VIEW training_observability.view TO training_observability.behind AS SELECT throwIf(step > 0) AS step FROM training_observability.metric_points")
	r.send(t, "run", 1, 2, 3)
	require.Eventually(t, func() bool { return r.logs.FilterMessageSnippet("wait in the log").Len() == 1 }, deadline, 5*time.Millisecond)
	exec("ALTER TABLE training_observability.view MODIFY QUERY SELECT step FROM training_observability.metric_points")
	eventuallyBalance(t, r, 4, 4, 0)
	eventuallyRows(t, engine, "SELECT toString(groupArray(step)) FROM (SELECT * FROM training_observability.behind ORDER BY step)", [][]string{{"[0,1,2]"}})
	eventuallyRows(t, engine, "SELECT count() FROM training_observability.metric_points", [][]string{{"4"}})
}

// What the table has of another request is no reason to leave out points that are new: another value, or one point more.
func TestSender_EqualPointsOfAnotherRequestThere(t *testing.T) {
	f := func(name string, change func(pmetric.NumberDataPointSlice), want string) {
		t.Run(name, func(t *testing.T) {
			engine := enginetest.Start(t)
			p := newProxy(t, engine.Endpoint())
			r := start(t, config(t, p.URL))
			values := make([]float64, 100) // far more than are looked for at first
			request := requestOf("run", values...)
			require.NoError(t, r.exporter.ConsumeMetrics(t.Context(), request))
			eventuallyBalance(t, r, 100, 100, 0)
			change(request.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).Gauge().DataPoints())
			failed := false
			p.set(func(w http.ResponseWriter, _ *http.Request, _ http.Handler) bool {
				if failed {
					return false
				}
				failed = true
				http.Error(w, "away", http.StatusServiceUnavailable)
				return true
			})
			require.NoError(t, r.exporter.ConsumeMetrics(t.Context(), request))
			sent := int64(100 + request.DataPointCount())
			eventuallyBalance(t, r, sent, sent, 0)
			eventuallyRows(t, engine, `SELECT countIf(value = 0), countIf(value = 7) FROM training_observability.metric_points`, [][]string{{want, "1"}})
		})
	}
	f("another value", func(points pmetric.NumberDataPointSlice) { points.At(50).SetDoubleValue(7) }, "199")
	f("one point more", func(points pmetric.NumberDataPointSlice) {
		points.At(50).CopyTo(points.AppendEmpty())
		points.At(100).SetDoubleValue(7)
		points.At(100).Attributes().PutInt("rl.step", 100)
	}, "200")
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
	assert.EqualValues(t, 1+maxLooks, looks.refused.Load(), "once before the second attempt, and after it")
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
	if bytes.HasPrefix(body, []byte("SELECT uniqExact(run_id")) {
		u.refused.Add(1)
		w.Header().Set("X-ClickHouse-Exception-Code", "246")
		http.Error(w, "Code: 246. DB::Exception: Empty marks file. (CORRUPTED_DATA)", http.StatusInternalServerError)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	u.next.ServeHTTP(w, r)
}
