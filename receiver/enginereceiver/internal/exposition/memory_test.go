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

// server remembers one server's series from body to body, as a caller of Follow does.
type server struct {
	memory *exposition.Memory
	before []exposition.Known
	place  map[string]int
}

func newServer() *server {
	memory := exposition.NewMemory()
	return &server{memory: &memory}
}

// seen is what must be the same with and without a memory.
type seen struct {
	series, value, labels string
	timestamp             int64
	kind                  exposition.Type
	part                  exposition.Part
}

func (s *server) read(body, contentType string, limits exposition.Limits) (all []seen, followed int, bad exposition.Bad) {
	r := exposition.NewReader([]byte(body), contentType, limits)
	next := 0
	if s != nil {
		r.Follow(s.memory, func() exposition.Known {
			if next < len(s.before) {
				return s.before[next]
			}
			return exposition.Known{}
		})
	}
	var now []exposition.Known
	for r.Next() {
		sample := r.Sample()
		if sample.Name == nil {
			followed++
		}
		var labels []string
		for _, l := range r.Labels(nil) {
			if l.Name != "le" && l.Name != "quantile" { // their text depends on what textparse knows
				labels = append(labels, l.Name+"="+l.Value)
			}
		}
		all = append(all, seen{
			string(sample.Series), fmt.Sprint(sample.Value), strings.Join(labels, ","), sample.Timestamp, sample.Type, sample.Part,
		})
		if s != nil {
			next = s.place[string(sample.Series)] + 1
		}
		if s != nil {
			now = append(now, exposition.Known{
				Hash: s.memory.Hash(sample.Series), Bytes: len(sample.Series), Type: sample.Type, Part: sample.Part,
			})
		}
	}
	if s != nil {
		s.before, s.place = now, map[string]int{}
		for i, sample := range all {
			s.place[sample.series] = i
		}
	}
	return all, followed, r.Bad()
}

// What follows is read as if it were the first body of its server. Wanted is how many samples need no lexer.
func follows(t *testing.T, name, first, second string, wanted int) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		s := newServer()
		s.read(first, plain, exposition.DefaultLimits())
		want, _, wantBad := (*server)(nil).read(second, plain, exposition.DefaultLimits())
		got, followed, bad := s.read(second, plain, exposition.DefaultLimits())
		assert.Equal(t, want, got)
		assert.Equal(t, wantBad, bad)
		assert.Equal(t, wanted, followed)
	})
}

func TestFollow(t *testing.T) {
	const first = "# HELP a A.\n# TYPE a counter\na{x=\"1\"} 1\na{x=\"2\"} 2\n\n# TYPE h histogram\nh_bucket{le=\"+Inf\"} 1\nh_sum 1\nh_count 1\n"
	replace := func(old, other string) string { return strings.Replace(first, old, other, 1) }
	follows(t, "the same", first, first, 5)
	follows(t, "other values", first, strings.NewReplacer(" 1\n", " 17.25\n", " 2\n", " NaN\n").Replace(first), 5)
	follows(t, "infinite and exponents", first, strings.NewReplacer(" 1\n", " +Inf\n", " 2\n", " -1.5e+07\n").Replace(first), 5)
	follows(t, "a bad value", first, replace("} 2", "} two"), 1)
	follows(t, "a hexadecimal value", first, replace("} 2", "} 0x1p2"), 1)
	follows(t, "a timestamp", first, replace("} 2", "} 2 1700000000000"), 1)
	follows(t, "an exemplar", first, replace("} 2", "} 2 # {a=\"b\"} 1"), 1)
	follows(t, "two spaces", first, replace("} 2", "}  2"), 1)
	follows(t, "a new series", first, replace("a{x=\"2\"} 2", "a{x=\"1.5\"} 1\na{x=\"2\"} 2"), 1)
	follows(t, "a series less", first, replace("a{x=\"2\"} 2\n", ""), 1)
	follows(t, "a series that goes on where the known one ends", first, replace("h_sum 1", "h_sum_of 1"), 3)
	follows(t, "another type", first, replace("TYPE h histogram", "TYPE h summary"), 2)
	follows(t, "another help", first, replace("A.", "B."), 0)
	follows(t, "a help that goes on", first, replace("A.", "A. B."), 0)
	follows(t, "a type line in another place", first, "# HELP a A.\n# TYPE a counter\na{x=\"1\"} 1\n# TYPE h histogram\na{x=\"2\"} 2\nh_sum 1\n", 1)
	follows(t, "no type lines", first, "a{x=\"1\"} 1\na{x=\"2\"} 2\n", 0)
	follows(t, "never type lines", "a 1\nb 2\n", "a 3\nb 4\n", 2)
	follows(t, "cut", first, first[:len(first)-15], 3)
	follows(t, "nothing", first, "", 0)
	follows(t, "a bad line at the end", first, first+"!\n", 5)
	follows(t, "a bad line before", "a 1\n!\n"+first, "a 1\n!\n"+first, 1)
	follows(t, "bad metadata before", first+"# TYPE a\nb 1\n", first+"# TYPE a\nb 1\n", 5)
	follows(t, "types that conflict", first+"# TYPE a gauge\na 1\n", first+"a 1\n", 5)
	follows(t, "CRLF", strings.ReplaceAll(first, "\n", "\r\n"), strings.ReplaceAll(first, "\n", "\r\n"), 5)
	follows(t, "a megabyte", string(expositiontest.VLLM(24, 1)), string(expositiontest.VLLM(24, 2)), 8088)
}

func TestFollowKeepsToTheLimits(t *testing.T) {
	const body = "# TYPE a counter\na 1\nb 2\nc 3\n"
	s := newServer()
	s.read(body, plain, exposition.DefaultLimits())
	limits := exposition.DefaultLimits()
	limits.Samples = 2
	all, followed, bad := s.read(body, plain, limits)
	assert.Len(t, all, 2)
	assert.Equal(t, 2, followed)
	assert.Equal(t, exposition.Bad{exposition.LimitSamples: 1}, bad)
}

func TestFollowLearnsFromBodyToBody(t *testing.T) {
	s := newServer()
	for i, want := range []int{0, 1, 0, 2, 3} {
		body := []string{
			"# TYPE a gauge\na 1\n", "# TYPE a gauge\na 2\n", "# TYPE b gauge\n# TYPE a gauge\nb 1\na 3\n",
			"# TYPE b gauge\n# TYPE a gauge\nb 1\na 3\nc 1\n", "# TYPE b gauge\n# TYPE a gauge\nb 1\na 3\nc 1\n",
		}[i]
		_, followed, _ := s.read(body, plain, exposition.DefaultLimits())
		assert.Equal(t, want, followed, i)
	}
}

// Whatever a server answered before, a body is read as it is alone.
func FuzzFollow(f *testing.F) {
	for _, first := range seeds() {
		for _, second := range seeds() {
			f.Add([]byte(first), []byte(second), false)
		}
		f.Add([]byte(first), []byte(first), true)
	}
	f.Fuzz(func(t *testing.T, first, second []byte, om bool) {
		contentType := map[bool]string{false: plain, true: openMetrics}[om]
		s := newServer()
		for _, body := range [][]byte{first, second, first, first, append(bytes.Clone(first), second...)} {
			want, _, wantBad := (*server)(nil).read(string(body), contentType, exposition.DefaultLimits())
			got, _, bad := s.read(string(body), contentType, exposition.DefaultLimits())
			require.Equal(t, want, got)
			require.Equal(t, wantBad, bad)
		}
	})
}
