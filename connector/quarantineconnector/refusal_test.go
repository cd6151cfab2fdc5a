package quarantineconnector

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pipeline"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

var (
	errFull  = status.Error(codes.ResourceExhausted, "log full")
	errNever = consumererror.NewPermanent(errors.New("never"))
)

// side is a pipeline that answers its calls with these errors in turn, and with success afterwards. It keeps what it
// accepted.
type side struct {
	consumertest.MetricsSink
	refusals []error
	calls    int
}

func (s *side) ConsumeMetrics(ctx context.Context, md pmetric.Metrics) error {
	s.calls++
	if len(s.refusals) > 0 {
		err := s.refusals[0]
		s.refusals = s.refusals[1:]
		if err != nil {
			return err
		}
	}
	return s.MetricsSink.ConsumeMetrics(ctx, md)
}

func between(t testing.TB, good, bad consumer.Metrics) consumer.Metrics {
	return startMetrics(t, &Config{Quarantine: []pipeline.ID{id(pipeline.SignalMetrics, "bad")}},
		map[string]consumer.Metrics{"good": good, "bad": bad})
}

// A sender out on the network sends the same request again until it is accepted or refused for good.
func TestConnector_RefusedRequestIsSentAgain(t *testing.T) {
	type lists struct{ good, bad []string }
	f := func(name string, goodRefuses, badRefuses, wantAnswers []error, want lists) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			good, bad := &side{refusals: goodRefuses}, &side{refusals: badRefuses}
			made := between(t, good, bad)
			for _, wantAnswer := range wantAnswers {
				answer := made.ConsumeMetrics(t.Context(), metrics("g", "?b"))
				require.ErrorIs(t, answer, wantAnswer)
				assert.Equal(t, consumererror.IsPermanent(wantAnswer), consumererror.IsPermanent(answer))
				got, _ := status.FromError(answer)
				want, _ := status.FromError(wantAnswer)
				assert.Equal(t, want.Code(), got.Code(), "the status that a sender sees")
			}
			assert.Equal(t, want, lists{metricNames(&good.MetricsSink), metricNames(&bad.MetricsSink)})
		})
	}
	accepted := error(nil)
	f("quarantine away", nil, []error{errFull}, []error{errFull, accepted}, lists{[]string{"g"}, []string{"?b"}})
	f("main side away", []error{errFull}, nil, []error{errFull, accepted}, lists{[]string{"g"}, []string{"?b", "?b"}})
	f("quarantine never", nil, []error{errNever}, []error{errNever}, lists{[]string{"g"}, nil})
	f("main side never", []error{errNever}, nil, []error{errNever}, lists{nil, []string{"?b"}})
	f("quarantine never, main side away", []error{errFull}, []error{errNever, errNever}, []error{errFull, errNever},
		lists{[]string{"g"}, nil})
}

func TestConnector_AnUnmixedRequestAsksOneSide(t *testing.T) {
	f := func(request string, refuses error, wantGood, wantBad int) {
		t.Helper()
		good, bad := &side{refusals: []error{refuses}}, &side{refusals: []error{refuses}}
		require.ErrorIs(t, between(t, good, bad).ConsumeMetrics(t.Context(), metrics(request)), refuses)
		assert.Equal(t, [2]int{wantGood, wantBad}, [2]int{good.calls, bad.calls})
	}
	f("g", errFull, 1, 0)
	f("?b", errFull, 0, 1)
	f("g", nil, 1, 0)
	f("?b", nil, 0, 1)
}

// A sender inside the collector sends the same object again, or the part of it that the error names.
func TestConnector_RefusedObjectIsSentAgain(t *testing.T) {
	f := func(name string, goodRefuses, badRefuses error, wantBad ...string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			good, bad := &side{refusals: []error{goodRefuses}}, &side{refusals: []error{badRefuses}}
			made := between(t, good, bad)
			object := metrics("g", "?b", "?c")
			err := made.ConsumeMetrics(t.Context(), object)
			require.Error(t, err)
			if part := (consumererror.Metrics{}); errors.As(err, &part) {
				object = part.Data()
			}
			require.NoError(t, made.ConsumeMetrics(t.Context(), object))
			assert.Equal(t, []string{"g"}, metricNames(&good.MetricsSink))
			assert.Equal(t, wantBad, metricNames(&bad.MetricsSink))
		})
	}
	f("quarantine away", nil, errFull, "?b", "?c")
	f("main side away", errFull, nil, "?b", "?c")
	f("quarantine names the part", nil, consumererror.NewMetrics(errFull, metrics("?c")), "?b", "?c")
	f("main side names the part", consumererror.NewMetrics(errFull, metrics("g")), nil, "?b", "?c")
}

// The other signals, too, leave the main side alone while the quarantine refuses, and ask for the whole object again.
func TestConnector_TracesAndLogsRefused(t *testing.T) {
	span, event := new(consumertest.TracesSink), new(consumertest.LogsSink)
	object, records := traces("g", "?b", "?c"), logs("g", "?b", "?c")
	err := (&tracesConnector{main: span, quarantine: consumertest.NewErr(consumererror.NewTraces(errFull, traces("?c")))}).
		ConsumeTraces(t.Context(), object)
	require.ErrorIs(t, err, errFull)
	var part consumererror.Traces
	require.ErrorAs(t, err, &part)
	assert.Equal(t, 3, part.Data().SpanCount())
	assert.Zero(t, span.SpanCount())

	err = (&logsConnector{main: event, quarantine: consumertest.NewErr(consumererror.NewLogs(errFull, logs("?c")))}).
		ConsumeLogs(t.Context(), records)
	require.ErrorIs(t, err, errFull)
	var lines consumererror.Logs
	require.ErrorAs(t, err, &lines)
	assert.Equal(t, 3, lines.Data().LogRecordCount())
	assert.Zero(t, event.LogRecordCount())
}

func TestConnector_TwoQuarantines(t *testing.T) {
	good, bad, second := &side{}, &side{}, &side{refusals: []error{errFull}}
	c := &Config{Quarantine: []pipeline.ID{id(pipeline.SignalMetrics, "bad"), id(pipeline.SignalMetrics, "second")}}
	made := startMetrics(t, c, map[string]consumer.Metrics{"good": good, "bad": bad, "second": second})
	object := metrics("g", "?b")
	require.ErrorIs(t, made.ConsumeMetrics(t.Context(), object), errFull)
	assert.Equal(t, 0, good.calls)
	require.NoError(t, made.ConsumeMetrics(t.Context(), object))
	assert.Equal(t, []string{"g"}, metricNames(&good.MetricsSink))
	assert.Equal(t, []string{"?b"}, metricNames(&second.MetricsSink))
}

// What is all good or all marked passes as the object that came.
func TestConnector_UnmixedPassesWithoutACopy(t *testing.T) {
	made := between(t, consumertest.NewNop(), consumertest.NewNop())
	for _, request := range []pmetric.Metrics{metrics("a b", "c"), metrics("?a b", "?c")} {
		assert.Zero(t, testing.AllocsPerRun(100, func() { _ = made.ConsumeMetrics(context.Background(), request) }))
	}
}

func BenchmarkConnector(b *testing.B) {
	for name, request := range map[string]pmetric.Metrics{"good": metrics("a b", "c"), "marked": metrics("?a b", "?c")} {
		b.Run(name, func(b *testing.B) {
			made := between(b, consumertest.NewNop(), consumertest.NewNop())
			b.ReportAllocs()
			for range b.N {
				_ = made.ConsumeMetrics(context.Background(), request)
			}
		})
	}
}
