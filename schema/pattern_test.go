package schema

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func newTestPattern(t testing.TB, name string, captures ...Capture) *pattern {
	t.Helper()
	r, err := New(Definition{Attributes: []Attribute{{Name: "a", Type: "string"}, {Name: "b", Type: "string"}, {Name: "c", Type: "int"}}})
	require.NoError(t, err)
	p, err := newPattern(r, Rule{Name: name, Captures: captures})
	require.NoError(t, err)
	return p
}

func TestPatternMatch(t *testing.T) {
	text, digits := Capture{}, Capture{Digits: true}
	listed := Capture{Values: []Translation{{"avg", "mean"}, {"avg/max", "max"}}}
	f := func(p *pattern, name string, want ...string) {
		t.Helper()
		got, ok := p.match(name)
		assert.Equal(t, want != nil, ok, name)
		if ok {
			assert.Equal(t, want, got, name)
		}
	}
	p := newTestPattern(t, "x/{a}/y", text)
	f(p, "x/1/y", "1")
	f(p, "x//y")
	f(p, "x/1/2/y")
	f(p, "x/1/yy")
	f(p, "x/y")
	f(p, "")

	// The shortest capture that lets the rest match.
	p = newTestPattern(t, "{a}-{b}", text, text)
	f(p, "1-2", "1", "2")
	f(p, "1-2-3", "1", "2-3")
	f(p, "-2")
	f(p, "1-")
	p = newTestPattern(t, "{a}-end", text)
	f(p, "x-end-end", "x-end")

	p = newTestPattern(t, "l_{c}", digits)
	f(p, "l_007", "007")
	f(p, "l_-7")
	f(p, "l_7a")

	p = newTestPattern(t, "{a}/{b}.z", text, listed)
	f(p, "q/avg.z", "q", "mean")
	f(p, "q/avg/max.z", "q", "max")
	f(p, "q/min.z")
}

// What a name is made of comes back from it, when no value holds the text that follows its place.
func FuzzPattern(f *testing.F) {
	f.Add("eval/", "-pass@", "", "gsm8k", "4")
	f.Add("", "/", "/x", "a", "0")
	f.Add("a", "aa", "a", "aaa", "12")
	f.Add("moe/", "/layer_", "", "max_vio", "007")
	f.Fuzz(func(t *testing.T, before, between, after, value, number string) {
		if between == "" || strings.ContainsAny(before+between+after, "{}") {
			return
		}
		p := newTestPattern(t, before+"{a}"+between+"{c}"+after, Capture{}, Capture{Digits: true})
		name := before + value + between + number + after
		got, ok := p.match(name)
		if ok {
			if again := before + got[0] + between + got[1] + after; again != name {
				t.Fatalf("%q in %q is %q, which makes %q", name, p.text, got, again)
			}
		}
		sound := value != "" && !strings.Contains(value, "/") && number != "" && strings.Trim(number, "0123456789") == ""
		if !sound {
			return
		}
		if !ok {
			t.Fatalf("%q does not match %q", name, p.text)
		}
		if !strings.Contains(value+between[:len(between)-1], between) && (got[0] != value || got[1] != number) {
			t.Fatalf("%q in %q is %q, not %q and %q", name, p.text, got, value, number)
		}
	})
}
