package nvmlclient

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLines(t *testing.T) {
	f := func(writes []string, want ...string) {
		t.Helper()
		var got []string
		w := newLineWriter(func(line string) { got = append(got, line) })
		for _, text := range writes {
			n, err := w.Write([]byte(text))
			require.NoError(t, err)
			require.Equal(t, len(text), n)
		}
		w.flush()
		require.Equal(t, want, got)
		require.Equal(t, want[len(want)-1], w.last)
	}
	f([]string{"one\ntwo\n"}, "one", "two")
	f([]string{"o", "ne\n\n", "two"}, "one", "two")
	f([]string{"pitwall-nvml: the driver was unloaded\n"}, "the driver was unloaded")
	f([]string{"a\xffb\n"}, "a\uFFFDb")
	f([]string{strings.Repeat("x", 3000), "y\nnext\n"}, strings.Repeat("x", maxLine), "next")
}

func TestManyLinesAreCounted(t *testing.T) {
	logged := 0
	w := newLineWriter(func(string) { logged++ })
	for i := range 1000 {
		fmt.Fprintf(w, "line %d\n", i)
	}
	require.Equal(t, linesAMinute, logged)
	require.Equal(t, 1000-linesAMinute, w.skipped)
	require.Equal(t, "line 999", w.last)
}
