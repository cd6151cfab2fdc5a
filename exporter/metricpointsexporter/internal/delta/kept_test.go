package delta

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

func numbered(n, time int, buckets ...uint64) pmetric.Metrics {
	metrics := request(at{1001, time, buckets})
	metrics.ResourceMetrics().At(0).Resource().Attributes().PutInt("n", int64(n))
	return metrics
}

// A series that had to go is not counted from its start when it comes back, but from the value with which it does.
func TestKept_RoomForSome(t *testing.T) {
	watch := &clock{}
	options := watch.options()
	options.MaxBytes = 4000
	c := New(options)
	for n := range 1000 {
		watch.elapsed += time.Second
		accept(t, c, numbered(n, 1010+n, 1, 0, 0))
		require.LessOrEqual(t, c.bytes, options.MaxBytes)
	}
	for _, c := range []*Converter{c, restarted(c)} {
		first := numbered(0, 9000, 5, 0, 0)
		assert.Equal(t, 1, accept(t, c, first).StartUnknown)
		requireBuckets(t, nil, histograms(first))
		again := numbered(0, 9010, 7, 0, 0)
		accept(t, c, again)
		requireBuckets(t, [][]uint64{{2, 0, 0}}, histograms(again))
		youngest := numbered(999, 9000, 5, 0, 0)
		accept(t, c, youngest)
		requireBuckets(t, [][]uint64{{4, 0, 0}}, histograms(youngest))
	}
}

func TestKept_Stale(t *testing.T) {
	watch := &clock{}
	c := New(watch.options())
	accept(t, c, numbered(1, 1010, 1, 0, 0))
	watch.elapsed = 50 * time.Minute
	accept(t, c, numbered(2, 1020, 1, 0, 0))
	watch.elapsed = 70 * time.Minute
	c.Snapshot()
	assert.Len(t, c.series, 1)
	assert.Equal(t, 1, accept(t, c, numbered(1, 1030, 3, 0, 0)).StartUnknown)
	silent := numbered(2, 1030, 3, 0, 0)
	accept(t, c, silent)
	requireBuckets(t, [][]uint64{{2, 0, 0}}, histograms(silent))
}

// What may be missing is forgotten whole: a snapshot of other names, of another form, a cut one.
func TestRestore_Unusable(t *testing.T) {
	watch := &clock{}
	c := New(watch.options())
	accept(t, c, request(at{1001, 1010, []uint64{1, 0, 0}}))
	good := c.Snapshot()
	f := func(snapshot []byte, schema string, known bool) {
		t.Helper()
		options := watch.options()
		options.Schema = schema
		next := New(options)
		next.Restore(snapshot)
		metrics := request(at{1001, 1020, []uint64{3, 0, 0}})
		watch.elapsed = time.Minute
		conversion := next.Convert(metrics)
		conversion.Release()
		if known {
			requireBuckets(t, [][]uint64{{2, 0, 0}}, histograms(metrics))
		} else {
			requireBuckets(t, nil, histograms(metrics))
		}
	}
	watch.elapsed = time.Minute
	f(good, "1.0.0", true)
	f(good, "1.1.0", false)
	f(nil, "1.0.0", false)
	f(append([]byte{99}, good[1:]...), "1.0.0", false)
	for n := range good {
		if n != 1+1+5+16 { // a snapshot of nothing
			f(good[:n], "1.0.0", false)
		}
	}
}

// States of a log that another schema version wrote are not used.
func TestKeep_OfAnotherSchema(t *testing.T) {
	c := New((&clock{}).options())
	conversion := c.Convert(request(at{1001, 1010, []uint64{1, 0, 0}}))
	conversion.Release()
	c.Keep("0.9.0", conversion.States)
	assert.Empty(t, c.series)
	c.Keep("1.0.0", conversion.States)
	assert.Len(t, c.series, 1)
	c.Forget()
	assert.Empty(t, c.series)
}
