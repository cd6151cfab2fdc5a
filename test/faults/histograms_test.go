package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/metric"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
)

// observer is a program with the OpenTelemetry SDK as it comes: histograms are cumulative. It counts what it observes.
type observer struct {
	number   int
	endpoint string
	observed [3]int64 // up to 1, up to 2, above
}

var bounds = []float64{1, 2}

// run is one life of the program: it observes until stop or for that long, and then exports until the collector has taken
// everything.
func (o *observer) run(t *testing.T, stop <-chan struct{}, life time.Duration) {
	exporter, err := otlpmetrichttp.New(context.Background(), otlpmetrichttp.WithEndpoint(o.endpoint), otlpmetrichttp.WithInsecure(),
		otlpmetrichttp.WithTimeout(2*time.Second), otlpmetrichttp.WithRetry(otlpmetrichttp.RetryConfig{Enabled: false}))
	if !assert.NoError(t, err) {
		return
	}
	provider := sdk.NewMeterProvider(
		sdk.WithReader(sdk.NewPeriodicReader(exporter, sdk.WithInterval(30*time.Millisecond), sdk.WithTimeout(2*time.Second))),
		sdk.WithResource(resource.NewSchemaless(attribute.String("rl.run.id", "observed"), attribute.Int("rank", o.number))))
	meter := provider.Meter("observer")
	explicit, err := meter.Float64Histogram("lab.waits", metric.WithUnit("s"), metric.WithExplicitBucketBoundaries(bounds...))
	assert.NoError(t, err)
	for ends, running := time.Now().Add(life), true; running && time.Now().Before(ends); {
		bucket := rand.N(len(o.observed))
		explicit.Record(context.Background(), float64(bucket)+0.5)
		o.observed[bucket]++
		select {
		case <-stop:
			running = false
		case <-time.After(rand.N(3 * time.Millisecond)):
		}
	}
	for deadline := time.Now().Add(within); provider.ForceFlush(context.Background()) != nil; <-time.After(20 * time.Millisecond) {
		if !assert.Less(t, time.Now(), deadline, "the last export") {
			break
		}
	}
	_ = provider.Shutdown(context.Background()) // its export has nothing new, and may fail
}

// observe starts programs; every third restarts once, every third twice. stop ends them, and they have exported everything then.
func (r *rig) observe(programs int) (observers []*observer, stop func()) {
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(error) {})) // exports fail, and the SDK says so each time
	ending := make(chan struct{})
	var running sync.WaitGroup
	for i := range programs {
		o := &observer{number: i, endpoint: r.collector.HTTP}
		observers = append(observers, o)
		running.Go(func() {
			for range i % 3 {
				o.run(r.t, ending, 3*time.Second)
			}
			o.run(r.t, ending, within)
		})
	}
	return observers, func() {
		close(ending)
		running.Wait()
	}
}

// counted compares the table with what programs observed.
func (r *rig) counted(observers []*observer) {
	r.t.Helper()
	total := int64(0)
	for _, o := range observers {
		var want [][]string
		for b, n := range o.observed {
			le := "+Inf"
			if b < len(bounds) {
				le = strconv.FormatFloat(bounds[b], 'g', -1, 64)
			}
			want = append(want, []string{le, strconv.FormatInt(n, 10)})
			total += n
		}
		assert.Equal(r.t, want, r.engine.Query(fmt.Sprintf(`SELECT JSONExtractString(tags_json, 'le') AS le, sum(value) FROM %s
			WHERE run_id = 'observed' AND metric = 'lab.waits.bucket' AND rank = %d GROUP BY le ORDER BY le = '+Inf', le`, table, o.number)))
		var sum float64
		for b, n := range o.observed {
			sum += (float64(b) + 0.5) * float64(n)
		}
		rows := r.engine.Query(fmt.Sprintf(`SELECT sumIf(value, metric = 'lab.waits.count'), sumIf(value, metric = 'lab.waits.sum')
			FROM %s WHERE run_id = 'observed' AND rank = %d`, table, o.number))
		require.Len(r.t, rows, 1)
		assert.Equal(r.t, strconv.FormatInt(o.observed[0]+o.observed[1]+o.observed[2], 10), rows[0][0])
		assert.Equal(r.t, strconv.FormatFloat(sum, 'g', -1, 64), rows[0][1], "halves add up without rounding")
	}
	r.t.Logf("%d observations of %d programs, each counted once", total, len(observers))
}

// Programs export cumulative histograms while the collector dies, is away, and cannot store; some of them restart. Every
// observation is in the table once, whatever became of the requests that told of it.
func TestCumulativeHistograms(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.collector.Start()
	observers, stop := r.observe(8)
	clients := r.send(usual)
	for round := range rounds(10) {
		if round%3 == 1 {
			r.proxy.inject(every(2, loseAnswer))
		}
		r.acknowledges(1)
		moment(1500 * time.Millisecond)
		r.collector.Kill()
		moment(200 * time.Millisecond)
		r.collector.Launch()
		r.proxy.heal()
	}
	stop()
	clients.stop()
	r.drained()
	r.counted(observers)
	r.finish(0)
}

// The collector reads its configuration again, and its log is full now and then, because nothing is stored: requests are
// refused, and come again or do not. What was refused is counted with what comes later.
func TestCumulativeHistograms_ReloadedAndFull(t *testing.T) {
	t.Parallel()
	r := newRig(t, "exporters: {metricpoints: {log: {max_size_mib: 16}}}")
	r.collector.Start()
	observers, stop := r.observe(6)
	for range min(rounds(3), 12) { // each a minute when the log is full
		r.proxy.inject(cut)
		clients := r.send(shape{clients: 4, points: 500, every: 10 * time.Millisecond})
		r.until(func() bool { return r.now()["points_refused"] > 0 }, "a full log")
		moment(500 * time.Millisecond)
		r.proxy.heal()
		require.NoError(t, syscall.Kill(r.collector.PID(), syscall.SIGHUP))
		moment(time.Second)
		clients.stop()
		r.catchesUp()
	}
	stop()
	r.drained()
	r.counted(observers)
	r.finish(0)
}
