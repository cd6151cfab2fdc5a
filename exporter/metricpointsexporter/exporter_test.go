package metricpointsexporter

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.uber.org/zap/zapcore"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pitwall-otel/pitwall/internal/enginetest"
)

const rowsOfRun = "SELECT run_id, step, metric, value FROM training_observability.metric_points WHERE run_id != '' ORDER BY run_id, step"

func TestExporter_EveryColumn(t *testing.T) {
	for _, compression := range []string{"lz4", "zstd", "none"} {
		t.Run(compression, func(t *testing.T) {
			engine := enginetest.Start(t)
			r := start(t, config(t, engine.Endpoint(), func(c *Config) { c.ClientConfig.Compression = configType(compression) }))
			metrics, err := (&pmetric.JSONUnmarshaler{}).UnmarshalMetrics([]byte(`{"resourceMetrics":[{"resource":{"attributes":[
				{"key":"rl.run.id","value":{"stringValue":"run-1"}},{"key":"host.name","value":{"stringValue":"node-3"}},
				{"key":"rl.rank.global","value":{"intValue":"12"}},{"key":"rl.role","value":{"stringValue":"actor"}},
				{"key":"os.type","value":{"stringValue":"linux"}}]},"scopeMetrics":[{"metrics":[
				{"name":"grad_norm","unit":"1","gauge":{"dataPoints":[{"timeUnixNano":"1790000000123999999","asDouble":0.125,"attributes":[
					{"key":"rl.step","value":{"intValue":"77"}},{"key":"rl.device.index","value":{"intValue":"3"}},
					{"key":"layer","value":{"stringValue":"dec \"0\""}}]}]}},
				{"name":"tokens","sum":{"isMonotonic":true,"aggregationTemporality":2,"dataPoints":[{"timeUnixNano":"1790000000124000000","asInt":"5"}]}}]}]}]}`))
			require.NoError(t, err)
			require.NoError(t, r.exporter.ConsumeMetrics(context.Background(), metrics))
			eventuallyRows(t, engine, "SELECT toUnixTimestamp64Milli(event_time), run_id, host, rank, device, step, metric, value, unit, tags_json "+
				"FROM training_observability.metric_points ORDER BY metric", [][]string{
				{"1790000000123", "run-1", "node-3", "12", "3", "77", "grad_norm", "0.125", "1", `{"layer":"dec \"0\"","rl.role":"actor"}`},
				{"1790000000124", "run-1", "node-3", "12", "65535", "0", "tokens", "5", "", `{"rl.role":"actor"}`},
			})
		})
	}
}

func TestExporter_AcceptsWhileTheServerIsAway(t *testing.T) {
	engine := enginetest.Start(t)
	engine.Stop()
	r := start(t, config(t, engine.Endpoint()))
	r.send(t, "early", 1, 2)
	require.Eventually(t, func() bool { return r.logs.FilterMessageSnippet("wait in the log").Len() == 1 }, deadline, 5*time.Millisecond)
	engine.Restart()
	eventuallyRows(t, engine, rowsOfRun, [][]string{{"early", "0", "loss", "1"}, {"early", "1", "loss", "2"}})
	assert.Equal(t, []componentstatus.Status{componentstatus.StatusRecoverableError, componentstatus.StatusOK}, r.host.statuses())
	assert.Equal(t, 1, r.logs.FilterMessageSnippet("wait in the log").Len(), "one line a minute")
}

func TestExporter_LostAnswerIsStoredOnce(t *testing.T) {
	f := func(name string, readable bool, inserts int) {
		t.Run(name, func(t *testing.T) {
			engine := enginetest.Start(t)
			between := newProxy(t, engine.Endpoint())
			if !readable {
				between.Config.Handler = &unreadable{next: between.Config.Handler}
			}
			r := start(t, config(t, between.URL))
			between.set(func(_ http.ResponseWriter, request *http.Request, forward http.Handler) bool {
				if between.inserts.Load() > 3 {
					return false
				}
				forward.ServeHTTP(httptest.NewRecorder(), request) // stored, but nobody hears of it
				panic(http.ErrAbortHandler)
			})
			r.send(t, "once", 1, 2, 3)
			eventuallyBalance(t, r, 3, 3, 0)
			eventuallyRows(t, engine, rowsOfRun, [][]string{{"once", "0", "loss", "1"}, {"once", "1", "loss", "2"}, {"once", "2", "loss", "3"}})
			assert.EqualValues(t, inserts, between.inserts.Load())
		})
	}
	f("looked for", true, 1)
	f("recognised by its token", false, 4)
}

func TestExporter_EqualPointsOfTwoRequestsAreBothStored(t *testing.T) {
	engine := enginetest.Start(t)
	r := start(t, config(t, engine.Endpoint()))
	request := requestOf("twice", 1)
	for range 2 {
		require.NoError(t, r.exporter.ConsumeMetrics(context.Background(), request))
		eventuallyQueued(t, r, 0)
	}
	eventuallyRows(t, engine, rowsOfRun, [][]string{{"twice", "0", "loss", "1"}, {"twice", "0", "loss", "1"}})
}

func TestExporter_RestartGoesOnWithTheLog(t *testing.T) {
	engine := enginetest.Start(t)
	between := newProxy(t, engine.Endpoint())
	between.set(func(_ http.ResponseWriter, request *http.Request, forward http.Handler) bool {
		forward.ServeHTTP(httptest.NewRecorder(), request)
		panic(http.ErrAbortHandler)
	})
	c := config(t, between.URL)
	first := start(t, c)
	first.send(t, "kept", 1, 2)
	require.Eventually(t, func() bool { return between.inserts.Load() > 0 }, deadline, time.Millisecond)
	first.stop(t)

	between.set(nil)
	second := start(t, c)
	eventuallyBalance(t, second, 2, 2, 0)
	eventuallyRows(t, engine, rowsOfRun, [][]string{{"kept", "0", "loss", "1"}, {"kept", "1", "loss", "2"}})
}

func TestExporter_RejectedBlockIsKeptAndReplays(t *testing.T) {
	engine := enginetest.Start(t)
	between := newProxy(t, engine.Endpoint())
	between.set(func(w http.ResponseWriter, _ *http.Request, _ http.Handler) bool {
		w.Header().Set("X-ClickHouse-Exception-Code", "53")
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = w.Write([]byte("Code: 53. DB::Exception: no such conversion. (TYPE_MISMATCH)\n"))
		return true
	})
	c := config(t, between.URL)
	r := start(t, c)
	r.send(t, "rejected", 4, 5)
	require.Eventually(t, func() bool { return droppedFor(r, reasonRejected) == 2 }, deadline, 5*time.Millisecond)
	between.set(nil)
	r.send(t, "after", 6)
	eventuallyRows(t, engine, rowsOfRun, [][]string{{"after", "0", "loss", "6"}})

	letters, err := filepath.Glob(filepath.Join(c.Log.Directory, "dead-letter", "*.native"))
	require.NoError(t, err)
	require.Len(t, letters, 1)
	reason, err := os.ReadFile(letters[0] + ".reason")
	require.NoError(t, err)
	assert.Contains(t, string(reason), "no such conversion")
	block, err := os.ReadFile(letters[0])
	require.NoError(t, err)
	_, err = engine.Exec("INSERT INTO training_observability.metric_points FORMAT Native\n" + string(block))
	require.NoError(t, err)
	eventuallyRows(t, engine, rowsOfRun, [][]string{{"after", "0", "loss", "6"}, {"rejected", "0", "loss", "4"}, {"rejected", "1", "loss", "5"}})
}

func TestExporter_TellsWhatIsMisconfigured(t *testing.T) {
	f := func(name string, want []string, prepare func(*enginetest.Engine), change func(*Config)) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			engine := enginetest.Start(t, enginetest.WithPassword("right-canary"))
			prepare(engine)
			r := start(t, config(t, engine.Endpoint(), func(c *Config) {
				c.Username, c.Password = "default", "right-canary"
				change(c)
			}))
			r.send(t, "waits", 1)
			require.Eventually(t, func() bool { return r.logs.FilterMessageSnippet("wait in the log").Len() == 1 }, deadline, 5*time.Millisecond)
			var line strings.Builder
			for _, entry := range r.logs.All() {
				line.WriteString(entry.Message)
				for _, field := range entry.Context {
					line.WriteString(" " + field.String)
					if err, ok := field.Interface.(error); ok {
						line.WriteString(" " + err.Error())
					}
				}
			}
			for _, part := range append(want, engine.Address()) {
				assert.Contains(t, line.String(), part)
			}
			assert.NotContains(t, line.String(), "canary", "a password is in the log")
			assert.Equal(t, []componentstatus.Status{componentstatus.StatusRecoverableError}, r.host.statuses())
			eventuallyQueued(t, r, 1)
		})
	}
	nothing := func(*enginetest.Engine) {}
	f("wrong password", []string{"user default"}, nothing, func(c *Config) { c.Password = "wrong-canary" })
	f("missing database", []string{"training_observability"}, nothing, func(c *Config) { c.CreateSchema = false })
	f("password file that is not there", []string{"password_file", "absent-file"}, nothing, func(c *Config) {
		c.Password, c.PasswordFile = "", filepath.Join(c.Log.Directory, "absent-file")
	})
	f("a column of another type", []string{"metric_points", "step", "UInt64", "String"}, func(engine *enginetest.Engine) {
		_, err := engine.Exec("CREATE DATABASE training_observability")
		require.NoError(t, err)
		_, err = engine.Exec(`CREATE TABLE training_observability.metric_points (event_time DateTime64(3), run_id LowCardinality(String),
			host LowCardinality(String), rank UInt32, device UInt16, step String, metric LowCardinality(String), value Float64,
			unit LowCardinality(String), tags_json String) ENGINE = MergeTree ORDER BY run_id`)
		require.NoError(t, err)
	}, func(c *Config) { c.CreateSchema = false })
}

func TestExporter_FullLogAsksToRetryLater(t *testing.T) {
	r := start(t, config(t, "http://127.0.0.1:1", func(c *Config) { c.Log.MaxSizeMiB = 16 }))
	request := requestOf("flood", make([]float64, 20_000)...)
	var err error
	for range 100 {
		if err = r.exporter.ConsumeMetrics(context.Background(), request); err != nil {
			break
		}
	}
	require.Error(t, err)
	assert.False(t, consumererror.IsPermanent(err))
	s, ok := status.FromError(err)
	require.True(t, ok)
	assert.Equal(t, codes.Unavailable, s.Code())
	require.Len(t, s.Details(), 1)
	assert.Equal(t, retryDelay, s.Details()[0].(*errdetails.RetryInfo).GetRetryDelay().AsDuration())
	for range 9 {
		require.Error(t, r.exporter.ConsumeMetrics(context.Background(), request))
	}
	assert.EqualValues(t, 200_000, observed(t, r, "otelcol_metricpoints_points_refused"))
	assert.Len(t, r.logs.FilterLevelExact(zapcore.ErrorLevel).All(), 1, "lines about ten refusals")
}

func TestExporter_RequestThatNeverFitsIsNotToBeSentAgain(t *testing.T) {
	r := start(t, config(t, "http://127.0.0.1:1", func(c *Config) { c.Log.MaxSizeMiB = 16 }))
	values := make([]float64, 2_000_000) // half of a log of 16 MiB takes no 16 MB
	err := r.exporter.ConsumeMetrics(context.Background(), requestOf("flood", values...))
	require.ErrorContains(t, err, "too large")
	assert.True(t, consumererror.IsPermanent(err))
	assert.EqualValues(t, len(values), observed(t, r, "otelcol_metricpoints_points_refused"))
}

func TestExporter_SecondOwnerOfALogDirectoryIsRefused(t *testing.T) {
	c := config(t, "http://127.0.0.1:1")
	start(t, c)
	other, err := NewFactory().CreateMetrics(context.Background(), nopSettings(), c)
	require.NoError(t, err)
	err = other.Start(context.Background(), &statusHost{})
	assert.ErrorContains(t, err, "'log::directory'")
	assert.ErrorContains(t, err, c.Log.Directory)
	require.NoError(t, other.Shutdown(context.Background()))
}
