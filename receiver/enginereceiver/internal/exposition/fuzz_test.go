package exposition_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/exposition"
	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/expositiontest"
)

// seeds are what the formats and their mistakes look like.
func seeds() []string {
	return []string{
		"# HELP a_total A.\n# TYPE a_total counter\na_total{b=\"c\",d=\"e\\\"f\"} 1 1700000000000\n# TYPE a_created gauge\na_created 1.7e9\n",
		"# TYPE h histogram\nh_sum 1.5\nh_bucket{le=\"1\"} 1\nh_bucket{le=\"+Inf\"} 2\nh_count 2\n# EOF\n",
		"# TYPE vllm:x counter\nvllm_x_total 1\n# UNIT h_seconds seconds\n{\"a b\",c=\"d\"} NaN # {t=\"u\"} 1\n",
		"a{b=\"\nc{d=\"e\"} 1\n", "a{b=\"\\\nc 1\r\nd 2\r\n", "a\x00b 1\nc{d=\"\x00\"} 1\n", "# HELP \"a\nb 1\n", "\n\n \n#\n# TYPE x y\n", "<html>",
	}
}

type value struct {
	series    string
	value     string
	timestamp int64
}

func values(body []byte, contentType string) (all []value, bad exposition.Bad, err error) {
	r := exposition.NewReader(body, contentType, exposition.DefaultLimits())
	for r.Next() {
		s := r.Sample()
		all = append(all, value{string(s.Series), fmt.Sprint(s.Value), s.Timestamp})
	}
	return all, r.Bad(), r.Err()
}

// Each line of a body is read as it is alone, whatever stands before and after it.
func FuzzLinesAreIndependent(f *testing.F) {
	for _, seed := range seeds() {
		f.Add([]byte(seed), false)
		f.Add([]byte(seed), true)
	}
	f.Fuzz(func(t *testing.T, body []byte, om bool) {
		contentType := map[bool]string{false: plain, true: openMetrics}[om]
		// The line in front keeps a < from making a web page of it.
		read := func(lines []byte) ([]value, exposition.Bad) {
			samples, bad, err := values(append([]byte("first 0\n"), lines...), contentType)
			require.NoError(t, err)
			return samples[1:], bad
		}
		got, bad := read(body)
		want, wantBad := []value{}, exposition.Bad{}
		for line := range bytes.Lines(body) {
			samples, lineBad := read(line)
			want = append(want, samples...)
			for reason, n := range lineBad {
				wantBad[reason] += n
			}
		}
		bad[exposition.BadTypeConflict] = 0 // between lines
		assert.Equal(t, want, got)
		assert.Equal(t, wantBad, bad)
	})
}

// A line that is bad changes nothing for the lines of a family around it: not their types, not their labels.
func FuzzBadLinesChangeNothing(f *testing.F) {
	for _, seed := range seeds() {
		for line := range strings.Lines(seed) {
			f.Add(line, false)
			f.Add(line, true)
		}
	}
	good := strings.SplitAfter(`# TYPE vllm:h histogram
vllm:h_bucket{a="x",le="0.5"} 1
vllm:h_bucket{a="x",le="+Inf"} 2
vllm:h_sum{a="x"} 1.5
# TYPE vllm:c counter
vllm:c_total{a="\"y\n"} 7
vllm:c_created{a="\"y\n"} 1.7e9
`, "\n")
	f.Fuzz(func(t *testing.T, line string, om bool) {
		contentType := map[bool]string{false: plain, true: openMetrics}[om]
		line = strings.ReplaceAll(line, "\n", "") + "\n"
		if samples, bad, err := values([]byte(line), contentType); err != nil || len(samples) > 0 || bad.Total() == 0 {
			return
		}
		want, _, err := read(strings.Join(good, ""), contentType, exposition.DefaultLimits())
		require.NoError(t, err)
		got, _, err := read(strings.Join(good, line), contentType, exposition.DefaultLimits())
		require.NoError(t, err)
		assert.Equal(t, want, got)
	})
}

// A body that ends early gives the samples of its whole lines and at most one more, from the line that was cut.
func TestTruncatedAtEveryByte(t *testing.T) {
	f := func(name, contentType string, body []byte) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			all, bad, err := values(bytes.Clone(body), contentType)
			require.NoError(t, err)
			require.Zero(t, bad)
			ends := 0 // samples whose line ends before the cut
			for cut := range body {
				if cut > 0 && body[cut-1] == '\n' {
					if line := body[bytes.LastIndexByte(body[:cut-1], '\n')+1 : cut]; line[0] != '#' {
						ends++
					}
				}
				got, bad, err := values(bytes.Clone(body[:cut]), contentType)
				require.NoError(t, err)
				require.GreaterOrEqual(t, len(got), ends, "cut at %d", cut)
				require.LessOrEqual(t, len(got), ends+1, "cut at %d", cut)
				require.Equal(t, append([]value{}, all[:ends]...), append([]value{}, got[:ends]...), "cut at %d", cut)
				require.LessOrEqual(t, bad.Total(), 1, "cut at %d", cut)
			}
			require.Equal(t, len(all), ends+1)
		})
	}
	body := expositiontest.VLLM(1, 1)[:8<<10]
	f("text", plain, body[:bytes.LastIndexByte(body, '\n')+1])
	f("OpenMetrics", openMetrics, []byte("# TYPE a counter\n# UNIT a_s s\na_total{b=\"c\\\"\"} 1 1.5 # {t=\"u\"} 1 2.5\na_created 5\n{\"x y\",c=\"d\"} 2\nb 1\n"))
}
