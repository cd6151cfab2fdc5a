package embeddedclickhouseextension

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// linesOf writes the chunks and returns what was emitted.
func linesOf(chunks ...string) (lines []string) {
	w := &lineWriter{emit: func(line string) { lines = append(lines, line) }}
	for _, chunk := range chunks {
		_, _ = w.Write([]byte(chunk))
	}
	w.flush()
	return lines
}

func TestLines(t *testing.T) {
	f := func(want []string, chunks ...string) {
		t.Helper()
		assert.Equal(t, want, linesOf(chunks...))
	}
	long := strings.Repeat("x", maxLine)

	f(nil)
	f(nil, "\n\n \r\n")
	f([]string{"a", "b"}, "a\nb\n")
	f([]string{"a", "no end"}, "a\r\nno end")
	f([]string{"listening"}, "pitwall-clickhouse: listening\n")
	f([]string{"joined", "c"}, "joi", "ned", "\nc")
	f([]string{long}, long+"\n")
	f([]string{long + " … (3 bytes more)", "next"}, long, "ab", "c\nnext\n")
	f([]string{"bad \uFFFD byte"}, "bad \xff byte\n")
}

func FuzzLines(f *testing.F) {
	f.Add("one\ntwo", 2)
	f.Add(strings.Repeat("y", maxLine+9)+"\nz", maxLine+1)
	f.Fuzz(func(t *testing.T, text string, cut int) {
		cut = max(0, min(cut, len(text)))
		whole := linesOf(text)
		require.Equal(t, whole, linesOf(text[:cut], text[cut:]), "lines must not depend on how they arrive")
		for _, line := range whole {
			require.NotContains(t, line, "\n")
			// Each invalid byte becomes three, and the note on what was cut is short.
			require.LessOrEqual(t, len(line), 3*maxLine+40)
		}
	})
}
