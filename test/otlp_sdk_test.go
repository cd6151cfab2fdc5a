package test

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/metric"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"

	"github.com/pitwall-otel/pitwall/internal/collectortest"
)

// TestSDKMetrics sends from the OpenTelemetry SDK, twice, all its synchronous kinds of instruments and an observable
// one. Each row expected is written down here; only the times are the SDK's own.
// The names are none of the registry's, but one.
func TestSDKMetrics(t *testing.T) {
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "")
	t.Setenv("OTEL_SERVICE_NAME", "")
	c := collectortest.New(t, "config/single-node.yaml", quiet)
	c.Start()

	t.Run("cumulative over gRPC", func(t *testing.T) {
		exporter, err := otlpmetricgrpc.New(t.Context(), otlpmetricgrpc.WithEndpoint(c.GRPC),
			otlpmetricgrpc.WithInsecure(), otlpmetricgrpc.WithCompressor("gzip"))
		require.NoError(t, err)
		trainer := newTrainer(t, "run-grpc", exporter)
		first, second := trainer.train(t)
		waitStored(t, c)
		want := trainer.wantFirst(first)
		// Counters go on; a histogram's rows hold what came since the rows before, so they add up.
		want = append(want, trainer.wantGauges(second)...)
		want = append(want,
			trainer.row(second, "lab.tokens", 1025, "{token}"),
			trainer.costRow(second),
			trainer.row(second, "lab.step_time.count", 1, "1"),
			trainer.row(second, "lab.step_time.sum", 0.5, "s"),
			trainer.bucket(second, "lab.step_time.bucket", "1", 1),
			trainer.row(second, "lab.reward.count", 0, "1"),
			trainer.row(second, "lab.reward.sum", 0, ""),
		)
		requireRows(t, want, storedRows(t, c.Query, "run_id = 'run-grpc'"))
	})

	t.Run("delta over HTTP", func(t *testing.T) {
		exporter, err := otlpmetrichttp.New(t.Context(), otlpmetrichttp.WithEndpoint(c.HTTP), otlpmetrichttp.WithInsecure(),
			otlpmetrichttp.WithCompression(otlpmetrichttp.GzipCompression), otlpmetrichttp.WithTemporalitySelector(delta))
		require.NoError(t, err)
		trainer := newTrainer(t, "run-http", exporter)
		first, second := trainer.train(t)
		waitStored(t, c)
		want := trainer.wantFirst(first)
		want = append(want, trainer.wantGauges(second)...)
		want = append(want,
			trainer.row(second, "lab.tokens", 1, "{token}"),
			trainer.row(second, "lab.step_time.count", 1, "1"),
			trainer.row(second, "lab.step_time.sum", 0.5, "s"),
			trainer.row(second, "lab.step_time.min", 0.5, "s"),
			trainer.row(second, "lab.step_time.max", 0.5, "s"),
			trainer.bucket(second, "lab.step_time.bucket", "1", 1),
		)
		requireRows(t, want, storedRows(t, c.Query, "run_id = 'run-http'"))
	})

	t.Run("nothing else", func(t *testing.T) {
		answer, err := c.Query("SELECT DISTINCT run_id FROM training_observability.metric_points ORDER BY run_id FORMAT TabSeparated")
		require.NoError(t, err)
		require.Equal(t, "run-grpc\nrun-http", answer)
	})
}

// delta is what SDKs call the delta preference: what goes up and down stays cumulative.
func delta(kind sdk.InstrumentKind) metricdata.Temporality {
	switch kind {
	case sdk.InstrumentKindCounter, sdk.InstrumentKindHistogram:
		return metricdata.DeltaTemporality
	default:
		return metricdata.CumulativeTemporality
	}
}

// trainer is a process with an SDK, as a training program has it.
type trainer struct {
	run      string
	provider *sdk.MeterProvider
	sent     *timed
}

// timed remembers the time that the SDK gave to each metric, in milliseconds.
type timed struct {
	sdk.Exporter
	millis map[string]int64
}

func (e *timed) Export(ctx context.Context, rm *metricdata.ResourceMetrics) error {
	for _, scope := range rm.ScopeMetrics {
		for _, m := range scope.Metrics {
			// Data is one of eight types that share these fields; points of one instrument share the time.
			point := reflect.ValueOf(m.Data).FieldByName("DataPoints").Index(0)
			e.millis[m.Name] = point.FieldByName("Time").Interface().(time.Time).UnixMilli()
		}
	}
	return e.Exporter.Export(ctx, rm)
}

func newTrainer(t *testing.T, run string, exporter sdk.Exporter) *trainer {
	t.Helper()
	sent := &timed{Exporter: exporter}
	provider := sdk.NewMeterProvider(
		sdk.WithReader(sdk.NewPeriodicReader(sent, sdk.WithInterval(time.Hour))),
		sdk.WithView(sdk.NewView(sdk.Instrument{Name: "lab.reward"},
			// Scale 0: the bounds are powers of two.
			sdk.Stream{Aggregation: sdk.AggregationBase2ExponentialHistogram{MaxSize: 160, MaxScale: 0}})),
		sdk.WithResource(resource.NewSchemaless(
			attribute.String("rl.run.id", run),
			attribute.String("host.name", "node-7"),
			attribute.Int("rl.rank.global", 5),
			attribute.String("service.name", "trainer"),
			attribute.String("rl.role", "actor"),
			attribute.Int("process.pid", 4711), // not among resource_tags
		)),
	)
	return &trainer{run: run, provider: provider, sent: sent}
}

// train records, exports, records a little more, exports and shuts down. It returns the times of both exports.
func (tr *trainer) train(t *testing.T) (first, second map[string]int64) {
	t.Helper()
	ctx := t.Context()
	meter := tr.provider.Meter("trainer", metric.WithInstrumentationAttributes(attribute.Int("rl.step", 40)))
	must := func(err error) { t.Helper(); require.NoError(t, err) }

	loss, err := meter.Float64Gauge("loss", metric.WithUnit("nat"))
	must(err)
	loss.Record(ctx, 9)
	loss.Record(ctx, 2.25, metric.WithAttributes(attribute.Int("rl.step", 41), attribute.String("phase", "warm-up")))
	memory, err := meter.Float64Gauge("system.memory.utilization", metric.WithUnit("1"))
	must(err)
	memory.Record(ctx, 0.25, metric.WithAttributes(attribute.String("system.memory.state", "used")))
	tokens, err := meter.Int64Counter("lab.tokens", metric.WithUnit("{token}"))
	must(err)
	tokens.Add(ctx, 1000)
	tokens.Add(ctx, 24)
	cost, err := meter.Float64Counter("lab.cost", metric.WithUnit("USD"))
	must(err)
	cost.Add(ctx, 0.5, metric.WithAttributes(
		attribute.Int("rl.device.index", 3), attribute.Bool("spot", true), attribute.Int64("zone", -2),
		attribute.Float64("factor", 1.5), attribute.String("quote", `say "hi"`),
		attribute.StringSlice("names", []string{"a", "b"}), attribute.Int64Slice("ints", []int64{1, 2}),
		attribute.Float64Slice("floats", []float64{0.5, -1}), attribute.BoolSlice("bools", []bool{true, false}),
		attribute.ByteSlice("bytes", []byte{0, 255}), attribute.Slice("mixed", attribute.IntValue(1), attribute.StringValue("x")),
		attribute.Map("nested", attribute.String("b", "2"), attribute.Map("a", attribute.Bool("deep", true))),
	))
	queue, err := meter.Int64UpDownCounter("lab.queue")
	must(err)
	queue.Add(ctx, 5, metric.WithAttributes(attribute.String("gpu", "1")))
	queue.Add(ctx, -7, metric.WithAttributes(attribute.String("gpu", "1")))
	_, err = meter.Float64ObservableGauge("lab.temperature", metric.WithUnit("Cel"),
		metric.WithFloat64Callback(func(_ context.Context, o metric.Float64Observer) error {
			o.Observe(61.5, metric.WithAttributes(attribute.Int("rl.device.index", 0)))
			o.Observe(62.5, metric.WithAttributes(attribute.Int("rl.device.index", 1)))
			return nil
		}))
	must(err)
	stepTime, err := meter.Float64Histogram("lab.step_time", metric.WithUnit("s"), metric.WithExplicitBucketBoundaries(0.1, 1, 10))
	must(err)
	for _, seconds := range []float64{0.0625, 0.5, 0.75, 32} {
		stepTime.Record(ctx, seconds)
	}
	reward, err := meter.Float64Histogram("lab.reward")
	must(err)
	for _, r := range []float64{1.5, 3, 4, -3, 0} {
		reward.Record(ctx, r)
	}

	tr.sent.millis = map[string]int64{}
	require.NoError(t, tr.provider.ForceFlush(ctx))
	first, tr.sent.millis = tr.sent.millis, map[string]int64{}
	tokens.Add(ctx, 1)
	stepTime.Record(ctx, 0.5)
	require.NoError(t, tr.provider.Shutdown(ctx)) // exports what it holds
	return first, tr.sent.millis
}

const trainerTags = `{"rl.role":"actor","service.name":"trainer"}`

// wantFirst are the rows of the first export. Only there are least and greatest value known, if values are cumulative:
// those of the time since the start are not those of the time since the export before.
func (tr *trainer) wantFirst(at map[string]int64) []row {
	rows := append(tr.wantGauges(at),
		tr.row(at, "lab.tokens", 1024, "{token}"),
		tr.costRow(at),
		tr.row(at, "lab.step_time.count", 4, "1"),
		tr.row(at, "lab.step_time.sum", 33.3125, "s"),
		tr.bucket(at, "lab.step_time.bucket", "0.1", 1),
		tr.bucket(at, "lab.step_time.bucket", "1", 2),
		tr.bucket(at, "lab.step_time.bucket", "+Inf", 1),
		tr.row(at, "lab.reward.count", 5, "1"),
		tr.row(at, "lab.reward.sum", 5.5, ""),
		tr.bucket(at, "lab.reward.bucket", "-2", 1),
		tr.bucket(at, "lab.reward.bucket", "0", 1),
		tr.bucket(at, "lab.reward.bucket", "2", 1),
		tr.bucket(at, "lab.reward.bucket", "4", 2),
	)
	return append(rows,
		tr.row(at, "lab.step_time.min", 0.0625, "s"), tr.row(at, "lab.step_time.max", 32, "s"),
		tr.row(at, "lab.reward.min", -3, ""), tr.row(at, "lab.reward.max", 4, ""),
	)
}

// wantGauges are the rows of what an SDK reports at every export, whether it changed or not.
func (tr *trainer) wantGauges(at map[string]int64) []row {
	loss := tr.row(at, "loss", 2.25, "nat")
	loss.step, loss.tags = 41, `{"phase":"warm-up","rl.role":"actor","service.name":"trainer"}`
	stale := tr.row(at, "loss", 9, "nat")
	memory := tr.row(at, "system.memory.utilization", 25, "%") // a ratio that the table shows as percent
	memory.metric = "sys.mem_percent"
	queue := tr.row(at, "lab.queue", -2, "")
	queue.device = 1
	cold, warm := tr.row(at, "lab.temperature", 61.5, "Cel"), tr.row(at, "lab.temperature", 62.5, "Cel")
	cold.device, warm.device = 0, 1
	return []row{loss, stale, memory, queue, cold, warm}
}

func (tr *trainer) costRow(at map[string]int64) row {
	r := tr.row(at, "lab.cost", 0.5, "USD")
	r.device = 3
	r.tags = `{"bools":[true,false],"bytes":"AP8=","factor":1.5,"floats":[0.5,-1],"ints":[1,2],"mixed":[1,"x"],"names":["a","b"],` +
		`"nested":{"a":{"deep":true},"b":"2"},"quote":"say \"hi\"","rl.role":"actor","service.name":"trainer","spot":true,"zone":-2}`
	return r
}

func (tr *trainer) bucket(at map[string]int64, name, le string, count float64) row {
	r := tr.row(at, name, count, "1")
	r.tags = `{"le":"` + le + `","rl.role":"actor","service.name":"trainer"}`
	return r
}

// row is one with what all of this process share.
func (tr *trainer) row(at map[string]int64, name string, value float64, unit string) row {
	r := row{run: tr.run, host: "node-7", rank: 5, device: noDevice, step: 40, metric: name, value: number(value), unit: unit, tags: trainerTags}
	for instrument, millis := range at {
		if strings.HasPrefix(name, instrument) {
			r.millis = millis
		}
	}
	return r
}
