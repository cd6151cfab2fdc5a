package delta

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whatever a disk gives back, a state that can be read says the same when it is written again, and counts nothing twice.
func FuzzParseValue(f *testing.F) {
	explicit := value{start: 1, at: 2, count: 6, sum: 1.5, hasSum: true, layout: 3, positive: buckets{counts: []uint64{1, 2, 3}}}
	exponential := value{at: 2, count: 1 << 40, scale: -3, zero: 9, positive: buckets{offset: -7, counts: []uint64{300}}, negative: buckets{offset: 5, counts: []uint64{0, 1}}}
	f.Add(explicit.encode())
	f.Add(exponential.encode())
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := parseValue(data)
		if err != nil {
			return
		}
		again, err := parseValue(v.encode())
		require.NoError(t, err)
		require.Equal(t, v.encode(), again.encode()) // NaN sums are not equal
		grown, ok := v.since(&again)
		require.True(t, ok)
		require.Zero(t, grown.count)
		for _, n := range append(grown.positive.counts, grown.negative.counts...) {
			require.Zero(t, n)
		}
	})
}

func TestParseValue_Truncated(t *testing.T) {
	v := value{start: 1, at: 2, count: 6, sum: 1.5, hasSum: true, layout: 3, positive: buckets{counts: []uint64{1, 2, 3}}}
	state := v.encode()
	for n := range state {
		_, err := parseValue(state[:n])
		require.Error(t, err, "cut at %d", n)
	}
	_, err := parseValue(append(state, 0))
	require.Error(t, err)
}

// A snapshot that is taken is whole: what it restores is written the same way again.
func FuzzRestore(f *testing.F) {
	c := New((&clock{}).options())
	f.Add(c.Snapshot())
	conversion := c.Convert(request(at{1001, 1010, []uint64{1, 2, 3}}))
	conversion.Release()
	c.Keep("1.0.0", conversion.States)
	f.Add(c.Snapshot())
	f.Fuzz(func(t *testing.T, data []byte) {
		c := New((&clock{}).options())
		c.Restore(data)
		next := restarted(c)
		require.Len(t, next.series, len(c.series))
		for key, r := range c.series {
			require.True(t, bytes.Equal(r.value, next.series[key].value))
		}
		metrics := request(at{1001, 1010, []uint64{1, 2, 3}})
		accept(t, next, metrics)
	})
}
