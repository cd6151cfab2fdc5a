package exposition_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pitwall-otel/pitwall/receiver/enginereceiver/internal/exposition"
)

func TestBadLinesCostThemselves(t *testing.T) {
	f := func(line string, reason exposition.Reason) {
		t.Helper()
		for contentType, end := range map[string]string{plain: "", openMetrics: "# EOF\n"} {
			for _, place := range []string{"first", "middle", "last"} {
				t.Run(place+" "+contentType+" "+line, func(t *testing.T) {
					body := map[string]string{
						"first":  line + "\na{x=\"1\"} 1\nb 2\n" + end,
						"middle": "a{x=\"1\"} 1\n" + line + "\nb 2\n" + end,
						"last":   "a{x=\"1\"} 1\nb 2\n" + line,
					}[place]
					got, bad, err := read(body, contentType, exposition.DefaultLimits())
					require.NoError(t, err)
					assert.Equal(t, []string{`a unknown value a{x="1"} 1`, `b unknown value b{} 2`}, got)
					var want exposition.Bad
					want[reason] = 1
					assert.Equal(t, want, bad)
				})
			}
		}
	}
	f(`a{x="1"`, exposition.BadSyntax)
	f(`a{x="1`, exposition.BadSyntax)
	f(`a{x="1\`, exposition.BadSyntax)
	f(`a{x="1\"} 5`, exposition.BadSyntax)
	f(`a{x="1"} `, exposition.BadSyntax)
	f(`a{x="1"} "`, exposition.BadSyntax)
	f(`a{x="1"} five`, exposition.BadSyntax)
	f(`a{x="1"} 0x1p3`, exposition.BadSyntax)
	f(`a{x="1"} 1_000`, exposition.BadSyntax)
	f(`a{x=1} 5`, exposition.BadSyntax)
	f(`a{x:y="1"} 5`, exposition.BadSyntax)
	f(`{x="1"} 5`, exposition.BadSyntax)
	f(`{"a","b"} 5`, exposition.BadSyntax)
	f(`5`, exposition.BadSyntax)
	f(`a`, exposition.BadSyntax)
	f(`{"detail":"Not Found"}`, exposition.BadSyntax)
	f("a\x00b 5", exposition.BadSyntax)
	f("\x00", exposition.BadSyntax)
	f("a{x=\"\xff\"} 5", exposition.BadUTF8)
	f("a\xc3 5", exposition.BadUTF8)
	f("# HELP c \xff", exposition.BadUTF8)
	f(`# TYPE c`, exposition.BadMetadata)
	f(`# TYPE c speed`, exposition.BadMetadata)
	f(`# TYPE 5 counter`, exposition.BadMetadata)
	f(`# HELP "c`, exposition.BadMetadata)
}

// textparse takes such a line and then fails at the next.
func TestOpenMetricsLinesWithMoreAfterTheValue(t *testing.T) {
	for _, line := range []string{"a 0 ", "a 0 #", "a 0  1", "a 0 1 ", "a 0 #{", "a 0 1 1", "a  0"} {
		got, bad, err := read(line+"\nb 2\n# EOF\n", openMetrics, exposition.DefaultLimits())
		require.NoError(t, err)
		assert.Equal(t, []string{`b unknown value b{} 2`}, got, line)
		assert.Equal(t, exposition.Bad{exposition.BadSyntax: 1}, bad, line)
	}
}

// textparse reads a quoted string over line ends.
func TestAnOpenQuoteStaysInItsLine(t *testing.T) {
	got, bad, err := read("a{x=\"1\nb{x=\"2\"} 2\nc{x=\"3\nd 4\n# HELP \"e\n# HELP f say \"g\nf 6\n", plain, exposition.DefaultLimits())
	require.NoError(t, err)
	assert.Equal(t, []string{`b unknown value b{x="2"} 2`, `d unknown value d{} 4`, `f unknown value f{} 6`}, got)
	assert.Equal(t, exposition.Bad{exposition.BadSyntax: 2, exposition.BadMetadata: 1}, bad)
}

func TestTypeConflictsCountAndTheLastOneHolds(t *testing.T) {
	got, bad, err := read("# TYPE a gauge\na 1\n# TYPE a histogram\na_sum 2\n", plain, exposition.DefaultLimits())
	require.NoError(t, err)
	assert.Equal(t, []string{`a gauge value a{} 1`, `a histogram sum a_sum{} 2`}, got)
	assert.Equal(t, exposition.Bad{exposition.BadTypeConflict: 1}, bad)
}

func TestHTMLIsRejectedWhole(t *testing.T) {
	for _, body := range []string{
		"<!DOCTYPE html>\n<p>\na 1\n", "\n  <html><body>502 Bad Gateway</body></html>", "\ufeff<?xml version=\"1.0\"?>",
	} {
		got, bad, err := read(body, plain, exposition.DefaultLimits())
		require.ErrorIs(t, err, exposition.ErrHTML, body)
		assert.Empty(t, got)
		assert.Zero(t, bad)
	}
}

func TestLimits(t *testing.T) {
	f := func(name string, limits exposition.Limits, body string, want []string, bad exposition.Bad) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			got, gotBad, err := read(body, plain, limits)
			require.NoError(t, err)
			assert.Equal(t, want, got)
			assert.Equal(t, bad, gotBad)
		})
	}
	with := func(change func(*exposition.Limits)) exposition.Limits {
		limits := exposition.DefaultLimits()
		change(&limits)
		return limits
	}
	ab := []string{`a unknown value a{} 1`, `b unknown value b{} 2`}
	f("1 MB label value", exposition.DefaultLimits(), "a 1\nx{y=\""+strings.Repeat("z", 1<<20)+"\"} 1\nb 2\n",
		ab, exposition.Bad{exposition.LimitLine: 1})
	f("1 MB HELP", exposition.DefaultLimits(), "# HELP a "+strings.Repeat("z", 1<<20)+"\na 1\nb 2\n",
		ab, exposition.Bad{exposition.LimitLine: 1})
	f("label value", exposition.DefaultLimits(), "a 1\nx{y=\""+strings.Repeat("z", 5000)+"\"} 1\nb 2\n",
		ab, exposition.Bad{exposition.LimitLabelValue: 1})
	f("labels", with(func(l *exposition.Limits) { l.Labels = 2 }), "a 1\nx{a=\"1\",b=\"2\",c=\"3\"} 1\nb 2\n",
		ab, exposition.Bad{exposition.LimitLabels: 1})
	f("labels, just", with(func(l *exposition.Limits) { l.Labels = 2 }), "a{b=\"1111111\",c=\"2\"} 1\n",
		[]string{`a unknown value a{b="1111111",c="2"} 1`}, exposition.Bad{})
	f("samples", with(func(l *exposition.Limits) { l.Samples = 2 }), "a 1\nb 2\nc 3\n# TYPE d counter\nd 4\n",
		ab, exposition.Bad{exposition.LimitSamples: 3})
	f("samples, just", with(func(l *exposition.Limits) { l.Samples = 2 }), "a 1\nb 2\n", ab, exposition.Bad{})
	f("families", with(func(l *exposition.Limits) { l.Families = 1 }), "# TYPE x gauge\n# TYPE a gauge\n# HELP a A.\na 1\nb 2\n",
		ab, exposition.Bad{exposition.LimitFamilies: 1})
	f("bad lines", with(func(l *exposition.Limits) { l.BadLines = 2 }), "a 1\n!\nb 2\n!\nc 3\nd 4\n",
		ab, exposition.Bad{exposition.BadSyntax: 2, exposition.LimitBadLines: 2})
}

func TestAMillionLines(t *testing.T) {
	f := func(line string, want int, bad exposition.Bad) {
		t.Helper()
		t.Run(line, func(t *testing.T) {
			r := exposition.NewReader([]byte(strings.Repeat(line+"\n", 1_000_000)), plain, exposition.DefaultLimits())
			samples := 0
			for r.Next() {
				samples++
			}
			assert.Equal(t, want, samples)
			assert.Equal(t, bad, r.Bad())
		})
	}
	f("", 0, exposition.Bad{})
	f("#", 0, exposition.Bad{})
	f(" ", 0, exposition.Bad{})
	f("a 1", 1_000_000, exposition.Bad{})
	f(`a{b="`, 0, exposition.Bad{exposition.BadSyntax: 100_000, exposition.LimitBadLines: 900_000})
	f("!", 0, exposition.Bad{exposition.BadSyntax: 100_000, exposition.LimitBadLines: 900_000})
}
